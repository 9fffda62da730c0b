/* Adds the effect of NaN and infinite operands for all families that count such operands as zero.

   In every rule NaN and infinities take precedence over everything else. Each operand has a class: 0, 1 or -1, an
   infinity, or NaN. The effect of NaN and infinities on an element of D is therefore the sum of the products of classes
   in IEEE arithmetic. These sums are FP32 chains, computed by the FP32 FMA family of the same kernel. An accumulator
   that starts from a NaN or an infinity is treated likewise. */
#ifndef SMMA_GEMM_SPECIAL_H
#define SMMA_GEMM_SPECIAL_H

#include "gemm/kernel.h"

/* Returns the family that multiplies classes. Returns NULL if the operation does not need it: its own family accepts
   every operand (FMA, FTZ-AddMul, FTZ-FMA, exact sums of compositions), or there are no such operands (integers). */
const smma_kernel_family *smma_special_family(const smma_operation *operation, const char *kernel);

/* Returns how many floats of working memory (`space`) a tile needs; 0 if the multiplier does not multiply classes. */
size_t smma_special_space(const smma_multiplier *multiplier, size_t rows, size_t columns);

/* A tile of D, and the state of its sums of classes. */
typedef struct {
  const smma_multiplier *multiplier;
  size_t row, column, rows, columns; /* position and size in D */
  float *accumulator;                /* accumulators, stored in panels (see smma_accumulator_index) */
  size_t packed_rows, panel;
  float *space;      /* working memory: see smma_special_space */
  smma_number *core; /* working memory of smma_run_core */
  size_t step;       /* the current chain's first step, before which accumulators were 0 or C */
  bool from_c;       /* before `step` they were C */
  bool any;          /* there are sums of classes; otherwise all operands so far were finite */
} smma_special;

/* Replaces infinities and NaN in the accumulators by zero. Each starts its element's sum of classes. */
void smma_special_take(smma_special *tile);

/* Adds the products of `steps` steps from `step` on to the sums of classes. `rows` and `columns` flag the rows and
   columns with infinite or NaN operands. Only products of a flagged row or column matter. */
void smma_special_add(smma_special *tile, size_t step, size_t steps, const unsigned char *rows,
                      const unsigned char *columns);

/* Replaces accumulators, which hold the family's sums after `last` steps, by the infinities and NaN of the sums of
   classes. Then the sums of classes are empty, and a new chain starts at step `last`. */
void smma_special_settle(smma_special *tile, size_t last);

#endif
