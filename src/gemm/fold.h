/* What a plan does with the sums of a tile between its chains: the tasks of its schedule, on all elements. */
#ifndef SMMA_GEMM_FOLD_H
#define SMMA_GEMM_FOLD_H

#include "gemm/gemm.h"

/* Sums of a tile, in panels of columns: see smma_accumulator_index. */
typedef struct {
  void *to, *from;
  size_t row, column, rows, columns; /* of D */
  size_t packed_rows, packed_columns, panel;
} smma_fold_tile;

/* Native arithmetic, which is IEEE's: the thread must round to nearest and keep subnormals. */
void smma_fold_sums(const smma_multiplier *multiplier, const smma_task *task, const smma_fold_tile *tile);

#endif
