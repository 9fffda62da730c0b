/* Lemmas on which `equal` rests. */
#include "equal/form.c"
#include "lemma.h"

/* Alignment is exact if even the greatest exponent, or that of zeros, leaves the last bit of every term. */
LEMMA(exact_alignment)(uint64_t significand, int exponent, int emax, int bits, int last) {
  enum { FRACTION = 20 }; /* only the exponent of the last bit matters */
  const smma_number x = {significand, exponent, FRACTION, SMMA_FINITE, 0};
  ASSUME(exponent > -2000 && exponent <= emax && emax < 2000 && last < 2000 && last > -2000);
  ASSUME(bits >= 0 && bits <= SMMA_MOST_ALIGNMENT_BITS && significand >> (FRACTION + 4) == 0);
  const int unit = exponent - FRACTION, shift = emax - bits - unit;
  ASSUME(emax - bits <= last);
  ASSUME(last <= unit || smma_low_bits(significand, last - unit) == 0); /* a multiple of 2^last */
  const uint64_t aligned = (uint64_t)smma_align(x, emax, bits);
  if (shift <= 0) return aligned >> -shift == significand;
  return shift < 64 ? aligned << shift == significand : significand == 0;
}

/* Sums that only grow end at the same value wherever they are clamped; sums that wrap may wrap at any time. */
LEMMA(clamps_alike)(int32_t x, uint32_t a, uint32_t b) {
  const smma_integer_overflow clamp = SMMA_INTEGER_SATURATES;
  const int64_t more = a >> 4, again = b >> 4;
  return smma_integer_encode(clamp, (int32_t)smma_integer_encode(clamp, x + more) + again) ==
         smma_integer_encode(clamp, x + more + again);
}

LEMMA(wraps_alike)(int32_t x, int32_t a, int32_t b) {
  const smma_integer_overflow wrap = SMMA_INTEGER_WRAPS;
  return smma_integer_encode(wrap, (int64_t)(int32_t)smma_integer_encode(wrap, (int64_t)x + a) + b) ==
         smma_integer_encode(wrap, (int64_t)x + a + b);
}

/* A format holds multiples of 2^last up to 2^(last + fraction_bits + 1), if its last bit is no higher. */
LEMMA(holds_sums)(int64_t sum, int last, uint8_t direction) {
  const smma_encoding f = smma_encoding_of(SMMA_F32);
  ASSUME(sum >= -((int64_t)1 << 24) && sum <= (int64_t)1 << 24 && sum && last >= -149 && last <= 100);
  ASSUME(direction <= SMMA_ROUND_TO_ODD);
  const smma_number x = smma_decode(f, smma_encode_sum(f, sum, last, (smma_rounding)direction));
  const int shift = x.exponent - x.fraction_bits - last;
  const uint64_t magnitude = smma_magnitude(sum);
  return x.negative == (sum < 0) &&
         (shift >= 0 ? shift < 40 && x.significand << shift == magnitude : magnitude << -shift == x.significand);
}

/* If T-FDPA only adds zeros to a sum, it does not change the sum, provided that F retains all of the sum's bits and the
   exponent of zeros is not greater than the sum's. */
LEMMA(zeros_keep_sums)(uint32_t c, int bits, int zero_exponent) {
  const smma_encoding f = smma_encoding_of(SMMA_F32);
  const smma_t_fdpa p = {bits, 16, zero_exponent, SMMA_F32, SMMA_ROUND_TOWARD_ZERO};
  const smma_number term[2] = {smma_zero(), smma_decode(f, c)};
  ASSUME(bits >= 23 && bits <= SMMA_MOST_ALIGNMENT_BITS && zero_exponent >= -1000);
  ASSUME(zero_exponent <= -126 || (zero_exponent <= 1000 && zero_exponent - bits <= -149));
  ASSUME(term[1].kind <= SMMA_FINITE && c != 0x80000000);
  return smma_t_fdpa_sum(&p, SMMA_NAN_QUIET, term, 2) == c;
}

static inline float as_float(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/* CDNA 2: a sum with products that are multiples of 2^FTZ_LEAST_LAST_BIT is never subnormal before it is flushed. */
static inline bool sum_stays_normal(uint32_t d, uint32_t s, int last) {
  const uint32_t field = s >> 23 & 255, significand = (s & 0x7fffff) | 0x800000;
  const float sum = as_float(d) + as_float(s), magnitude = sum < 0 ? -sum : sum;
  ASSUME(field > 0 && field < 255 && (d >> 23 & 255) < 255 && ((d >> 23 & 255) || (d & 0x7fffffff) == 0));
  const int unit = (int)field - 150;
  ASSUME(unit >= last || (last - unit < 24 && smma_low_bits(significand, last - unit) == 0));
  return magnitude == 0 || magnitude >= 0x1p-126f;
}

LEMMA(flushes_no_sum)(uint32_t d, uint32_t s) { return sum_stays_normal(d, s, FTZ_LEAST_LAST_BIT); }
REFUTED(flushes_no_sum_below)(uint32_t d, uint32_t s) { return sum_stays_normal(d, s, FTZ_LEAST_LAST_BIT - 1); }
