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
  const smma_point *point; /* in order of x; the curve is broken where y is not finite */
  size_t count;
} smma_curve;

/* y is drawn in proportion as far as the flattest curve reaches that is not zero; where another goes beyond ten times
   that, by its logarithm from there on. */
typedef struct {
  const char *title, *subtitle, *x_title, *y_title;
  const smma_curve *curve;
  size_t count;
  double mark; /* an x that is marked with mark_text, unless that is NULL */
  const char *mark_text;
} smma_curves;

/* False when memory runs out. */
bool smma_curves_write(FILE *stream, const smma_curves *curves);

#endif
