/* Applies a schedule's tasks to the sums of a tile, between the chains of a plan. */
#ifndef SMMA_GEMM_FOLD_H
#define SMMA_GEMM_FOLD_H

#include <math.h>

#include "gemm/gemm.h"

/* Sums of a tile, in panels of columns: see smma_accumulator_index. */
typedef struct {
  void *to, *from;
  size_t row, column, rows, columns; /* position and size in D */
  size_t packed_rows, packed_columns, panel;
} smma_fold_tile;

/* Does one task. It uses native IEEE arithmetic: the thread must round to nearest and must not flush subnormals. */
void smma_fold_sums(const smma_multiplier *multiplier, const smma_task *task, const smma_fold_tile *tile);

/* Adds a part to a total with the part's scale factors. */
static inline float smma_add_scaled(smma_with with, float a, float b, float part, float total) {
  if (with == SMMA_WITH_FMA) return fmaf(a * b, part, total);
  return with == SMMA_WITH_MULTIPLY_FMA ? fmaf(b, a * part, total) : fmaf(a, b * part, total);
}

#endif
