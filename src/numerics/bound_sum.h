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

/* A sum and its bounds. The unit's sum lies in [exact - below, exact + above]. The exact sum is high + low, up to an
   error of size times `slack`. The unit's sum is a multiple of `unit`, a power of two (0: not known). If it is
   normal, its significand has `fraction_bits`. */
typedef struct {
  double high[SMMA_BOUND_LANES], low[SMMA_BOUND_LANES];
  double size[SMMA_BOUND_LANES]; /* the sum of the magnitudes of all terms */
  double below[SMMA_BOUND_LANES], above[SMMA_BOUND_LANES];
  double unit[SMMA_BOUND_LANES];
  int fraction_bits;
} smma_bound_sum;

/* An element of A or B, times its scale factor. */
typedef struct {
  double value, used; /* the exact value; the value that the unit reads, 0 if it flushes subnormals */
  double lead;        /* 2^exponent of the encoding (GST-FDPA: of the scale factor); 0 for zero */
  double unit;        /* the greatest power of two that divides it; SMMA_BOUND_GREAT for zero */
} smma_bound_factor;

/* The factors of sixteen columns. */
typedef struct {
  double value[SMMA_BOUND_LANES], used[SMMA_BOUND_LANES], lead[SMMA_BOUND_LANES], unit[SMMA_BOUND_LANES];
} smma_bound_factors;

/* A rounding to a format: to nearest even, or in the rule's rounding mode. */
typedef struct {
  double least, ulp, limit; /* 2^emin; the ulp of 1; the least magnitude that is not finite */
  int fraction_bits;
  smma_rounding direction;
  bool flushes; /* subnormal results become zero */
} smma_bound_rounding;

smma_bound_rounding smma_bound_rounding_to(smma_format format, smma_rounding direction);

/* Returns the relative error of sums of `count` products in high + low, relative to the sum of their magnitudes. */
double smma_bound_slack(size_t count);

/* Returns the factor of an element of A (or B) with its scale factor (1 if there is none), as the operation reads it.
 */
smma_bound_factor smma_bound_factor_of(const smma_operation *operation, bool of_a, smma_number x, smma_number scale);

/* Returns empty sums in a format. */
smma_bound_sum smma_bound_empty(smma_format format);

/* Adds the number x to the exact sum; its error is `rest`. */
void smma_bound_add_exact(smma_bound_sum *sum, int lane, double x, double rest);

/* Returns the range of possible values of the unit's sum. */
void smma_bound_range(const smma_bound_sum *sum, int lane, double slack, double *from, double *to);

/* Adds a sum to another, without a rounding error. */
void smma_bound_join(const smma_bound_sum *part, int lane, smma_bound_sum *sum);

/* Adds the largest errors that rounding a value in [from, to], a multiple of `unit`, can cause. */
void smma_bound_add_rounding(const smma_bound_rounding *rounding, double from, double to, double unit, double *below,
                             double *above);

/* Accounts for a rounding of the unit's sum. */
void smma_bound_round(smma_bound_sum *sum, int lane, double slack, const smma_bound_rounding *rounding);

/* Returns the bound for a sum that is finished, with the rounding error of this computation itself. */
smma_bounded smma_bound_end(const smma_bound_sum *sum, int lane, double slack);

/* Accounts for one instruction, which adds operation->k products to the sum. */
void smma_bound_step(const smma_operation *operation, const smma_bound_factor *a, const smma_bound_factors *b,
                     double slack, smma_bound_sum *sum);

#endif
