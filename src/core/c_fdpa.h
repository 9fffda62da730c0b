/* C-FDPA (RDNA 3) and GD-FDPA (RDNA 4). Products are aligned to their greatest exponent, c to its leading bit, and
   all terms use the coarser of the two grids. C-FDPA adds terms whose sign differs from c's as complements; GD-FDPA
   rounds groups of products down. Source: docs/algorithms/c-fdpa.md and gd-fdpa.md. */
#ifndef SMMA_CORE_C_FDPA_H
#define SMMA_CORE_C_FDPA_H

#include "policy.h"
#include "wide.h"

typedef struct {
  int alignment_bits; /* F: fraction bits of products below their greatest exponent */
  int c_bits;         /* Fc: bits of c below its leading bit */
  int block;          /* L: products in one fused sum */
  int stride;         /* order of the blocks: 0, stride, 2 stride, ..., 1, 1 + stride, ... */
  smma_format output;
  smma_sum_overflow overflow;
  int group; /* G (GD-FDPA): products that are aligned together */
} smma_c_fdpa;

/* ---- Special values ---- */

/* Returns a * b. If the product is NaN, its significand tells why: 1 if a factor is NaN, 0 for infinity times zero. */
SMMA_CORE smma_number smma_marked_product(smma_number a, smma_number b) {
  smma_number p = smma_product(a, b);
  if (p.kind == SMMA_NAN) p.significand = a.kind == SMMA_NAN || b.kind == SMMA_NAN;
  return p;
}

/* Handles infinities and NaN among products and c (the last of `count` terms): stores the result in `d` and returns
   true if there are any. Precedence: NaN of a factor, then a NaN that the products make, then NaN of c, then
   infinities. */
SMMA_CORE bool smma_c_fdpa_special(smma_encoding f, smma_nan_policy nan, const smma_number *term, int count,
                                   uint64_t *d) {
  const smma_number c = term[count - 1], products = smma_special_sum(term, count - 1);
  const smma_number all = smma_special_sum(term, count);
  int i;
  if (all.kind == SMMA_FINITE) return false;
  *d = smma_encode_special(f, all, nan);
  if (!smma_marks_nan(nan)) return true;
  for (i = 0; i < count - 1; i++)
    if (term[i].kind == SMMA_NAN && term[i].significand) *d = smma_marked_nan(f);
  if (products.kind != SMMA_NAN && c.kind == SMMA_NAN) *d = smma_quieted(f, c);
  return true;
}

/* ---- Subnormals ---- */

/* Returns how C-FDPA treats subnormals of a format: it flushes them to zeros of the same sign in formats with the
   exponent range of FP32, and keeps them in others. */
SMMA_CORE smma_subnormal_policy smma_c_fdpa_subnormals(smma_format format) {
  return smma_minimum_exponent(smma_encoding_of(format)) == smma_minimum_exponent(smma_encoding_of(SMMA_F32))
             ? SMMA_SUBNORMALS_TO_SIGNED_ZERO
             : SMMA_SUBNORMALS_KEPT;
}

/* ---- Alignment ---- */

/* Returns the greatest exponent of the nonzero products, or SMMA_NO_EXPONENT if there are none. */
SMMA_CORE int smma_c_fdpa_greatest_exponent(const smma_number *product, int count) {
  int e = SMMA_NO_EXPONENT, i;
  for (i = 0; i < count; i++)
    if (product[i].kind == SMMA_FINITE) e = smma_maximum(e, product[i].exponent);
  return e;
}

/* Returns the exponent of the leading bit of c, at least the output's minimum exponent. Zero has that minimum. */
SMMA_CORE int smma_c_fdpa_exponent_of_c(const smma_c_fdpa *p, smma_number c) {
  const int least = smma_minimum_exponent(smma_encoding_of(p->output));
  if (c.kind == SMMA_ZERO) return least;
  return smma_maximum(smma_bit_length(c.significand) - 1 + c.exponent - c.fraction_bits, least);
}

/* ---- The output ---- */

/* Reports whether |sum| * 2^unit, rounded to 24 bits with an unbounded exponent, is below FP32's least normal
   number. */
