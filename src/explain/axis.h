/* The axis of a picture: a cell for each power of two that has something to show, the highest first. */
#ifndef SMMA_EXPLAIN_AXIS_H
#define SMMA_EXPLAIN_AXIS_H

#include "explain/ruler.h"

/* Weights from SMMA_WIDE_LEAST to below the top. */
#define SMMA_AXIS_WEIGHTS (32 * SMMA_WIDE_LIMBS)
#define SMMA_AXIS_TOP (SMMA_WIDE_LEAST + SMMA_AXIS_WEIGHTS)

/* Cells that a gap takes: a run of powers of two in each of which every number has the same digit. */
#define SMMA_AXIS_GAP 3

/* What a row needs of the axis: the bits of x from 2^floor on. */
typedef struct {
  const smma_drawn *x;
  int floor;
} smma_axis_row;

typedef struct {
  int first, last;               /* the highest and the lowest weight */
  int cells;                     /* the width */
  int16_t at[SMMA_AXIS_WEIGHTS]; /* the cell of a weight, by its distance from SMMA_WIDE_LEAST; weights of a gap share
                                   its first cell */
  bool gap[SMMA_AXIS_WEIGHTS];
} smma_axis;

/* The weights in `mark` and the next lower ones have cells of their own. */
void smma_axis_make(smma_axis *axis, const smma_axis_row *row, int rows, const int *mark, int marks);

/* The cell of a weight, or -1 where it lies in a gap or outside. */
int smma_axis_cell(const smma_axis *axis, int weight);

/* The cell of the gap that a weight lies in, or -1. */
int smma_axis_gap(const smma_axis *axis, int weight);

#endif
