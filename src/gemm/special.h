/* Adds the effect of NaN and infinite operands, alike for all families.

   A family counts a NaN or infinite operand as zero, also an accumulator that starts with such a value. In every rule
   NaN and infinities take precedence over everything else. Their effect on an element of D is therefore the sum of the
   products of classes in IEEE arithmetic, where the class of a number is 0, 1 or -1, an infinity, or NaN. These sums
   are FP32 chains, computed by the FP32 FMA family of the same kernel. */
#ifndef SMMA_GEMM_SPECIAL_H
#define SMMA_GEMM_SPECIAL_H

#include "gemm/kernel.h"

/* Returns the family that multiplies classes. Returns NULL if the operation does not need it: its own family accepts
   every operand (FMA, FTZ-AddMul, FTZ-FMA, exact sums of compositions), or there are no such operands (integers). */
const smma_kernel_family *smma_special_family(const smma_operation *operation, const char *kernel);

/* Returns the floats of working memory for a tile, or 0 if the multiplier does not multiply classes. */
size_t smma_special_space(const smma_multiplier *multiplier, size_t rows, size_t columns);

/* A tile of D, computed from `step` on. */
typedef struct {
  const smma_multiplier *multiplier;
  size_t row, column, rows, columns; /* position and size in D */
  float *accumulator;                /* accumulators, stored in panels (see smma_accumulator_index) */
  size_t packed_rows, panel;
  float *space;
  smma_number *core; /* working memory of smma_run_core */
  size_t step;       /* the step before which accumulators were 0 or C */
  bool from_c, any;  /* any: sums of classes are present */
} smma_special;

/* Replaces infinities and NaN in the accumulators by zero and remembers them. */
void smma_special_take(smma_special *tile);

/* Adds the products of classes of `steps` steps from `step` on. `rows` and `columns` flag lines with special
   operands. */
void smma_special_add(smma_special *tile, size_t step, size_t steps, const unsigned char *rows,
                      const unsigned char *columns);

/* Merges the sums of classes into the accumulators, which are the family's sums up to step `last`; then the sums of
   classes start again. */
void smma_special_settle(smma_special *tile, size_t last);

#endif
