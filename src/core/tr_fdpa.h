/* TR-FDPA and GTR-FDPA (CDNA3): the products are aligned and truncated, and their sum is added to c with rounding
   down. Source: docs/algorithms/tr-fdpa.md and gtr-fdpa.md; FDRDA and GFDRDA in MMA-Sim, section IV-F to I. */
#ifndef SMMA_CORE_TR_FDPA_H
#define SMMA_CORE_TR_FDPA_H

#include "term.h"

typedef struct {
  int alignment_bits; /* F: fraction bits of aligned products, and of c */
  int sum_bits;       /* F2: fraction bits of the sum of products, and of the total */
  int block;          /* L: products in one fused sum */
  int revision; /* 1: the first published form, which has no final rounding down, and in which infinite operands take
                   precedence over products that overflow; 2: the later form */
} smma_tr_fdpa;

/* The fixed-point number sum * 2^(exponent - F). */
typedef struct {
  int64_t sum;
  int exponent;
} smma_partial_sum;

/* Turns products of magnitude 2^128 or more into infinities; c is the last term and stays. In revision 1 this happens
   only if no term is infinite or NaN, because the first step of that revision handles infinities and NaN. */
SMMA_CORE void smma_tr_fdpa_overflow(const smma_tr_fdpa *p, smma_number *term, int count) {
  int i;
  if (p->revision == 1 && smma_special_sum(term, count).kind != SMMA_FINITE) return;
  for (i = 0; i < count - 1; i++)
    if (term[i].kind == SMMA_FINITE &&
        smma_bit_length(term[i].significand) - 1 + term[i].exponent - term[i].fraction_bits >= 128)
      term[i].kind = SMMA_INFINITE;
}

/* Adds every `stride`-th product, truncated at `bits` below the greatest exponent of these products. Zeros are left
   out; if all are zero, the sum is 0 with SMMA_NO_EXPONENT. */
SMMA_CORE smma_partial_sum smma_truncated_sum(const smma_number *product, int count, int stride, int bits) {
  smma_partial_sum r = {0, SMMA_NO_EXPONENT};
  int i;
  for (i = 0; i < count; i += stride)
    if (product[i].kind == SMMA_FINITE) r.exponent = smma_maximum(r.exponent, product[i].exponent);
  for (i = 0; i < count; i += stride)
    if (product[i].kind == SMMA_FINITE) r.sum += smma_align(product[i], r.exponent, bits);
  return r;
}

/* Rounds both sums down at F bits below the greater exponent, and adds them. */
SMMA_CORE smma_partial_sum smma_join_down(smma_partial_sum x, smma_partial_sum y) {
  smma_partial_sum r;
  r.exponent = smma_maximum(x.exponent, y.exponent);
  r.sum = smma_shift_down(x.sum, r.exponent - x.exponent) + smma_shift_down(y.sum, r.exponent - y.exponent);
  return r;
}

/* Returns the common exponent for adding the sum of products and c. A zero c brings the least subnormal's exponent. */
SMMA_CORE int smma_tr_fdpa_exponent(smma_partial_sum products, smma_number c) {
  return smma_maximum(products.exponent, c.exponent);
}

/* Returns the sum of products rounded down at F2 + 1 (revision 1: F2) bits below E (`emax`). Bound: |products.sum| <
   2^(F + 2 + log2 L) <= 2^30, so 2^38 after the widening shift. Custom units, with F <= 30, F2 <= 40 and L <= 64, stay
   below 2^50. */
SMMA_CORE int64_t smma_tr_fdpa_align_products(const smma_tr_fdpa *p, smma_partial_sum products, int emax) {
  int bits = p->sum_bits + (p->revision > 1);
  int shift = emax - products.exponent - (bits - p->alignment_bits);
  return shift >= 0 ? smma_shift_down(products.sum, shift) : products.sum * ((int64_t)1 << -shift);
}

/* Revision 2: rounds total * 2^exponent down to F2 fraction bits below its own leading bit, with an exponent of at
   least -126. This is a rounding to FP32 with a longer significand. */
