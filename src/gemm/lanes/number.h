/* Decoding and encoding in SIMD lanes; results are those of smma_decode and smma_encode. The functions use arithmetic
   instead of conditions, because compilers do not vectorise loops with branches, and compile a condition that depends
   on another one to a branch. tests/vector_lanes.sh checks that GCC vectorises all loops over lanes. */
#ifndef SMMA_GEMM_LANES_NUMBER_H
#define SMMA_GEMM_LANES_NUMBER_H

#include "core/rule.h"
#include "gemm/lanes.h"

#define LANE_BODY static inline __attribute__((always_inline))

/* Return x if `is` is 1, and y if it is 0. */
LANE_BODY uint32_t lane_select(uint32_t is, uint32_t x, uint32_t y) { return (x & -is) | (y & (is - 1)); }
LANE_BODY uint64_t lane_select_64(uint64_t is, uint64_t x, uint64_t y) { return (x & -is) | (y & (is - 1)); }

/* Constants for decoding a format of at most 32 bits. */
typedef struct {
  uint32_t fields, fraction; /* masks of the exponent and fraction fields together, and of the fraction field */
  uint32_t ignored_bits, fraction_bits;
  uint32_t sign_at;     /* position of the sign bit */
  uint32_t sign;        /* 1; or 0 if the format has no sign bit */
  uint32_t least_field; /* the least exponent field of numbers with a leading one: 0 or 1 */
  uint32_t infinity;    /* the fields of infinity; all ones if the format has none */
  uint32_t nan_above;   /* greater fields are NaN */
  uint32_t nan_code;    /* the code of -0 in formats in which it is NaN; otherwise a code that never occurs */
  int32_t bias;
} lane_format;

LANE_BODY lane_format lane_format_of(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const uint32_t largest = (uint32_t)smma_largest_fields(f), none = ~UINT32_C(0);
  lane_format r = {.fraction_bits = (uint32_t)f.fraction_bits, .bias = f.bias};
  r.ignored_bits = (uint32_t)f.ignored_bits;
  r.fields = (uint32_t)smma_low_bits(none, f.exponent_bits + f.fraction_bits);
  r.fraction = (uint32_t)smma_low_bits(none, f.fraction_bits);
  r.sign_at = (uint32_t)(f.exponent_bits + f.fraction_bits) & 31;
  r.sign = (uint32_t)f.sign_bits;
  r.least_field = f.specials != SMMA_SPECIALS_POWERS_OF_TWO;
  r.infinity = smma_has_infinity(f) ? largest + 1 : none;
  r.nan_above = smma_has_infinity(f) ? largest + 1 : largest;
  r.nan_code = smma_has_nan_for_negative_zero(f) ? UINT32_C(1) << r.sign_at : none;
  return r;
}

/* The members of smma_number, for one lane. `kind` is an smma_kind; `negative` is 0 or 1. */
typedef struct {
  uint32_t significand, negative;
  int32_t exponent, kind;
} lane_number;

LANE_BODY lane_number lane_decode(lane_format f, uint32_t code) {
  const uint32_t shifted = code >> f.ignored_bits, fields = shifted & f.fields, field = fields >> f.fraction_bits;
  const uint32_t leading = field >= f.least_field;
  lane_number x;
  x.negative = shifted >> f.sign_at & f.sign;
  x.significand = (fields & f.fraction) | leading << f.fraction_bits;
  x.exponent = (int32_t)(field + 1 - leading) - f.bias; /* without a leading one, the field is 0, which means 1 */
  const uint32_t infinite = fields == f.infinity, nan = (fields > f.nan_above) | (shifted == f.nan_code);
  x.kind = (int32_t)(((x.significand != 0) & ~infinite) * SMMA_FINITE | infinite * SMMA_INFINITE | nan * SMMA_NAN);
  return x;
}

LANE_BODY int32_t lane_maximum(int32_t x, int32_t y) { return x > y ? x : y; }
LANE_BODY int32_t lane_minimum(int32_t x, int32_t y) { return x < y ? x : y; }

