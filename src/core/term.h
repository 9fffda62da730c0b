/* Terms of a dot-product-add: exact products, special values, alignment. Source: docs/algorithms/README.md. */
#ifndef SMMA_CORE_TERM_H
#define SMMA_CORE_TERM_H

#include "rounding.h"

/* The longest dot product of one instruction whose sums are rounded; the bounds rely on it. Integer sums and
   compositions may have up to SMMA_MAXIMUM_K products (dialect.h). It also bounds the number of scale factors. */
#define SMMA_MAXIMUM_ROUNDED_K 64

/* Which NaN a unit returns. */
typedef enum {
  SMMA_NAN_ALL_ONES,  /* NVIDIA: all bits are set except the sign, 0x7fffffff in FP32 and 0x7fff in FP16 */
  SMMA_NAN_QUIET,     /* payload not known: the format's quiet NaN represents all of them */
  SMMA_NAN_DEFAULT,   /* Arm: always the format's quiet NaN */
  SMMA_NAN_B_SUM_A,   /* NVIDIA's FP64: the first NaN of factor b, the sum and factor a, made quiet; if none of these is
                         NaN, the negative quiet NaN */
  SMMA_NAN_OPERAND,   /* x86: an operand's NaN, made quiet; if no operand is NaN, the negative quiet NaN */
  SMMA_NAN_BY_SOURCE, /* RDNA: if a factor is NaN, the marked NaN; else if the products make a NaN, the negative quiet
                         NaN; else if the accumulator is NaN, that NaN made quiet; else the negative quiet NaN */
  SMMA_NAN_MARKED,    /* RDNA 4, FP8: like SMMA_NAN_BY_SOURCE, with the marked NaN in place of the negative quiet NaN */
  SMMA_NAN_NUMBERS    /* Tenstorrent: there are no infinities and no NaN; their encodings are numbers, too */
} smma_nan_policy;

/* Returns the encoding by which a unit reads and saturates numbers: if the unit has no special values
   (SMMA_NAN_NUMBERS), all encodings are numbers. */
SMMA_CORE smma_encoding smma_readable_encoding(smma_nan_policy policy, smma_encoding f) {
  if (policy == SMMA_NAN_NUMBERS && (f.specials == SMMA_SPECIALS_IEEE || f.specials == SMMA_SPECIALS_ONE_NAN))
    f.specials = SMMA_SPECIALS_FINITE;
  return f;
}

/* Returns a decoded operand as a unit reads it: with SMMA_NAN_NUMBERS, infinities and NaN are finite numbers. */
SMMA_CORE smma_number smma_with_policy(smma_nan_policy policy, smma_number x) {
  if (policy == SMMA_NAN_NUMBERS && x.kind > SMMA_FINITE) x.kind = SMMA_FINITE;
  return x;
}

/* Reports whether a unit returns only one NaN. */
SMMA_CORE bool smma_has_one_nan(smma_nan_policy policy) {
  return policy == SMMA_NAN_ALL_ONES || policy == SMMA_NAN_QUIET || policy == SMMA_NAN_DEFAULT;
}

/* Reports whether a unit distinguishes NaN of factors from NaN of accumulators. */
SMMA_CORE bool smma_marks_nan(smma_nan_policy policy) {
  return policy == SMMA_NAN_BY_SOURCE || policy == SMMA_NAN_MARKED;
}

/* Returns RDNA's NaN for NaN factors: negative and quiet, with the low bits of 0xa3d as payload. */
SMMA_CORE uint64_t smma_marked_nan(smma_encoding f) {
  const uint64_t payload = f.specials == SMMA_SPECIALS_IEEE ? smma_low_bits(0xa3d, f.fraction_bits) : 0;
  return smma_default_nan(f) | smma_sign_and_fields(f, true, payload);
}

/* Returns the NaN of a unit for a NaN result without a NaN operand. */
SMMA_CORE uint64_t smma_nan_of(smma_encoding f, smma_nan_policy policy) {
  if (smma_has_nan_for_negative_zero(f)) return smma_default_nan(f); /* the only one */
  switch (policy) {
    case SMMA_NAN_QUIET:
    case SMMA_NAN_NUMBERS:
    case SMMA_NAN_DEFAULT: return smma_default_nan(f);
    case SMMA_NAN_B_SUM_A:
    case SMMA_NAN_OPERAND:
    case SMMA_NAN_BY_SOURCE: return smma_default_nan(f) | smma_sign_and_fields(f, true, 0);
    case SMMA_NAN_MARKED: return smma_marked_nan(f);
    case SMMA_NAN_ALL_ONES: break;
  }
  return smma_low_bits(~(uint64_t)0, f.exponent_bits + f.fraction_bits + f.ignored_bits);
}

