/* Finds the tolerances rtol and atol that accept errors: |result - exact| <= atol + rtol |exact|, the test of
   torch.testing.assert_close and numpy.testing.assert_allclose. */
#ifndef SMMA_NUMERICS_ENVELOPE_H
#define SMMA_NUMERICS_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>

enum { SMMA_MOST_TOLERANCES = 64 };

/* The result of one element. */
typedef struct {
  double exact, error; /* |exact| and |result - exact| */
} smma_error_point;

typedef struct {
  double relative, absolute; /* rtol, atol */
} smma_tolerance;

/* For each |exact|, the least error that is allowed by some tolerance that accepts all points. It is the rising part of
   the upper convex hull of the points and of (0, 0). */
typedef struct {
  smma_tolerance edge[SMMA_MOST_TOLERANCES]; /* the hull's edges, from |exact| = 0 on; the last edge is flat */
  int edges;                                 /* number of edges */
} smma_envelope;

/* Sorts the points, whose errors are finite, and returns their envelope. If the hull has more edges than an envelope
   can hold, the envelope lies above the hull. The points with the least |exact|, a share `near` of all points, count as
   points at 0, so that atol accepts the greatest of their errors. */
smma_envelope smma_envelope_of(smma_error_point *points, size_t count, double near);

/* Reports whether a tolerance that accepts all points of the envelope rejects this point. */
bool smma_envelope_refuses(const smma_envelope *envelope, smma_error_point point);

static inline bool smma_tolerance_accepts(smma_tolerance t, smma_error_point p) {
  return p.error <= t.absolute + t.relative * p.exact; /* not NaN */
}

/* Returns the tolerance with both numbers rounded up to two significant digits. */
smma_tolerance smma_tolerance_rounded_up(smma_tolerance tolerance);

#endif
