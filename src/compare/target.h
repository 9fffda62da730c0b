/* Targets: the GPUs, instructions, custom units and plans that one product is computed on and compared. */
#ifndef SMMA_COMPARE_TARGET_H
#define SMMA_COMPARE_TARGET_H

#include "datum/datum.h"
#include "host/error.h"
#include "isa/formats.h"
#include "numerics/exact_tile.h"
#include "softmma/softmma.h"

enum { SMMA_MOST_TARGETS = 32 };

/* A target and its product. */
typedef struct {
  const char *label; /* as the user wrote it: a GPU, or the file of a custom unit */
  const char *plan;  /* the plan as the user wrote it, "none" for one chain; NULL if no plans were given */
  const smma_instruction *instruction;
  smma_rounding rounding; /* how A was rounded to the instruction's format */
  bool shows_rounding;    /* the user chose how, so tables show it */
  smma_gemm_arguments product;
  size_t whole_k; /* K of the whole matrices if the product uses only their first k; otherwise 0 */
} smma_product_target;

/* The matrices of a product. Lines of scale factors lie along K: one for each row of A, and for each column of B. */
typedef enum {
  SMMA_VIEW_A,
  SMMA_VIEW_B,
  SMMA_VIEW_C,
  SMMA_VIEW_SCALE_A,
  SMMA_VIEW_SCALE_B,
  SMMA_VIEW_BIAS,
  SMMA_VIEWS
} smma_view_kind;

/* A view of a matrix's elements; `data` is NULL if the product lacks the matrix. */
typedef struct {
  const void *data;
  smma_format format;
  smma_order order;
  size_t leading, rows, columns;
} smma_matrix_view;

smma_matrix_view smma_matrix_view_of(const smma_product_target *target, smma_view_kind kind);

uint64_t smma_view_element(const smma_matrix_view *view, size_t row, size_t column);

/* Sets `*matrix` to A, or B, as a dense row-major matrix. Its elements are those of the product times `factor` and
   times their scale factors, multiplied in FP64. Scale factors are those of the instruction's blocks or of the plan's
   parts; a plan's factors that the product lacks are 1. If the result is not the product's own matrix, it is at
   `*memory`, which the caller frees. Returns false if memory runs out. */
bool smma_target_numbers(const smma_product_target *target, bool of_a, double factor, smma_encoded_matrix *matrix,
                         void **memory);

/* Finds the preferred instruction for the formats on every architecture that has one with an error bound, labelled with
   the first GPU of the architecture. Fills in labels and instructions, and returns the number of targets. */
size_t smma_find_targets(const smma_formats *formats, smma_product_target target[SMMA_MOST_TARGETS]);

/* Returns the common format of all targets' D; SMMA_NO_FORMAT if there are several. */
smma_format smma_common_d(const smma_product_target *target, size_t targets);

/* Checks a target. Returns false with an error message if its plan cannot have the product's K. */
bool smma_check_target(const smma_product_target *target, smma_error *error);

/* Returns the member of a product that its plan, or a product without a plan, does not use: "split_k", "c", "alpha",
   "bias", "scale_a", ..., or NULL if all are used. Pointers are only compared with NULL. */
const char *smma_find_misplaced(const smma_instruction *instruction, const smma_gemm_arguments *product);

/* Adds scale factors of 1 and a bias of 0 if the plan needs them and the product lacks them. The caller frees
   `*neutral` after the product. Returns false if memory runs out. */
bool smma_complete_product(smma_gemm_arguments *product, void **neutral);

/* Puts "alpha" into a record if A and B are quantised with factors of the tensors, which it includes. */
void smma_put_alpha(smma_datum *record, const smma_product_target *target);

/* Puts "on", "arch", "instruction" and "in" into a record. */
void smma_put_target(smma_datum *record, const smma_product_target *target);

#endif
