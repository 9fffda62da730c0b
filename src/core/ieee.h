/* IEEE 754 addition, multiplication and fused multiply-add in f16, f32 and f64, rounded to nearest even; the fused
   multiply-add in any rounding direction. Source: IEEE 754-2019, sections 4.3, 5.4.1, 6.3 and 7.4. */
#ifndef SMMA_CORE_IEEE_H
#define SMMA_CORE_IEEE_H

#include "term.h"

/* A finite number with a 128-bit significand: (-1)^negative * significand * 2^exponent. */
typedef struct {
  smma_bits128 significand;
  int exponent;
  bool negative;
} smma_exact;

/* Returns the same value with a significand of `length` bits, which must be at least the present length. Zero remains
   zero; its exponent becomes lower than that of every other number. */
SMMA_CORE smma_exact smma_normalize_exact(smma_exact x, int length) {
  int shift = length - smma_bit_length_bits128(x.significand);
  if (shift == length) {
    x.exponent = -100000;
    return x;
  }
  x.significand = smma_shift_left_bits128(x.significand, shift);
  x.exponent -= shift;
  return x;
}

SMMA_CORE smma_exact smma_exact_product(smma_number a, smma_number b) {
  smma_exact p;
  p.significand = smma_multiply_bits128(a.significand, b.significand);
  p.exponent = a.exponent - a.fraction_bits + b.exponent - b.fraction_bits;
  p.negative = a.negative != b.negative;
  return p;
}

SMMA_CORE smma_exact smma_exact_number(smma_number a) {
  smma_exact x;
  x.significand.high = 0;
  x.significand.low = a.significand;
  x.exponent = a.exponent - a.fraction_bits;
  x.negative = a.negative != 0;
  return x;
}

/* Rounds x to the format f in the given direction. */
SMMA_CORE uint64_t smma_encode_exact_in(smma_encoding f, smma_exact x, smma_rounding direction, smma_overflow policy) {
  x = smma_normalize_exact(x, 127);
  /* The low 64 bits become sticky. The 63 bits above them suffice: smma_encode needs fraction_bits + 3. */
  return smma_encode(f, x.negative, x.significand.high, x.exponent + 64, x.significand.low != 0, direction, policy);
}

/* Rounds x to the format f, to nearest even. */
SMMA_CORE uint64_t smma_encode_exact(smma_encoding f, smma_exact x, smma_overflow policy) {
  return smma_encode_exact_in(f, x, SMMA_ROUND_NEAREST_EVEN, policy);
}

/* Returns x * y, rounded once to nearest even in a format, with that format's default overflow. */
SMMA_CORE uint64_t smma_encode_product(smma_encoding f, smma_number x, smma_number y) {
  const smma_number product = smma_product(x, y);
  if (product.kind > SMMA_FINITE) return smma_encode_number(f, product, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
  return smma_encode_exact(f, smma_exact_product(x, y), SMMA_OVERFLOW_DEFAULT);
}

/* Returns x + y, rounded once. The smaller operand's low bits are jammed (ORed into its last bit) only if the operands'
   exponents are 20 or more apart. Then at most one bit cancels, and jamming below bit 20 of 126 cannot change the
   rounding to 53 bits. A sum of zeros is -0 only if both are -0; when rounding down, unless both are +0. */
SMMA_CORE uint64_t smma_round_exact_sum(smma_encoding f, smma_rounding direction, smma_exact x, smma_exact y) {
  smma_exact sum;
  x = smma_normalize_exact(x, 126); /* leaves room for a carry */
  y = smma_normalize_exact(y, 126);
  if (x.exponent < y.exponent) {
    smma_exact t = x;
    x = y;
    y = t;
  }
  y.significand = smma_shift_right_jam_bits128(y.significand, x.exponent - y.exponent);
  sum = x;
  if (x.negative == y.negative) {
    sum.significand = smma_add_bits128(x.significand, y.significand);
  } else if (smma_less_bits128(x.significand, y.significand)) {
    sum.significand = smma_subtract_bits128(y.significand, x.significand);
    sum.negative = y.negative;
  } else {
    sum.significand = smma_subtract_bits128(x.significand, y.significand);
    if ((sum.significand.high | sum.significand.low) == 0) sum.negative = direction == SMMA_ROUND_DOWN;
  }
  return smma_encode_exact_in(
      f, sum, direction,
      smma_rounds_away_from_infinity(direction, sum.negative) ? SMMA_OVERFLOW_SATURATE : SMMA_OVERFLOW_INFINITY);
}

/* Returns fma(a, b, c) in the format f, rounded in any direction. */
SMMA_CORE uint64_t smma_ieee_fma_in(smma_encoding f, smma_nan_policy nan, smma_rounding direction, smma_number a,
                                    smma_number b, smma_number c) {
  smma_number term[2], special;
  term[0] = smma_product(a, b); /* only its kind and sign are used: the significand may not fit */
  term[1] = c;
  special = smma_special_sum(term, 2);
  if (special.kind != SMMA_FINITE) return smma_encode_special(f, special, nan);
  return smma_round_exact_sum(f, direction, smma_exact_product(a, b), smma_exact_number(c));
}

/* Returns fma(a, b, c), rounded to nearest even. */
SMMA_CORE uint64_t smma_ieee_fma(smma_encoding f, smma_nan_policy nan, smma_number a, smma_number b, smma_number c) {
  return smma_ieee_fma_in(f, nan, SMMA_ROUND_NEAREST_EVEN, a, b, c);
}

/* Returns fma(a, b, sum), rounded in any direction. With SMMA_NAN_B_SUM_A, the first NaN of b, sum and a is returned,
   made quiet. */
SMMA_CORE uint64_t smma_chained_fma(smma_encoding f, smma_nan_policy nan, smma_rounding direction, smma_number a,
                                    smma_number b, smma_number sum) {
  if (nan == SMMA_NAN_B_SUM_A) {
    if (b.kind == SMMA_NAN) return smma_quieted(f, b);
    if (sum.kind == SMMA_NAN) return smma_quieted(f, sum);
    if (a.kind == SMMA_NAN) return smma_quieted(f, a);
  }
  return smma_ieee_fma_in(f, nan, direction, a, b, sum);
}

SMMA_CORE uint64_t smma_ieee_add(smma_encoding f, smma_nan_policy nan, uint64_t x, uint64_t y) {
  smma_number term[2], special;
  term[0] = smma_decode(f, x);
  term[1] = smma_decode(f, y);
  special = smma_special_sum(term, 2);
  if (special.kind != SMMA_FINITE) return smma_encode_special(f, special, nan);
  return smma_round_exact_sum(f, SMMA_ROUND_NEAREST_EVEN, smma_exact_number(term[0]), smma_exact_number(term[1]));
}

SMMA_CORE uint64_t smma_ieee_multiply(smma_encoding f, smma_nan_policy nan, smma_number a, smma_number b) {
  smma_number product = smma_product(a, b);
  if (product.kind > SMMA_FINITE) return smma_encode_special(f, product, nan);
  return smma_encode_exact(f, smma_exact_product(a, b), SMMA_OVERFLOW_INFINITY);
}

#endif
