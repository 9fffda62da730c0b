/* Lemmas on src/gemm/lanes: the lanes decode, align and encode as the core does. */
#include "gemm/lanes/fused.h"
#include "lemma.h"

#define DECODES(format)                                                                            \
  LEMMA(lane_decode_##format)(uint32_t code) {                                                     \
    ASSUME(smma_encoding_of(SMMA_##format).bits > 8 || code < 256); /* elements of memory */       \
    const smma_number x = smma_decode(smma_encoding_of(SMMA_##format), code);                      \
    const lane_number y = lane_decode(lane_format_of(SMMA_##format), code);                        \
    if (x.kind != y.kind) return false;                                                            \
    if (x.kind > SMMA_FINITE) return x.kind == SMMA_NAN || x.negative == y.negative;               \
    return x.negative == y.negative && x.significand == y.significand && x.exponent == y.exponent; \
  }
DECODES(F32)
DECODES(TF32)
DECODES(F16)
DECODES(BF16)
DECODES(E5M2)
DECODES(E4M3)
DECODES(E5M2FNUZ)
DECODES(E4M3FNUZ)
DECODES(E3M2)
DECODES(E2M3)
DECODES(E2M1)
DECODES(UE8M0)
DECODES(UE4M3)

LEMMA(lane_leading_bit)(uint64_t x) {
  ASSUME(x >> 63 == 0);
  return x ? lane_leading_bit(x) == smma_bit_length(x) - 1 : lane_leading_bit(x) < 0;
}

LEMMA(lane_shifts)(int64_t x, int32_t n) {
  ASSUME(n >= 0);
  return lane_shift_down(x, n) == smma_shift_down(x, n) &&
         (x < 0 || lane_shift_right((uint64_t)x, n) == smma_shift_right((uint64_t)x, n));
}

/* lane_encode with the leading bit of lane_leading_bit, which the lemma on it gives. */
#define ENCODES(format)                                                                                         \
  LEMMA(lane_encode_##format)(bool negative, uint64_t x, int32_t exponent, uint8_t direction) {                 \
    const lane_output out = lane_output_of(SMMA_##format, SMMA_NAN_QUIET);                                      \
    ASSUME(x >> 62 == 0 && exponent > -5000 && exponent < 5000 && direction <= SMMA_ROUND_NEAREST_AWAY);        \
    return lane_encode(out, (smma_rounding)direction, negative, x, exponent) ==                                 \
           smma_encode(smma_encoding_of(SMMA_##format), negative, x, exponent, false, (smma_rounding)direction, \
                       SMMA_OVERFLOW_INFINITY);                                                                 \
  }
ENCODES(F32)
ENCODES(F16)
ENCODES(BF16)

/* An aligned term of a lane is the term of smma_align: the truncations to F bits and to emax add up. */
LEMMA(lane_align)(uint64_t significand, int32_t exponent, int32_t emax, bool negative, uint8_t bits) {
  enum { FRACTION = 20 }; /* only the exponent of the last bit matters */
  ASSUME(bits <= SMMA_MOST_ALIGNMENT_BITS && exponent <= emax);
  ASSUME(exponent > -5000 && emax < 5000 && significand >> (FRACTION + 2) == 0);
  const smma_number x = {significand, exponent, FRACTION, SMMA_FINITE, negative};
  const uint64_t scaled = lane_scaled(significand, bits - FRACTION);
  const int64_t aligned = (int64_t)lane_shift_right(scaled, emax - exponent);
  return (negative ? -aligned : aligned) == smma_align(x, emax, bits) && scaled >> 63 == 0;
}

LEMMA(lane_widen)(uint8_t code, bool wide) {
  const smma_format format = wide ? SMMA_E5M2 : SMMA_E4M3;
  const smma_number x = smma_decode(smma_encoding_of(format), code), y = smma_widen_to_f16(x);
  const lane_format f = lane_format_of(format);
  const lane_number z = lane_widen_to_f16(f, lane_decode(f, code));
  ASSUME(x.kind <= SMMA_FINITE);
  return y.kind == z.kind &&
         (y.kind == SMMA_ZERO || (z.exponent == y.exponent && z.negative == y.negative &&
                                  (uint64_t)z.significand << (10 - f.fraction_bits) == y.significand));
}

LEMMA(lane_product_kind)(uint8_t x, uint8_t y) {
  const smma_number a = {1, 0, 0, x, 0}, b = {1, 0, 0, y, 0};
  ASSUME(x <= SMMA_NAN && y <= SMMA_NAN);
  return lane_product_kind(x, y) == smma_product(a, b).kind;
}

LEMMA(lane_overflow)(uint16_t x, uint16_t y) {
  const smma_encoding f = smma_encoding_of(SMMA_BF16);
  const smma_number a = smma_decode(f, x), b = smma_decode(f, y);
  smma_number term[2] = {smma_product(a, b), smma_zero()};
  const smma_tr_fdpa p = {.alignment_bits = 24, .revision = 2};
  const lane_term t = {.significand = {lane_scaled(term[0].significand, 24 - 14)},
                       .exponent = {term[0].kind == SMMA_ZERO ? SMMA_NO_EXPONENT : term[0].exponent},
                       .negative = {-term[0].negative}};
  int32_t specials = 0;
  ASSUME(a.kind <= SMMA_FINITE && b.kind <= SMMA_FINITE);
  smma_tr_fdpa_overflow(&p, term, 2);
  lane_overflow(&t, 24, 1, &specials);
  return specials == lane_specials(term[0].kind, term[0].negative);
}

LEMMA(lane_align_products)(int64_t sum, int32_t exponent, int32_t emax, bool first) {
  const smma_tr_fdpa p = {.alignment_bits = 24, .sum_bits = 31, .revision = first ? 1 : 2};
  const smma_partial_sum products = {sum, exponent};
  ASSUME(sum > -((int64_t)1 << 30) && sum < (int64_t)1 << 30 && exponent <= emax);
  ASSUME(exponent > -200000 && emax < 5000);
  return lane_align_products(&p, sum, exponent, emax, p.sum_bits + (p.revision > 1)) ==
         smma_tr_fdpa_align_products(&p, products, emax);
}

LEMMA(lane_finish)(int64_t total, int32_t exponent, bool first) {
  const smma_tr_fdpa p = {.alignment_bits = 24, .sum_bits = 31, .revision = first ? 1 : 2};
  const lane_output out = lane_output_of(SMMA_F32, SMMA_NAN_QUIET);
  const int bits = p.sum_bits + (p.revision > 1);
  ASSUME(total > -((int64_t)1 << 50) && total < (int64_t)1 << 50 && exponent > -5000 && exponent < 5000);
  const uint32_t d = lane_finish_down(&p, out, total, exponent);
  return d == smma_tr_fdpa_finish(&p, total, 0, exponent + bits);
}

/* INTEGER: 256 products of 8 bits, each below 2^16, add up in 32 bits. */
LEMMA(lane_integer)(uint8_t x, uint8_t y, bool signed_x, bool signed_y) {
  const smma_integer_code a = smma_integer_code_of(signed_x ? SMMA_S8 : SMMA_U8);
  const smma_integer_code b = smma_integer_code_of(signed_y ? SMMA_S8 : SMMA_U8);
  const int64_t product = (int64_t)smma_integer_value(a, x) * smma_integer_value(b, y);
  const int64_t magnitude = product < 0 ? -product : product;
  const int exact_x = signed_x ? (int8_t)x : x, exact_y = signed_y ? (int8_t)y : y;
  return product == exact_x * exact_y && magnitude * SMMA_MAXIMUM_K < INT32_MAX;
}
