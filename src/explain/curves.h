/* Curves over one axis as an SVG picture. */
#ifndef SMMA_EXPLAIN_CURVES_H
#define SMMA_EXPLAIN_CURVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct {
  double x, y;
} smma_point;

typedef struct {
  const char *name;
  const smma_point *point; /* in order of x; a point whose y is not finite interrupts the curve */
  size_t count;
} smma_curve;

/* A picture of curves. The y axis is linear up to the maximum of the flattest curve that is not zero. If another curve
   exceeds ten times that maximum, the axis is logarithmic above it. */
typedef struct {
  const char *title, *subtitle, *x_title, *y_title;
  const smma_curve *curve;
  size_t count;
  double mark;           /* an x that the picture marks with mark_text */
  const char *mark_text; /* NULL: no mark */
} smma_curves;

/* Writes the picture. Returns false if memory runs out. */
bool smma_curves_write(FILE *stream, const smma_curves *curves);

#endif
