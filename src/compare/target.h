/* Targets: what one product is computed on, several side by side. */
#ifndef SMMA_COMPARE_TARGET_H
#define SMMA_COMPARE_TARGET_H

#include "datum/datum.h"
#include "host/error.h"
#include "isa/formats.h"
#include "softmma/softmma.h"

enum { SMMA_MOST_TARGETS = 32 };

/* A target and its product. */
typedef struct {
  const char *label; /* as it was asked for: a GPU, a custom unit's file */
  const char *plan;  /* likewise its plan, "none" for one chain; NULL where no plans were asked for */
  const smma_instruction *instruction;
  smma_rounding rounding; /* how A was rounded to the instruction's format */
  smma_gemm_arguments product;
} smma_product_target;

/* A product's matrices. The lines of both kinds of scale factors lie along K: of A's rows, and of B's columns. */
typedef enum {
  SMMA_VIEW_A,
  SMMA_VIEW_B,
  SMMA_VIEW_C,
  SMMA_VIEW_SCALE_A,
  SMMA_VIEW_SCALE_B,
  SMMA_VIEW_BIAS,
  SMMA_VIEWS
} smma_view_kind;

/* Where a matrix has its elements; `data` is NULL if the product lacks the matrix. */
typedef struct {
  const void *data;
  smma_format format;
  smma_order order;
  size_t leading, rows, columns;
} smma_matrix_view;

smma_matrix_view smma_matrix_view_of(const smma_product_target *target, smma_view_kind kind);

uint64_t smma_view_element(const smma_matrix_view *view, size_t row, size_t column);

/* Finds the preferred instruction for the formats of every architecture that has one, labelled with the first GPU of
   the architecture; fills in labels and instructions, and returns how many there are. */
size_t smma_find_targets(const smma_formats *formats, smma_product_target target[SMMA_MOST_TARGETS]);

/* The format of all targets' D; SMMA_NO_FORMAT where there are several. */
smma_format smma_common_d(const smma_product_target *target, size_t targets);

/* Returns false with one line where a plan cannot have the product's K. */
bool smma_check_target(const smma_product_target *target, smma_error *error);

/* The member of a product for which its plan, or a product without one, has no place: "split_k", "c", "alpha", "bias",
   "scale_a", ...; NULL where all have one. Pointers only say what there is. */
const char *smma_find_misplaced(const smma_instruction *instruction, const smma_gemm_arguments *product);

/* Adds scale factors of 1 and a bias of 0 where the plan takes them and the product lacks them. The caller frees
   `*neutral` after the product. Returns false without memory. */
bool smma_complete_product(smma_gemm_arguments *product, void **neutral);

/* Puts "on", "arch", "instruction" and "in" into a record. */
void smma_put_target(smma_datum *record, const smma_product_target *target);

#endif
