/* The axis of a picture: a cell for each power of two that is shown, the highest first. */
#ifndef SMMA_EXPLAIN_AXIS_H
#define SMMA_EXPLAIN_AXIS_H

#include "explain/ruler.h"

/* Number of powers of two that an axis can show: those from 2^SMMA_WIDE_LEAST to below 2^SMMA_AXIS_TOP. */
#define SMMA_AXIS_WEIGHTS (32 * SMMA_WIDE_LIMBS)
#define SMMA_AXIS_TOP (SMMA_WIDE_LEAST + SMMA_AXIS_WEIGHTS)

/* Width of a gap in cells. A gap replaces a run of powers of two in which each number repeats one digit. */
#define SMMA_AXIS_GAP 3

/* A row of the picture: it shows the bits of x down to 2^floor. */
typedef struct {
  const smma_drawn *x;
  int floor;
} smma_axis_row;

typedef struct {
  int first, last;               /* the highest and the lowest weight: exponents of powers of two */
  int cells;                     /* width of the axis in cells */
  int16_t at[SMMA_AXIS_WEIGHTS]; /* cell of each weight, indexed by its distance from SMMA_WIDE_LEAST; weights of a gap
                                    share its first cell */
  bool gap[SMMA_AXIS_WEIGHTS];   /* for each weight, whether it is in a gap */
} smma_axis;

/* Makes the axis of `rows` rows. The weights in `mark`, and the weights below them, are not in gaps; others may be. */
void smma_axis_make(smma_axis *axis, const smma_axis_row *row, int rows, const int *mark, int marks);

/* Returns the cell of a weight, or -1 if it is in a gap or outside the axis. */
int smma_axis_cell(const smma_axis *axis, int weight);

/* Returns the cell of the gap that contains a weight, or -1 if it is not in a gap. */
int smma_axis_gap(const smma_axis *axis, int weight);

#endif
