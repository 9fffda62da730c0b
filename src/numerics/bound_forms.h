/* The forms of an instruction's sum, each with its bound, and the products that the sums add. docs/tolerance.md derives
   every bound. */
#ifndef SMMA_NUMERICS_BOUND_FORMS_H
#define SMMA_NUMERICS_BOUND_FORMS_H

#include <math.h>

#include "host/bits.h"
#include "numerics/bound_sum.h"

static inline double smma_larger(double x, double y) { return x > y ? x : y; }
static inline double smma_smaller(double x, double y) { return x < y ? x : y; }

/* Returns 2^exponent; a shift makes a normal number, and is much faster than ldexp. */
static inline double smma_power(int exponent) {
  return exponent < -1022 || exponent > 1023 ? ldexp(1, exponent) : smma_f64_of_bits((uint64_t)(exponent + 1023) << 52);
}

/* Returns 2^floor(log2 x) for a normal x, infinity for infinity, and 0 for zero and subnormal x. */
static inline double smma_power_below(double x) {
  return smma_f64_of_bits(smma_bits_of_f64(x) & UINT64_C(0x7ff) << 52);
}

/* Reports whether the rule reads subnormal elements of A or B as zero. */
bool smma_bound_flushes_factors(const smma_rule *rule);

/* ---- Terms ---- */

/* The terms of a sum: products as the unit computes them, for sixteen columns. */
typedef struct {
  int count;
  bool flushes; /* operands may be read as zero */
  bool is_long; /* products may have more bits than a double */
  double value[SMMA_MAXIMUM_K][SMMA_BOUND_LANES];
  double lead[SMMA_MAXIMUM_K][SMMA_BOUND_LANES]; /* 2^exponent */
  double unit[SMMA_MAXIMUM_K][SMMA_BOUND_LANES]; /* greatest power of two that divides the value */
} smma_bound_terms;

/* Reports whether products of numbers in the format can exceed a double's range or precision. */
bool smma_bound_is_wide(smma_format format);

/* Reports whether scaled products have more bits than a double: f32 with ue4m3. */
bool smma_bound_has_long_products(const smma_operation *o);

/* Adds a product to the exact sum, and stores the product as the unit computes it as term i. */
void smma_bound_take_product(const smma_bound_factor *a, const smma_bound_factors *b, smma_bound_sum *s,
                             smma_bound_terms *t, int i);

/* Calls smma_bound_take_product for all products of a block. `g` is NULL unless the operation is a composition. */
void smma_bound_take_block(const smma_operation *o, const smma_g_fdpa *g, const smma_bound_factor *a,
                           const smma_bound_factors *b, int block, smma_bound_sum *s, smma_bound_terms *t);

/* Returns the greatest lead of the terms first, first + stride, ... in each lane. */
void smma_bound_greatest_leads(const smma_bound_terms *t, int first, int stride, double lead[SMMA_BOUND_LANES]);

/* Sets the leads to those of normalised products. The values must fit in a double. */
void smma_bound_normalize_leads(smma_bound_terms *t);

/* Lowers unit[j] to the least unit of the terms in lane j. */
void smma_bound_lower_units(const smma_bound_terms *t, double unit[SMMA_BOUND_LANES]);

/* ---- Forms. Each function adds the products of one instruction to the sum, and the unit's errors to its bounds.
   ---- */

/* Adds blocks in order, starting from c. `g` has the parameters of a composition that is G-FDPA; otherwise it is
   NULL. */
void smma_bound_add_blocks(const smma_operation *o, const smma_g_fdpa *g, const smma_bound_factor *a,
                           const smma_bound_factors *b, double slack, smma_bound_sum *s);

/* Adds blocks in order, starting from +0, then c. */
void smma_bound_add_apart(const smma_operation *o, const smma_g_fdpa *g, const smma_bound_factor *a,
                          const smma_bound_factors *b, double slack, const smma_bound_rounding *rounding,
                          smma_bound_sum *s);

/* Adds the products of a composition that is G-FDPA, or that adds c last to a fused sum of all products. */
void smma_bound_add_chain(const smma_operation *o, const smma_g_fdpa *g, const smma_bound_factor *a,
                          const smma_bound_factors *b, double slack, smma_bound_sum *s);

/* Adds the products one by one, each by an FMA. */
void smma_bound_add_one_by_one(const smma_operation *o, const smma_bound_rounding *r, const smma_bound_factor *a,
                               const smma_bound_factors *b, double slack, smma_bound_sum *s);

/* Adds two or four products in pairs (FTZ-AddMul). */
void smma_bound_add_pairwise(const smma_operation *o, const smma_bound_rounding *f32, const smma_bound_factor *a,
                             const smma_bound_factors *b, double slack, smma_bound_sum *s);

/* Adds sums of pairs of products (core/pairs.h). */
void smma_bound_add_pairs(const smma_operation *o, const smma_pairs *pairs, const smma_bound_rounding *r,
                          const smma_bound_factor *a, const smma_bound_factors *b, double slack, smma_bound_sum *s);

/* smma_bound_has_exact_sums reports whether the operation is a composition whose sums are exact and then rounded at
   most once; smma_bound_add_steps adds the products of such a composition. */
bool smma_bound_has_exact_sums(const smma_operation *o);
void smma_bound_add_steps(const smma_operation *o, const smma_bound_factor *a, const smma_bound_factors *b,
                          double slack, smma_bound_sum *s);

#endif
