/* Arguments of kernels that the host fills in: integers alone, which lie alike in every language. */
#ifndef SMMA_DEVICE_ARGUMENTS_H
#define SMMA_DEVICE_ARGUMENTS_H

/* What a kernel covers: elements (0..rows - 1, 0..columns - 1) of a part of D, and steps of the instruction. Element
   (i, j) is at i * columns_apart + j of accumulators. Of operands, element k of line i is at k * lines + i; there are
   rows_apart lines of A, columns_apart of B, multiples of 64, and what is not in the matrix is +0. */
typedef struct {
  int rows, columns, rows_apart, columns_apart, steps;
} smma_extent;

/* What smma_kernel_fold does with an element: see smma_task. Formats are -1 where nothing is rounded. */
typedef struct {
  int outer, clears, folds, fused, scaled; /* to = 0; to += from, else to = from; with FMA; with scale factors */
  int stored, total;                       /* formats that `from` is rounded to before, and `to` after */
} smma_fold_task;

/* Rows of D that an item of a fast kernel computes. */
enum { SMMA_ITEM_ROWS = 4 };

/* Items of kernels of rows are a multiple of this. Of as many, those that GPUs compute together make rows that are so
   many apart, hence of one kind, as every eighth is. */
enum { SMMA_ROWS_TOGETHER = 256, SMMA_ROWS_APART = 8 };

#endif