/* Converts a NaN to another format and makes it quiet. Sign and payload are retained, if the format has several NaN;
   the payload is left-aligned. */
SMMA_CORE uint64_t smma_quieted(smma_encoding f, smma_number nan) {
  const uint64_t payload = smma_low_bits(nan.significand, nan.fraction_bits);
  const int wider = f.fraction_bits - nan.fraction_bits;
  if (smma_has_nan_for_negative_zero(f)) return smma_default_nan(f);
  return smma_default_nan(f) | smma_sign_and_fields(f, nan.negative, wider < 0 ? payload >> -wider : payload << wider);
}

/* Returns the exact product, not normalised. Bound: significands of at most 32 bits each (every format except f64). */
SMMA_CORE smma_number smma_product(smma_number a, smma_number b) {
  smma_number p;
  p.significand = a.significand * b.significand;
  p.exponent = a.exponent + b.exponent;
  p.fraction_bits = (int16_t)(a.fraction_bits + b.fraction_bits);
  p.negative = a.negative ^ b.negative;
  if (a.kind > SMMA_FINITE || b.kind > SMMA_FINITE)
    p.kind = a.kind == SMMA_NAN || b.kind == SMMA_NAN || a.kind == SMMA_ZERO || b.kind == SMMA_ZERO ? SMMA_NAN
                                                                                                    : SMMA_INFINITE;
  else
    p.kind = a.kind < b.kind ? a.kind : b.kind;
  return p;
}

/* How a pair of factors becomes a term. */
typedef enum {
  SMMA_PRODUCT_MULTIPLIED, /* the product; for single bits: a AND b */
  SMMA_PRODUCT_XOR         /* for single bits: a XOR b */
} smma_product_kind;

/* Returns the term of a pair of factors, of any kind. a xor b has the exponent of the product. */
SMMA_CORE smma_number smma_product_of_kind(smma_product_kind kind, smma_number a, smma_number b) {
  smma_number x = smma_product(a, b);
  if (kind == SMMA_PRODUCT_MULTIPLIED) return x;
  x.significand = a.significand ^ b.significand;
  x.kind = x.significand ? SMMA_FINITE : SMMA_ZERO;
  return x;
}

/* Returns the kind of the sum of special terms: NaN if a term is NaN or there are infinities of both signs, else
   infinity if a term is infinite, else SMMA_FINITE. */
SMMA_CORE smma_number smma_special_sum(const smma_number *term, int count) {
  smma_number sum = smma_zero();
  int i;
  sum.kind = SMMA_FINITE;
  for (i = 0; i < count; i++) {
    if (term[i].kind <= SMMA_FINITE) continue;
    if (term[i].kind == SMMA_NAN || (sum.kind == SMMA_INFINITE && sum.negative != term[i].negative)) {
      sum.kind = SMMA_NAN;
      return sum;
    }
    sum = term[i];
  }
  return sum;
}

SMMA_CORE uint64_t smma_encode_special(smma_encoding f, smma_number x, smma_nan_policy nan) {
  return x.kind == SMMA_NAN ? smma_nan_of(f, nan) : smma_overflowed(f, x.negative, SMMA_OVERFLOW_INFINITY);
}

/* An exponent below that of every term; it has no effect on a maximum. */
#define SMMA_NO_EXPONENT (-100000)

/* Returns x as an integer multiple of 2^(emax - bits), truncated toward zero. Bound: |x| 2^(bits - emax) < 2^63. It
   holds for every unit here: x.exponent <= emax, the significand is below 4 (16 with scale factors, 2^12 for a group
   sum of GST-FDPA), and bits <= 51 (GST-FDPA: 45). */
SMMA_CORE int64_t smma_align(smma_number x, int emax, int bits) {
  int shift = emax - bits - (x.exponent - x.fraction_bits);
  uint64_t kept = shift >= 0 ? smma_shift_right(x.significand, shift) : smma_shift_left(x.significand, -shift);
  return x.negative ? -(int64_t)kept : (int64_t)kept;
}

/* Like smma_align, but rounds down (toward minus infinity). */
SMMA_CORE int64_t smma_align_down(smma_number x, int emax, int bits) {
  int shift = emax - bits - (x.exponent - x.fraction_bits);
  int64_t significand = x.negative ? -(int64_t)x.significand : (int64_t)x.significand;
  return shift >= 0 ? smma_shift_down(significand, shift) : smma_align(x, emax, bits);
}

/* Rounds sum * 2^exponent once; an exact zero gives +0. */
SMMA_CORE uint64_t smma_encode_sum(smma_encoding f, int64_t sum, int exponent, smma_rounding direction) {
  return smma_encode(f, sum < 0, smma_magnitude(sum), exponent, false, direction, SMMA_OVERFLOW_INFINITY);
}

#endif