SMMA_CORE smma_number smma_tr_fdpa_round_down(const smma_tr_fdpa *p, int64_t total, int exponent) {
  smma_encoding f = smma_encoding_of(SMMA_F32);
  f.fraction_bits = p->sum_bits;
  f.bits = 1 + f.exponent_bits + f.fraction_bits;
  return smma_decode(f, smma_encode_sum(f, total, exponent, SMMA_ROUND_DOWN));
}

/* Adds products and c and rounds to FP32, to nearest even. `products` is a multiple of 2^(emax - F2 - 1) (revision
   1: 2^(emax - F2)), `c` of 2^(emax - F). */
SMMA_CORE uint64_t smma_tr_fdpa_finish(const smma_tr_fdpa *p, int64_t products, int64_t c, int emax) {
  smma_encoding f32 = smma_encoding_of(SMMA_F32);
  int bits = p->sum_bits + (p->revision > 1);
  int64_t total = products + c * ((int64_t)1 << (bits - p->alignment_bits));
  if (p->revision == 1) return smma_encode_sum(f32, total, emax - bits, SMMA_ROUND_NEAREST_EVEN);
  return smma_encode_number(f32, smma_tr_fdpa_round_down(p, total, emax - bits), SMMA_ROUND_NEAREST_EVEN,
                            SMMA_OVERFLOW_INFINITY);
}

/* Handles infinities and NaN among products and c (the last of `count` terms): stores the result in `d` and returns
   true if there are any. */
SMMA_CORE bool smma_tr_fdpa_special(const smma_number *term, int count, smma_nan_policy nan, uint64_t *d) {
  smma_number special = smma_special_sum(term, count);
  if (special.kind == SMMA_FINITE) return false;
  *d = smma_encode_special(smma_encoding_of(SMMA_F32), special, nan);
  return true;
}

/* Computes one block of TR-FDPA from `count` terms (products, then c), after smma_tr_fdpa_overflow. */
SMMA_CORE uint64_t smma_tr_fdpa_sum(const smma_tr_fdpa *p, smma_nan_policy nan, const smma_number *term, int count) {
  smma_number c = term[count - 1];
  smma_partial_sum products;
  uint64_t d;
  int emax;
  if (smma_tr_fdpa_special(term, count, nan, &d)) return d;
  products = smma_truncated_sum(term, count - 1, 1, p->alignment_bits);
  emax = smma_tr_fdpa_exponent(products, c);
  return smma_tr_fdpa_finish(p, smma_tr_fdpa_align_products(p, products, emax),
                             smma_align_down(c, emax, p->alignment_bits), emax);
}

/* Reports whether c is so far below the sum that GTR-FDPA treats it as zero. */
SMMA_CORE bool smma_gtr_fdpa_ignores(const smma_tr_fdpa *p, smma_number c, int emax) {
  return c.exponent < emax - p->alignment_bits - 1;
}

/* Computes one block of GTR-FDPA: products with even k and with odd k are summed separately. */
SMMA_CORE uint64_t smma_gtr_fdpa_sum(const smma_tr_fdpa *p, smma_nan_policy nan, const smma_number *term, int count) {
  smma_number c = term[count - 1];
  smma_partial_sum products;
  int64_t aligned_c;
  uint64_t d;
  int emax;
  if (smma_tr_fdpa_special(term, count, nan, &d)) return d;
  products = smma_join_down(smma_truncated_sum(term, count - 1, 2, p->alignment_bits),
                            smma_truncated_sum(term + 1, count - 2, 2, p->alignment_bits));
  emax = smma_tr_fdpa_exponent(products, c);
  aligned_c = smma_gtr_fdpa_ignores(p, c, emax) ? 0 : smma_align_down(c, emax, p->alignment_bits);
  return smma_tr_fdpa_finish(p, smma_tr_fdpa_align_products(p, products, emax), aligned_c, emax);
}

#endif
