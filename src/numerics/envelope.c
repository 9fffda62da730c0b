#include "numerics/envelope.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *x, const void *y) {
  const smma_error_point *a = x, *b = y;
  if (a->exact != b->exact) return a->exact < b->exact ? -1 : 1;
  return (a->error > b->error) - (a->error < b->error);
}

/* Compares a b with c d, which may be outside the range of double. */
static bool is_at_most(double a, double b, double c, double d) {
  int of_a, of_b, of_c, of_d;
  const double x = frexp(a, &of_a) * frexp(b, &of_b), y = frexp(c, &of_c) * frexp(d, &of_d);
  return x == 0 || y == 0 ? x <= y : x <= ldexp(y, of_c + of_d - of_a - of_b);
}

static bool is_below(smma_error_point p, smma_error_point from, smma_error_point to) {
  return is_at_most(p.error - from.error, to.exact - from.exact, to.error - from.error, p.exact - from.exact);
}

/* Returns the line through two points of the hull as a tolerance, moved up so that the rounding errors of this
   computation cannot put the line below a point. */
static smma_tolerance line(smma_error_point from, smma_error_point to) {
  const double slope = (to.error - from.error) / (to.exact - from.exact);
  const double least = from.error - slope * from.exact;
  return (smma_tolerance){slope * (1 + 0x1p-40), least > 0 ? least * (1 + 0x1p-40) + to.error * 0x1p-40 : 0};
}

smma_envelope smma_envelope_of(smma_error_point *points, size_t count, double near) {
  smma_envelope e = {.edges = 0};
  smma_error_point origin = {0, 0}, *hull = points;
  size_t size = 0, first = 0;
  double most;
  qsort(points, count, sizeof *points, compare);
  while (first < count && points[first].exact == 0) origin = points[first++]; /* the greatest error at 0 */
  for (size_t i = first; (double)i < near * (double)count; i++)
    if (points[i].error > origin.error) origin.error = points[i].error;
  for (size_t i = first; i < count; i++) {
    const smma_error_point p = points[i];
    while (size && is_below(hull[size - 1], size > 1 ? hull[size - 2] : origin, p)) size--;
    hull[size++] = p; /* size <= i */
  }
  most = origin.error;
  for (size_t i = 0; i < size; i++) {
    const smma_error_point from = i ? hull[i - 1] : origin;
    if (hull[i].error <= from.error) break;
    if (e.edges < SMMA_MOST_TOLERANCES - 1 && isfinite(line(from, hull[i]).relative))
      e.edge[e.edges++] = line(from, hull[i]);
    most = hull[i].error;
  }
  e.edge[e.edges++] = (smma_tolerance){0, most};
  return e;
}

bool smma_envelope_refuses(const smma_envelope *e, smma_error_point p) {
  for (int i = 0; i < e->edges; i++)
    if (!smma_tolerance_accepts(e->edge[i], p)) return true;
  return false;
}

/* Returns x rounded up to two significant decimal digits. */
static double rounded_up(double x) {
  char text[32];
  double y;
  if (!(x > 0) || isinf(x)) return x;
  snprintf(text, sizeof text, "%.1e", x);
  y = strtod(text, NULL);
  if (y >= x) return y;
  snprintf(text, sizeof text, "%.1e", x + pow(10, floor(log10(x)) - 1) / 2);
  return strtod(text, NULL);
}

smma_tolerance smma_tolerance_rounded_up(smma_tolerance t) {
  return (smma_tolerance){rounded_up(t.relative), rounded_up(t.absolute)};
}
