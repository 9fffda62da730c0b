/* Bounds on the sums that a unit computes, for the elements of sixteen columns at once: the exact value and the
   distance of the unit's sum from it. Each algorithm has its own bound for one block of products (docs/tolerance.md,
   "One block"). */
#ifndef SMMA_NUMERICS_BOUND_SUM_H
#define SMMA_NUMERICS_BOUND_SUM_H

#include <stddef.h>

#include "core/rule.h"
#include "numerics/bound.h"

enum { SMMA_BOUND_LANES = 16 };

/* The `unit` of zero, which is a multiple of every power of two. */
#define SMMA_BOUND_GREAT 0x1p400

/* A sum and its bounds, for each lane. The exact sum is high + low, up to an error of size * slack (smma_bound_slack).
   The unit's sum lies between the exact sum minus `below` and the exact sum plus `above`. */
typedef struct {
  double high[SMMA_BOUND_LANES], low[SMMA_BOUND_LANES];
  double size[SMMA_BOUND_LANES]; /* the sum of the magnitudes of all terms */
  double below[SMMA_BOUND_LANES], above[SMMA_BOUND_LANES];
  double unit[SMMA_BOUND_LANES]; /* the unit's sum is a multiple of this power of two; 0: not known */
  int fraction_bits;             /* fraction bits of the unit's sum if it is normal */
} smma_bound_sum;

/* An element of A or B, times its scale factor. */
typedef struct {
  double value; /* the exact value */
  double used;  /* the value that the unit reads; 0 if the unit flushes subnormals and the element is subnormal */
  double lead;  /* 2^exponent of the encoding (GST-FDPA: of the scale factor); 0 for zero */
  double unit;  /* the greatest power of two that divides the value; SMMA_BOUND_GREAT for zero */
} smma_bound_factor;

/* The factors of sixteen columns. */
typedef struct {
  double value[SMMA_BOUND_LANES], used[SMMA_BOUND_LANES], lead[SMMA_BOUND_LANES], unit[SMMA_BOUND_LANES];
} smma_bound_factors;

/* A rounding to a format. */
typedef struct {
  double least; /* 2^emin, the least normal number */
  double ulp;   /* the ulp of 1 */
  double limit; /* the least magnitude whose rounded result is not finite */
  int fraction_bits;
  smma_rounding direction; /* the rounding mode */
  bool flushes;            /* subnormal results become zero */
} smma_bound_rounding;

smma_bound_rounding smma_bound_rounding_to(smma_format format, smma_rounding direction);

/* Returns the value of the lowest bit of the significand that is 1; SMMA_BOUND_GREAT for zero. */
double smma_bound_unit_of(smma_number x);

/* Returns a bound of the error of high + low as a sum of `count` products, relative to the sum of their magnitudes. */
double smma_bound_slack(size_t count);

/* Returns the bound factor of an element x of A (of B unless `of_a`) with its scale factor, which is 1 if there is
   none. */
smma_bound_factor smma_bound_factor_of(const smma_operation *operation, bool of_a, smma_number x, smma_number scale);

/* Returns sums of no terms, held in a format. */
smma_bound_sum smma_bound_empty(smma_format format);

/* Adds x + rest to the exact sum; `rest` is small relative to x. */
void smma_bound_add_exact(smma_bound_sum *sum, int lane, double x, double rest);

/* Sets `*from` and `*to` to the limits of the unit's sum. */
void smma_bound_range(const smma_bound_sum *sum, int lane, double slack, double *from, double *to);

/* Adds `part` and its bounds to `sum`, without a rounding error. */
void smma_bound_join(const smma_bound_sum *part, int lane, smma_bound_sum *sum);

/* Adds to `*below` and `*above` the largest errors that the rounding of a value can cause. The value lies in [from, to]
   and is a multiple of `unit`. */
void smma_bound_add_rounding(const smma_bound_rounding *rounding, double from, double to, double unit, double *below,
                             double *above);

/* Adds the errors of a rounding of the unit's sum to the bounds. */
void smma_bound_round(smma_bound_sum *sum, int lane, double slack, const smma_bound_rounding *rounding);

/* Returns the bound for a sum that is finished, with the rounding error of this computation itself. */
smma_bounded smma_bound_end(const smma_bound_sum *sum, int lane, double slack);

/* Reports whether a bound of the operation's sums is known. */
bool smma_bound_is_known(const smma_operation *operation);

/* Adds the operation->k products of one instruction to the sum, and the unit's errors to its bounds. */
void smma_bound_step(const smma_operation *operation, const smma_bound_factor *a, const smma_bound_factors *b,
                     double slack, smma_bound_sum *sum);

#endif
