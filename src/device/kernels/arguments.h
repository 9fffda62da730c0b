/* Arguments of kernels that the host fills in. They consist of integers only, which have the same layout in every
   language. */
#ifndef SMMA_DEVICE_ARGUMENTS_H
#define SMMA_DEVICE_ARGUMENTS_H

#include "core/dialect.h"

/* The extent of a kernel: elements (0..rows - 1, 0..columns - 1) of a section of D, and instruction steps. The
   accumulator of element (i, j) is at i * columns_apart + j. Element k of line i of an operand is at k * lines + i,
   where lines is rows_apart for A and columns_apart for B. Both are multiples of 64; elements outside the matrix are
   +0. */
typedef struct {
  int rows, columns, rows_apart, columns_apart, steps;
} smma_extent;

/* The work of smma_kernel_fold on an element: see smma_task. A format of -1 means no rounding. */
typedef struct {
  /* clears: first to = 0; folds: to += from, otherwise to = from; scaled: `from` is multiplied by scale factors. If
     fused, the product of both factors is a factor of an FMA. Otherwise both multiply `from` one after the other: the
     column's first if column_first, else the row's */
  int outer, clears, folds, fused, column_first, scaled;
  int stored, total; /* stored: format to which `from` is rounded before the fold; total: format to which `to` is
                        rounded after it */
} smma_fold_task;

/* The work of smma_kernel_gather: it copies elements along K, from k on, of `lines` present lines; the copy has `apart`
   lines. Element k of line i is at first + i * line_step + k * k_step. If `ordered`, k is first replaced by the k-th
   index of a table, in which UINT64_MAX stands for +0. Elements from index `count` on are outside the matrix and have
   the code `behind`. If `scaled`, elements are multiplied by `factor`, a binary64. */
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
  int outer, summed, reads_c;    /* format of the sums; 1 unless K is 0; 1 if C is read */
  uint64_t alpha, beta, scale_d; /* binary64 */
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

/* Kernels of rows run in sets of SMMA_ROWS_TOGETHER work items. A GPU computes neighbouring items of a set together. So
   they generate rows that are SMMA_ROWS_APART apart: these are of the same kind, because kinds repeat every eight
   rows. */
enum { SMMA_ROWS_TOGETHER = 256, SMMA_ROWS_APART = 8 };

#endif