/* Returns the kind of the product of factors of kinds x and y. It is read from a table with two bits for each pair. */
LANE_BODY int32_t lane_product_kind(int32_t x, int32_t y) {
#define KIND(x, y, product) (uint32_t)(product) << (8 * (x) + 2 * (y))
#define KINDS(x, zero, finite, infinite, nan) \
  (KIND(x, SMMA_ZERO, zero) | KIND(x, SMMA_FINITE, finite) | KIND(x, SMMA_INFINITE, infinite) | KIND(x, SMMA_NAN, nan))
  const uint32_t kinds = KINDS(SMMA_ZERO, SMMA_ZERO, SMMA_ZERO, SMMA_NAN, SMMA_NAN) |
                         KINDS(SMMA_FINITE, SMMA_ZERO, SMMA_FINITE, SMMA_INFINITE, SMMA_NAN) |
                         KINDS(SMMA_INFINITE, SMMA_NAN, SMMA_INFINITE, SMMA_INFINITE, SMMA_NAN) |
                         KINDS(SMMA_NAN, SMMA_NAN, SMMA_NAN, SMMA_NAN, SMMA_NAN);
#undef KINDS
#undef KIND
  return (int32_t)(kinds >> (8 * x + 2 * y) & 3);
}

/* Infinities and NaN among the terms of a sum, as a bit mask. */
enum { HAS_NAN = 1, HAS_INFINITY = 2, HAS_NEGATIVE_INFINITY = 4 };

/* Returns the mask for one term of this kind and sign. */
LANE_BODY int32_t lane_specials(int32_t kind, uint32_t negative) {
  return (kind == SMMA_NAN) | (int32_t)((uint32_t)(kind == SMMA_INFINITE) << (1 + negative));
}

/* Return x * 2^-n for n >= 0 and x < 2^63: lane_shift_right truncates, lane_shift_down rounds down. */
LANE_BODY uint64_t lane_shift_right(uint64_t x, int32_t n) { return x >> (uint64_t)(n < 63 ? n : 63); }
LANE_BODY int64_t lane_shift_down(int64_t x, int32_t n) { return x >> (int64_t)(n < 63 ? n : 63); }

/* Returns x, or -x if `negative` is 1. */
LANE_BODY int64_t lane_signed(int64_t x, uint32_t negative) { return (x ^ -(int64_t)negative) + negative; }
LANE_BODY uint64_t lane_magnitude(int64_t x) { return (uint64_t)(x < 0 ? -x : x); }

