/* Sums in a unit, of the elements of sixteen columns side by side: the exact value, and how far the unit's can be from
   it. What a block of products adds, by each algorithm (docs/tolerance.md, "One block"). */
#ifndef SMMA_NUMERICS_BOUND_SUM_H
#define SMMA_NUMERICS_BOUND_SUM_H

#include <stddef.h>

#include "core/rule.h"

enum { SMMA_BOUND_LANES = 16 };

/* The unit's sum lies in [exact - below, exact + above], the exact one being high + low but for size times `slack`, and
   is a multiple of `unit`, a power of two (0: not known). Where it is normal its significand has `fraction_bits`. */
typedef struct {
  double high[SMMA_BOUND_LANES], low[SMMA_BOUND_LANES];
  double size[SMMA_BOUND_LANES]; /* the sum of the magnitudes of all that was added */
  double below[SMMA_BOUND_LANES], above[SMMA_BOUND_LANES];
  double unit[SMMA_BOUND_LANES];
  int fraction_bits;
} smma_bound_sum;

/* An element of A or B, times its scale factor. */
typedef struct {
  double value, used; /* as it is, and as the unit reads it: 0 where it flushes subnormals */
  double lead;        /* 2^exponent, the encoding's (GST-FDPA: the scale factor's); 0 for zero */
  double unit;        /* the greatest power of two that it is a multiple of; great for zero */
} smma_bound_factor;

/* The same of sixteen columns. */
typedef struct {
  double value[SMMA_BOUND_LANES], used[SMMA_BOUND_LANES], lead[SMMA_BOUND_LANES], unit[SMMA_BOUND_LANES];
} smma_bound_factors;

/* A rounding to a format: to nearest even, or as the rule has it. */
typedef struct {
  double least, ulp, limit; /* 2^emin; that of 1; the magnitude from which on results are not finite */
  int fraction_bits;
  smma_rounding direction;
  bool flushes; /* subnormal results to zero */
} smma_bound_rounding;

smma_bound_rounding smma_bound_rounding_to(smma_format format, smma_rounding direction);

/* The relative error of sums of `count` products in high + low, times their magnitudes. */
double smma_bound_slack(size_t count);

/* An element with its scale factor (1 without), as the operation reads it. */
smma_bound_factor smma_bound_factor_of(const smma_operation *operation, smma_number x, smma_number scale);

/* Adds a number, the error of which is known, to the exact sum. */
void smma_bound_add_exact(smma_bound_sum *sum, int lane, double x, double rest);

/* What lies between the least and the greatest that the unit's sum can be. */
void smma_bound_range(const smma_bound_sum *sum, int lane, double slack, double *from, double *to);

/* The unit rounds its sum. */
void smma_bound_round(smma_bound_sum *sum, int lane, double slack, const smma_bound_rounding *rounding);

/* One instruction: operation->k elements of A and of B are added to the sum. */
void smma_bound_step(const smma_operation *operation, const smma_bound_factor *a, const smma_bound_factors *b,
                     double slack, smma_bound_sum *sum);

#endif
