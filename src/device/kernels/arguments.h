/* Arguments of kernels that the host fills in: integers alone, which lie alike in every language. */
#ifndef SMMA_DEVICE_ARGUMENTS_H
#define SMMA_DEVICE_ARGUMENTS_H

#include "core/dialect.h"

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

/* What smma_kernel_gather copies: elements along K from k on, of `lines` lines that are there, to lines `apart`.
   Element k of line i is at first + i * line_step + k * k_step, or if `ordered` that of the k-th index of a table,
   UINT64_MAX for +0; behind `count` of them lies `behind`. They are multiplied by `factor`, a binary64, if `scaled`. */
typedef struct {
  int format, lines, apart, ordered, scaled, unused;
  uint64_t first, line_step, k_step, k, count, factor, behind;
} smma_gather_task;

/* Where element (i, j) of a part of C or D is: at first + i * row_step + j * column_step. */
typedef struct {
  int format, unused;
  uint64_t first, row_step, column_step;
} smma_part_place;

/* What smma_kernel_finish does with sums: see smma_epilogue. */
enum { SMMA_MOST_FINISHES = 16 };
typedef struct {
  int outer, summed, reads_c;    /* the format of sums; whether K is not 0 */
  uint64_t alpha, beta, scale_d; /* binary64 */
  uint64_t column;               /* of D, where the part begins */
  int count, kind[SMMA_MOST_FINISHES], format[SMMA_MOST_FINISHES];
} smma_finish_task;

/* Of kinds; the host's have the same numbers. */
enum {
  SMMA_FINISH_ALPHA,
  SMMA_FINISH_LINEAR,
  SMMA_FINISH_BETA,
  SMMA_FINISH_BIAS,
  SMMA_FINISH_SCALE_D,
  SMMA_FINISH_RELU,
  SMMA_FINISH_ROUND,
  SMMA_FINISH_CLAMP
};

/* Rows of D that an item of a fast kernel computes. */
enum { SMMA_ITEM_ROWS = 4 };

/* Items of kernels of rows are a multiple of this. Of as many, those that GPUs compute together make rows that are so
   many apart, hence of one kind, as every eighth is. */
enum { SMMA_ROWS_TOGETHER = 256, SMMA_ROWS_APART = 8 };

#endif