LANE_BODY double lane_double(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Returns the exponent of the leading bit of x < 2^63 (for 0 a negative number), from the exponent field of x as a
   double. The upper and lower halves are converted as fractions of 2^84 and 2^52. The bit after the leading one is
   cleared, so that no rounding reaches the next power of two. */
LANE_BODY int32_t lane_leading_bit(uint64_t x) {
  const uint64_t y = x & ~(x >> 1);
  const double high = lane_double(y >> 32 | UINT64_C(0x453) << 52) - 0x1p84;
  const double sum = high + (lane_double((y & 0xffffffff) | UINT64_C(0x433) << 52) - 0x1p52);
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  return (int32_t)(bits >> 52) - 1023;
}

/* Constants for encoding results in an IEEE format. */
typedef struct {
  int32_t fraction_bits;
  int32_t least;         /* the least exponent of normal numbers */
  uint32_t ignored_bits; /* low bits of an encoding that the format does not use */
  uint32_t sign, nan;    /* the sign bit, and the rule's NaN */
  uint32_t infinity;     /* the fields of infinity, without ignored bits */
} lane_output;

LANE_BODY lane_output lane_output_of(smma_format format, smma_nan_policy nan) {
  const smma_encoding f = smma_encoding_of(format);
  lane_output r = {.fraction_bits = f.fraction_bits, .least = 1 - f.bias, .nan = (uint32_t)smma_nan_of(f, nan)};
  r.ignored_bits = (uint32_t)f.ignored_bits;
  r.sign = UINT32_C(1) << (f.exponent_bits + f.fraction_bits + f.ignored_bits);
  r.infinity = (uint32_t)smma_largest_fields(f) + 1;
  return r;
}

/* The rounded number kept * 2^last. */
typedef struct {
  uint64_t kept;
  int32_t last; /* the exponent of the last bit */
  int32_t top;  /* the exponent of the leading bit before rounding, at least the format's least exponent */
} lane_rounded;

/* Rounds x * 2^exponent to `fraction_bits` fraction bits, or to fewer if its exponent is below `least`. Bound: x <
   2^62. `negative` is 0 or 1. All lanes have the same rounding direction. */
LANE_BODY lane_rounded lane_round(int32_t fraction_bits, int32_t least, smma_rounding direction, int64_t negative,
                                  uint64_t x, int32_t exponent) {
  lane_rounded r;
  r.top = lane_maximum(exponent + lane_leading_bit(x), least);
  r.last = r.top - fraction_bits;
  const int32_t shift = r.last - exponent, right = lane_minimum(lane_maximum(shift, 0), 63);
  const uint64_t kept = x >> (uint64_t)right, to_half = (uint64_t)lane_maximum(right - 1, 0), halves = x >> to_half;
  const uint64_t half = halves & (right > 0), rest = halves << to_half != x;
  const uint64_t away = direction == SMMA_ROUND_DOWN ? (uint64_t)negative : (uint64_t)negative ^ 1;
  const uint64_t even = half & (rest | kept) & (direction == SMMA_ROUND_NEAREST_EVEN);
  const uint64_t from_zero = half & (direction == SMMA_ROUND_NEAREST_AWAY);
  const uint64_t directed = (half | rest) & away & (direction == SMMA_ROUND_DOWN || direction == SMMA_ROUND_UP);
  r.kept = kept + (even | from_zero | directed);
  r.kept <<= (uint64_t)lane_maximum(-shift, 0) & 63;
  return r;
}

/* Encodes x * 2^exponent, negated if `negative`, as smma_encode does. Overflow becomes infinity. Bound: x < 2^62. */
LANE_BODY uint32_t lane_encode(lane_output f, smma_rounding direction, int64_t negative, uint64_t x, int32_t exponent) {
  const lane_rounded r = lane_round(f.fraction_bits, f.least, direction, negative, x, exponent);
  const uint64_t fields = ((uint64_t)(r.top - f.least) << f.fraction_bits) + r.kept;
  const uint32_t finite = (uint32_t)(fields < f.infinity ? fields : f.infinity) << f.ignored_bits;
  return (finite & -(uint32_t)(x != 0)) | (f.sign & -(uint32_t)negative);
}

LANE_BODY uint32_t lane_encode_sum(lane_output f, smma_rounding direction, int64_t sum, int32_t exponent) {
  return lane_encode(f, direction, sum < 0, lane_magnitude(sum), exponent);
}

/* Replaces -0 by +0, as T-FDPA does in finite results. */
LANE_BODY uint32_t lane_positive_zero(lane_output f, uint32_t finite) { return finite == f.sign ? 0 : finite; }

/* Returns the finite result, or the infinity or NaN that the special terms make. */
LANE_BODY uint32_t lane_with_specials(lane_output f, int32_t specials, uint32_t finite) {
  const uint32_t infinity = f.infinity << f.ignored_bits;
  const uint32_t other = lane_select(specials == HAS_NEGATIVE_INFINITY, infinity | f.sign, f.nan);
  return lane_select(specials != 0, lane_select(specials == HAS_INFINITY, infinity, other), finite);
}

/* Converts an encoding to another format, rounded to nearest even. */
LANE_BODY uint32_t lane_convert(lane_format from, lane_output to, uint32_t code) {
  const lane_number x = lane_decode(from, code);
  const uint32_t finite =
      lane_encode(to, SMMA_ROUND_NEAREST_EVEN, x.negative, x.significand, x.exponent - (int32_t)from.fraction_bits);
  return lane_with_specials(to, lane_specials(x.kind, x.negative), finite);
}

#endif
