/* NaN and infinity, for all families alike, beside their sums.

   A family counts such an operand as zero, and so does an accumulator that starts as one. What they bring to an element
   of D is the sum of the products of classes in IEEE arithmetic, where the class of a number is 0, 1 or -1, an
   infinity, or NaN: in every rule NaN and infinities come before all else. These sums are FP32 chains, computed by the
   family of the same kernel that computes such. */
#ifndef SMMA_GEMM_SPECIAL_H
#define SMMA_GEMM_SPECIAL_H

#include "gemm/kernel.h"

/* The family that multiplies classes; NULL where this is not how the operation treats them: its own family takes every
   operand (FMA, FTZ-AddMul, FTZ-FMA), or there are no such numbers (integers). */
const smma_kernel_family *smma_special_family(const smma_operation *operation, const char *kernel);

/* The floats of working memory for a tile; 0 without such a family. */
size_t smma_special_space(const smma_multiplier *multiplier, size_t rows, size_t columns);

/* A tile of D from `step` on. */
typedef struct {
  const smma_multiplier *multiplier;
  size_t row, column, rows, columns; /* of D */
  float *accumulator;                /* in panels: see smma_accumulator_index */
  size_t packed_rows, panel;
  float *space;
  smma_number *core; /* working memory of smma_run_core */
  size_t step;       /* where accumulators were 0, or what C brings */
  bool from_c, any;  /* any: sums of classes are there */
} smma_special;

/* Takes what is not finite out of the accumulators. */
void smma_special_take(smma_special *tile);

/* Adds the products of classes of `steps` steps from `step` on; `rows` and `columns` flag those with such operands. */
void smma_special_add(smma_special *tile, size_t step, size_t steps, const unsigned char *rows,
                      const unsigned char *columns);

/* Puts into the accumulators, which are the family's sums up to the step `last`, what was added; they then may start
   anew. */
void smma_special_settle(smma_special *tile, size_t last);

#endif
