/* Does a schedule's tasks, which combine the results of a plan's chains, on the sums of a tile. */
#ifndef SMMA_GEMM_FOLD_H
#define SMMA_GEMM_FOLD_H

#include <math.h>

#include "gemm/gemm.h"

/* A tile, and the two arrays of sums between which a task moves or adds. */
typedef struct {
  void *to, *from;                   /* the sums, in panels of columns: see smma_accumulator_index */
  size_t row, column, rows, columns; /* position and size in D */
  size_t packed_rows, packed_columns, panel;
} smma_fold_tile;

/* Does one task. It uses native IEEE arithmetic, so the thread must round to nearest and must not flush subnormals. */
void smma_fold_sums(const smma_multiplier *multiplier, const smma_task *task, const smma_fold_tile *tile);

/* Returns total + part * a * b, where a and b are the part's scale factors of A and B; smma_with defines which of the
   operations are rounded. */
static inline float smma_add_scaled(smma_with with, float a, float b, float part, float total) {
  if (with == SMMA_WITH_FMA) return fmaf(a * b, part, total);
  return with == SMMA_WITH_MULTIPLY_FMA ? fmaf(b, a * part, total) : fmaf(a, b * part, total);
}

#endif
