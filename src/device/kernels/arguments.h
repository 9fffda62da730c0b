/* Arguments of kernels that the host fills in. They consist of integers only, which have the same layout in every
   language. */
#ifndef SMMA_DEVICE_ARGUMENTS_H
#define SMMA_DEVICE_ARGUMENTS_H

#include "core/dialect.h"

/* The extent of a kernel's work: elements (0..rows - 1, 0..columns - 1) of a section of D, and instruction steps. The
   accumulator of element (i, j) is at i * columns_apart + j. Element k of row i of A is at k * rows_apart + i; of
   column j of B, at k * columns_apart + j. rows_apart and columns_apart are multiples of 64; elements outside the
   matrix are +0. */
typedef struct {
  int rows, columns, rows_apart, columns_apart, steps;
} smma_extent;

/* The work of smma_kernel_fold on each element of its buffers `to` and `from`: see smma_task. A format of -1 means no
   rounding. */
typedef struct {
  /* outer: format of both buffers. clears: only sets `to` to 0. folds: to += from, otherwise to = from. scaled: `from`
     is multiplied by the scale factors of the row and of the column. If fused, the product of both factors is a factor
     of an FMA. Otherwise they multiply `from` one after the other: the column's first if column_first, else the
     row's. */
  int outer, clears, folds, fused, column_first, scaled;
  int stored, total; /* stored: format to which `from` is rounded before it is added; total: format to which the new
                        `to` is rounded */
} smma_fold_task;

/* The work of smma_kernel_gather: it copies elements along K, from k on, of `lines` lines to a buffer that has `apart`
   lines. Element k of line i is read at first + i * line_step + k * k_step. If `ordered`, k is first replaced by the
   k-th index of a table, in which UINT64_MAX stands for +0. Elements from index `count` on are outside the matrix and
   have the code `behind`. If `scaled`, elements are multiplied by `factor`, the bits of a binary64. */
typedef struct {
  int format, lines, apart, ordered, scaled, unused;
  uint64_t first, line_step, k_step, k, count, factor, behind;
} smma_gather_task;

/* The layout of a section of C or D: element (i, j) is at first + i * row_step + j * column_step. */
typedef struct {
  int format, unused;
  uint64_t first, row_step, column_step;
} smma_part_place;

/* The epilogue that smma_kernel_finish applies to sums: see smma_epilogue. */
enum { SMMA_MOST_FINISHES = 16 };
typedef struct {
  int outer, summed, reads_c;    /* outer: format of the sums; summed: 1 unless K is 0; reads_c: 1 if C is read */
  uint64_t alpha, beta, scale_d; /* bits of binary64 */
  uint64_t column;               /* first column of the section in D */
  int count, kind[SMMA_MOST_FINISHES], format[SMMA_MOST_FINISHES];
} smma_finish_task;

/* Values of `kind`; the host's smma_epilogue_kind has the same numbers. */
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

/* Rows of D per work item of a fast kernel. */
enum { SMMA_ITEM_ROWS = 4 };

/* Kernels of rows run in sets of SMMA_ROWS_TOGETHER work items. A GPU computes neighbouring work items of a set
   together, and is fastest if they do the same. So neighbouring items generate rows that are SMMA_ROWS_APART apart:
   these are of the same kind, because kinds repeat every eight rows. */
enum { SMMA_ROWS_TOGETHER = 256, SMMA_ROWS_APART = 8 };

#endif
