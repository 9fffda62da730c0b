/* Sequences of FP32 operations that flush subnormals: FTZ-AddMul (CDNA2) and FTZ-FMA (x86 vdpbf16ps).
   Source: docs/algorithms/ftz-addmul.md and ftz-fma.md; GPS in MMA-Sim, section IV-B, Algorithm 3; Intel SDM,
   VDPBF16PS. */
#ifndef SMMA_CORE_FTZ_H
#define SMMA_CORE_FTZ_H

#include "ieee.h"

typedef struct {
  int pairwise; /* P: products summed pairwise before they are added to d; 2 or 4 */
} smma_ftz_addmul;

SMMA_CORE bool smma_is_subnormal(smma_number x) {
  return x.kind == SMMA_FINITE && x.significand >> x.fraction_bits == 0;
}

/* Flushes a subnormal to zero of the same sign. */
SMMA_CORE smma_number smma_flush_signed(smma_number x) {
  if (smma_is_subnormal(x)) {
    x.significand = 0;
    x.kind = SMMA_ZERO;
  }
  return x;
}

/* Flushes a subnormal to +0; -0 also becomes +0. */
SMMA_CORE smma_number smma_flush_positive(smma_number x) {
  x = smma_flush_signed(x);
  if (x.kind == SMMA_ZERO) x.negative = 0;
  return x;
}

/* Flushes a subnormal FP32 encoding to zero of the same sign. */
SMMA_CORE uint64_t smma_flush_f32(uint64_t x) { return (x & 0x7f800000) ? x : x & 0x80000000; }

SMMA_CORE uint64_t smma_ftz_multiply(smma_number a, smma_number b) {
  smma_encoding f32 = smma_encoding_of(SMMA_F32);
  smma_number p = smma_product(smma_flush_positive(a), smma_flush_positive(b));
  if (p.kind > SMMA_FINITE) return smma_encode_special(f32, p, SMMA_NAN_QUIET);
  return smma_flush_f32(smma_encode(f32, p.negative, p.significand, p.exponent - p.fraction_bits, false,
                                    SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY));
}

SMMA_CORE uint64_t smma_ftz_add(uint64_t x, uint64_t y) {
  return smma_flush_f32(smma_ieee_add(smma_encoding_of(SMMA_F32), SMMA_NAN_QUIET, x, y));
}

/* Returns the pairwise sum of the P products that start at a and b. */
SMMA_CORE uint64_t smma_ftz_pairwise_sum(const smma_ftz_addmul *p, const smma_number *a, const smma_number *b) {
  uint64_t s = smma_ftz_add(smma_ftz_multiply(a[0], b[0]), smma_ftz_multiply(a[1], b[1]));
  if (p->pairwise == 4) s = smma_ftz_add(s, smma_ftz_add(smma_ftz_multiply(a[2], b[2]), smma_ftz_multiply(a[3], b[3])));
  return s;
}

/* Returns c as FTZ-AddMul reads it: subnormals and -0 become +0. */
SMMA_CORE uint64_t smma_ftz_addmul_start(uint64_t c) { return c & 0x7f800000 ? c : 0; }

SMMA_CORE uint64_t smma_ftz_addmul_dot(const smma_ftz_addmul *p, const smma_number *a, const smma_number *b, int k,
                                       uint64_t c) {
  uint64_t d = smma_ftz_addmul_start(c);
  int i;
  for (i = 0; i < k; i += p->pairwise) d = smma_ftz_add(d, smma_ftz_pairwise_sum(p, a + i, b + i));
  return d;
}

/* Returns FP32 without a minimum exponent: x86 decides whether a result is subnormal after rounding it to 24 bits in
   this format. */
SMMA_CORE smma_encoding smma_f32_unbounded(void) {
  smma_encoding f = smma_encoding_of(SMMA_F64);
  f.fraction_bits = 23;
  f.bits = 1 + f.exponent_bits + f.fraction_bits;
  return f;
}

/* Computes one fused multiply-add. Subnormal operands and results become zeros of the same sign. A NaN result is the
   first NaN of a, b and c (recorded, docs/algorithms/ftz-fma.md). */
SMMA_CORE uint64_t smma_ftz_fma(smma_number a, smma_number b, uint64_t c) {
  smma_encoding f32 = smma_encoding_of(SMMA_F32), unbounded = smma_f32_unbounded();
  smma_number addend = smma_decode(f32, smma_flush_f32(c)), d;
  if (a.kind == SMMA_NAN) return smma_quieted(f32, a);
  if (b.kind == SMMA_NAN) return smma_quieted(f32, b);
  if (addend.kind == SMMA_NAN) return smma_quieted(f32, addend);
  d = smma_decode(unbounded,
                  smma_ieee_fma(unbounded, SMMA_NAN_QUIET, smma_flush_signed(a), smma_flush_signed(b), addend));
  if (d.kind == SMMA_NAN) return smma_nan_of(f32, SMMA_NAN_OPERAND);
  if (d.kind == SMMA_FINITE && d.exponent < smma_minimum_exponent(f32)) d.significand = 0;
  return smma_encode_number(f32, d, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

/* Returns c plus the products, which are added in order of descending k. */
SMMA_CORE uint64_t smma_ftz_fma_dot(const smma_number *a, const smma_number *b, int k, uint64_t c) {
  uint64_t d = c;
  int i;
  for (i = k - 1; i >= 0; i--) d = smma_ftz_fma(a[i], b[i], d);
  return d;
}

#endif
