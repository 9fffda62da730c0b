/* One product of matrices, D = alpha A B + beta C with a plan: its operands and options, checked once, as the arguments
   of smma_gemm. */
#ifndef SMMA_PRODUCT_PRODUCT_H
#define SMMA_PRODUCT_PRODUCT_H

#include "datum/datum.h"
#include "plan/scales.h"
#include "product/method.h"
#include "product/take.h"

/* The operands of a product, in the order of notes. */
typedef enum {
  SMMA_OF_SCALE_A,
  SMMA_OF_SCALE_B,
  SMMA_OF_BIAS,
  SMMA_OF_METADATA,
  SMMA_OF_C,
  SMMA_OF_A,
  SMMA_OF_B,
  SMMA_PRODUCT_MATRICES
} smma_product_matrix;

typedef struct {
  const smma_instruction *instruction;
  const smma_plan *plan; /* NULL: one chain */
  const char *plan_name; /* what errors call it */
  smma_source of[SMMA_PRODUCT_MATRICES];
  bool transpose_a, transpose_b, raw; /* raw: files of integers hold encodings */
  smma_format narrow;                 /* A and B are rounded to it first; SMMA_NO_FORMAT: they are not */
  smma_method_options method;
  const char *round_in, *scaling, *kernel; /* NULL: the usual ones */
  double alpha, beta, scale_d;
  long long split_k, promote_every; /* promote_every 0: never */
  int threads;
} smma_product_request;

/* Sets alpha, beta, scale_d and split_k to 1, and all else to "not given". */
smma_product_request smma_product_defaults(void);

/* The product and its matrices in the formats that they are multiplied in. The request must outlive it. */
typedef struct {
  const smma_product_request *request;
  smma_method method;
  smma_rounding rounding[2]; /* of A and B */
  bool wide;                 /* D of an accurate product is f64 */
  smma_tensor taken[SMMA_PRODUCT_MATRICES], d;
  smma_gemm_arguments arguments;
} smma_matrix_product;

/* The requirements of a product for one of its matrices. */
typedef struct {
  const char *option, *what; /* "--scale-a"; in notes: "--scale-a", but "C" */
  smma_format format;
  size_t rows, columns;
  const char *needed_by;
} smma_matrix_need;

/* Returns the requirements for a matrix; for A and B the format alone. The sizes of `arguments` must be set. */
smma_matrix_need smma_product_needs(const smma_product_request *request, smma_product_matrix which,
                                    const smma_gemm_arguments *arguments);

/* Checks whatever shows before a matrix is read, and makes a product without matrices of it. */
bool smma_product_begin(const smma_product_request *request, smma_matrix_product *product, smma_error *error);

/* Sets the sizes and orders from the shapes of A and B, whose data are not looked at. Checks that they go together,
   that their elements have a meaning, and that K can follow the plan. */
bool smma_product_size(smma_matrix_product *product, const smma_tensor *a, const smma_tensor *b, smma_error *error);

/* Points the arguments at the product's matrices. */
void smma_product_fill(smma_matrix_product *product);

/* Reads, checks and takes all matrices, and makes room for D. Frees them if it fails. */
bool smma_product_take(smma_matrix_product *product, const smma_notes *notes, smma_error *error);

/* Multiplies. `arguments.progress` may be set before. */
bool smma_product_run(smma_matrix_product *product, smma_error *error);

void smma_product_free(smma_matrix_product *product);

/* Returns the summary of a product that has been run: D is written to `d` (NULL: nowhere). */
smma_datum *smma_product_datum(const smma_matrix_product *product, const char *d, double seconds);

/* Returns the name of the first argument that the plan has no place for, "c" or "scale_d" for example, or NULL. Looks
   at the arguments that have other than neutral values, and at C and a bias if they are given. */
const char *smma_plan_refuses(const smma_plan *plan, const smma_gemm_arguments *arguments, bool has_c, bool has_bias);

/* Fails because the plan has no place for what an option gives, and says what to write into the plan. */
bool smma_fail_no_place(const char *option, const char *plan, smma_error *error);

#endif