SMMA_CORE bool smma_is_tiny_in_f32(uint64_t sum, int unit) {
  const smma_encoding f32 = smma_encoding_of(SMMA_F32);
  const int lead = smma_bit_length(sum) - 1;
  const uint64_t scaled = smma_encode(f32, false, sum, -lead, false, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
  return smma_decode(f32, scaled).exponent + lead + unit < smma_minimum_exponent(f32);
}

/* Rounds sum * 2^unit to nearest even; BF16 results are the upper half of the FP32 result. Results that round to
   zero are +0. With `flushes`, subnormal results become +0, too. */
SMMA_CORE uint64_t smma_c_fdpa_round(const smma_c_fdpa *p, bool negative, uint64_t sum, int unit, bool flushes) {
  const bool halved = p->output == SMMA_BF16;
  const smma_encoding f = smma_encoding_of(halved ? SMMA_F32 : p->output);
  uint64_t d;
  if (sum == 0 || (flushes && smma_is_tiny_in_f32(sum, unit))) return 0;
  d = smma_encode(f, negative, sum, unit, false, SMMA_ROUND_NEAREST_EVEN,
                  p->overflow == SMMA_SUM_SATURATES ? SMMA_OVERFLOW_SATURATE : SMMA_OVERFLOW_INFINITY);
  if (smma_decode(f, d).kind == SMMA_ZERO) return 0;
  return halved ? d >> 16 : d;
}

/* ---- C-FDPA ---- */

/* Returns a term in units of 2^unit, relative to the sign of c. A term of the opposite sign enters as the complement of
   its magnitude's bits, one unit below its negation; a zero of the opposite sign enters as -1 unit. */
SMMA_CORE int64_t smma_complement_term(smma_number x, int unit, bool negative_c) {
  const bool opposes = (x.negative != 0) != negative_c;
  x.negative = 0;
  return opposes ? ~smma_align(x, unit, 0) : smma_align(x, unit, 0);
}

/* Computes one block of C-FDPA from `count` terms: products, then c. Bound: products are below 2^(F + 3) units and c
   below 2^(Fc + 2); with F <= 40, Fc <= 40 and L <= 64 the sum stays below 2^50. */
SMMA_CORE uint64_t smma_c_fdpa_sum(const smma_c_fdpa *p, smma_nan_policy nan, const smma_number *term, int count) {
  const smma_encoding f = smma_encoding_of(p->output);
  const smma_number c = term[count - 1];
  const int products = smma_c_fdpa_greatest_exponent(term, count - 1);
  const int unit = smma_maximum(products - p->alignment_bits, smma_c_fdpa_exponent_of_c(p, c) - p->c_bits);
  int64_t sum = 0;
  uint64_t d;
  int i;
  if (smma_c_fdpa_special(f, nan, term, count, &d)) return d;
  if (products == SMMA_NO_EXPONENT && c.kind == SMMA_ZERO) return 0;
  for (i = 0; i < count; i++) sum += smma_complement_term(term[i], unit, c.negative);
  return smma_c_fdpa_round(p, (sum < 0) != (c.negative != 0), smma_magnitude(sum), unit,
                           smma_c_fdpa_subnormals(p->output) != SMMA_SUBNORMALS_KEPT);
}

/* ---- GD-FDPA ---- */

/* Returns the sum of a group's products, each rounded down at F bits below their greatest exponent. */
SMMA_CORE smma_number smma_gd_fdpa_group(const smma_c_fdpa *p, const smma_number *product, int count) {
  smma_number sum = smma_zero();
  int64_t total = 0;
  int i;
  sum.exponent = smma_c_fdpa_greatest_exponent(product, count);
  sum.fraction_bits = (int16_t)p->alignment_bits;
  if (sum.exponent == SMMA_NO_EXPONENT) return sum;
  for (i = 0; i < count; i++) total += smma_align_down(product[i], sum.exponent, p->alignment_bits);
  sum.kind = SMMA_FINITE; /* a sum that is zero counts as finite: its exponent takes part in the alignment */
  sum.negative = total < 0;
  sum.significand = smma_magnitude(total);
  return sum;
}

/* Reports whether c is ignored: its leading exponent, or the output's minimum exponent if that is greater, is below
   the unit. */
SMMA_CORE bool smma_gd_fdpa_ignores(const smma_c_fdpa *p, smma_number c, int unit) {
  return smma_c_fdpa_exponent_of_c(p, c) < unit;
}

SMMA_CORE int smma_gd_fdpa_unit(const smma_c_fdpa *p, const smma_number *group, int groups, smma_number c) {
  return smma_maximum(smma_c_fdpa_greatest_exponent(group, groups) - p->alignment_bits,
                      smma_c_fdpa_exponent_of_c(p, c) - p->c_bits);
}

/* Computes one block of GD-FDPA from `count` terms: products, then c. Bound: as for C-FDPA. */
SMMA_CORE uint64_t smma_gd_fdpa_sum(const smma_c_fdpa *p, smma_nan_policy nan, const smma_number *term, int count) {
  const smma_encoding f = smma_encoding_of(p->output);
  const smma_number c = term[count - 1];
  const int length = smma_minimum(p->group, count - 1), groups = (count - 1) / length;
  smma_number group[SMMA_MAXIMUM_K];
  int64_t sum = 0;
  uint64_t d;
  int unit, i;
  if (smma_c_fdpa_special(f, nan, term, count, &d)) return d;
  for (i = 0; i < groups; i++) group[i] = smma_gd_fdpa_group(p, term + i * length, length);
  unit = smma_gd_fdpa_unit(p, group, groups, c);
  for (i = 0; i < groups; i++) sum += smma_align_down(group[i], unit, 0);
  if (!smma_gd_fdpa_ignores(p, c, unit)) sum += smma_align_down(c, unit, 0);
  return smma_c_fdpa_round(p, sum < 0, smma_magnitude(sum), unit, false);
}

#endif
