/* softmma gemm: one product of matrices in files, whole or in pieces. */
#ifndef SMMA_CLI_GEMM_H
#define SMMA_CLI_GEMM_H

#include "cli/choose.h"
#include "cli/matrices.h"
#include "cli/method.h"
#include "cli/plans.h"
#include "plan/plan.h"

typedef struct {
  const char *gpu, *instruction, *in, *out, *c, *d, *scale_a, *scale_b, *scaling, *plan, *round_in, *bias, *metadata,
      *kernel;
  double alpha, beta, scale_d;
  long long split_k, promote_every, memory;
  int transpose_a, transpose_b, threads, json;
  smma_method_options method;
} smma_gemm_options;

/* One product: the instruction and everything that smma_gemm needs, or with a method smma_gemm_words or
   smma_gemm_slices. */
typedef struct {
  const smma_instruction *instruction;
  smma_method method;
  bool wide; /* D of an accurate product is f64 */
  smma_plan *plan;
  smma_target_rounding rounding;
  smma_tensor a, b, c, d, scale_a, scale_b, bias, metadata;
  smma_gemm_arguments arguments;
} smma_gemm_product;

/* Of one rank for its pieces, where --memory does not say. */
#define SMMA_GEMM_MEMORY (INT64_C(1) << 30)

/* Sizes of op(A) and op(B), whose data are not looked at; ends the program where they do not go together. */
void smma_gemm_take_shapes(const smma_gemm_options *options, const char **paths, const smma_tensor *a,
                           const smma_tensor *b, int sparse, smma_gemm_arguments *arguments);

/* The arguments that options and the product's matrices make, but for sizes. */
void smma_gemm_fill(const smma_gemm_options *options, smma_gemm_product *product);

smma_status smma_gemm_multiply(const smma_gemm_product *product);

void smma_gemm_free(smma_gemm_product *product);

void smma_gemm_print_summary(const smma_gemm_options *options, const smma_gemm_product *product, double seconds);

/* By the ranks together, or one: every piece of D from its rows of A and columns of B, read and written in their place.
   D is there complete or not at all. Ends the program with one line on errors. */
void smma_gemm_in_pieces(const smma_gemm_options *options, const char **paths, smma_gemm_product *product);

#endif
