/* Which rtol and atol accept errors: |result - exact| <= atol + rtol |exact|, as torch.testing.assert_close and
   numpy.testing.assert_allclose have it. */
#ifndef SMMA_NUMERICS_ENVELOPE_H
#define SMMA_NUMERICS_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>

enum { SMMA_MOST_TOLERANCES = 64 };

typedef struct {
  double exact, error; /* magnitudes */
} smma_error_point;

typedef struct {
  double relative, absolute; /* rtol, atol */
} smma_tolerance;

/* The least error that tolerances accepting all points allow at each |exact|: the rising part of the upper hull of
   the points and of 0. */
typedef struct {
  smma_tolerance edge[SMMA_MOST_TOLERANCES]; /* from |exact| = 0 on; the last one is flat */
  int edges;
} smma_envelope;

/* Sorts the points, whose errors are finite, and returns their envelope. If the hull has more edges than an envelope
   can hold, the envelope lies above the hull. The share `near` of points with the least |exact| count as points at 0.
   So the tolerance at 0 accepts the greatest of their errors. */
smma_envelope smma_envelope_of(smma_error_point *points, size_t count, double near);

/* Reports whether a tolerance that accepts all points of the envelope rejects this point. */
bool smma_envelope_refuses(const smma_envelope *envelope, smma_error_point point);

static inline bool smma_tolerance_accepts(smma_tolerance t, smma_error_point p) {
  return p.error <= t.absolute + t.relative * p.exact; /* not NaN */
}

/* Returns the tolerance with both numbers rounded up to two digits. */
smma_tolerance smma_tolerance_rounded_up(smma_tolerance tolerance);

#endif
