/* Lemmas on src/core: shifts, rounding, alignment and sums. */
#include "core/rule.h"
#include "lemma.h"

typedef unsigned __int128 u128;
typedef __int128 s128;

static inline u128 joined(smma_bits128 x) { return (u128)x.high << 64 | x.low; }

/* ---- Shifts ---- */

LEMMA(shift_right)(uint64_t x, int n) {
  ASSUME(n >= 0);
  return smma_shift_right(x, n) == (n < 64 ? x >> n : 0) && smma_shift_left(x, n) == (n < 64 ? x << n : 0) &&
         smma_low_bits(x, n) == (n < 64 ? x - (x >> n << n) : x);
}

LEMMA(shift_down)(int64_t x, int n) {
  ASSUME(n >= 0);
  return smma_shift_down(x, n) == x >> (n < 63 ? n : 63);
}

LEMMA(bit_length)(uint64_t x, int n) {
  ASSUME(n >= 0 && n < 64);
  return smma_bit_length(x) <= n == (x >> n == 0);
}

LEMMA(shifts_of_128_bits)(uint64_t high, uint64_t low, int n) {
  const smma_bits128 x = {high, low};
  const u128 whole = joined(x);
  ASSUME(n >= 0);
  const u128 kept = n < 128 ? whole >> n : 0, lost = n < 128 ? whole - (kept << n) : whole;
  return joined(smma_shift_right_bits128(x, n)) == kept && smma_has_low_bits128(x, n) == (lost != 0) &&
         joined(smma_shift_right_jam_bits128(x, n)) == (kept | (lost != 0)) &&
         (n > 127 || joined(smma_shift_left_bits128(x, n)) == whole << n);
}

LEMMA(sums_of_128_bits)(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  const smma_bits128 x = {a, b}, y = {c, d};
  return joined(smma_add_bits128(x, y)) == joined(x) + joined(y) &&
         joined(smma_subtract_bits128(x, y)) == joined(x) - joined(y) &&
         smma_less_bits128(x, y) == (joined(x) < joined(y));
}

/* ---- Rounding ---- */

/* A value in quarters of the last place of a number: whole + t, with 0 < t < 1 if `tail`. */
typedef struct {
  u128 whole;
  bool tail, is_great;
} quarters;

static inline quarters quarters_of(uint64_t x, bool sticky, int exponent, int unit) {
  const int shift = exponent - (unit - 2);
  quarters v = {0, sticky, shift > 63 && x};
  if (shift >= 0)
    v.whole = shift < 64 ? (u128)x << shift : 0;
  else
    v.whole = smma_shift_right(x, -shift), v.tail = sticky || smma_low_bits(x, -shift) != 0;
  return v;
}

static inline bool is_below(quarters v, u128 limit) { return !v.is_great && v.whole < limit; }
static inline bool is_at(quarters v, u128 limit) { return !v.is_great && !v.tail && v.whole == limit; }
static inline bool is_at_most(quarters v, u128 limit) { return is_below(v, limit) || is_at(v, limit); }

/* Reports whether the value v, in quarters of r's last bit, may round to the number r of the format. To nearest: v lies
   at most half way to either neighbour of r; at exactly half way r must be even, or the neighbour away from or toward
   zero that the mode prefers. Directed: v lies between r and the neighbour on the other side. */
static inline bool may_round_to(smma_encoding f, smma_number r, bool negative, quarters v, smma_rounding direction,
                                bool is_greatest) {
  const u128 at = (u128)r.significand << 2;
  const bool is_power = r.significand == (uint64_t)1 << f.fraction_bits && r.exponent > smma_minimum_exponent(f);
  const u128 down = is_power ? 2 : 4; /* distance to the neighbour below */
  const bool even = !(r.significand & 1), from_zero = direction == (negative ? SMMA_ROUND_DOWN : SMMA_ROUND_UP);
  const bool lower_tie = at >= down && is_at(v, at - down / 2), upper_tie = is_at(v, at + 2);
  const bool above_lower = at < down || !is_at_most(v, at - down / 2), below_upper = is_below(v, at + 2) || is_greatest;
  switch (direction) {
    case SMMA_ROUND_NEAREST_EVEN: return (above_lower || (lower_tie && even)) && (below_upper || (upper_tie && even));
    case SMMA_ROUND_NEAREST_AWAY: return (above_lower || lower_tie) && below_upper;
    case SMMA_ROUND_NEAREST_ZERO: return above_lower && (below_upper || upper_tie);
    case SMMA_ROUND_DOWN:
    case SMMA_ROUND_UP:
      if (from_zero) return (at < down || !is_at_most(v, at - down)) && (is_at_most(v, at) || is_greatest);
      break;
    case SMMA_ROUND_TO_ODD:
      if (is_at(v, at)) return true;
      if (r.significand & 1) return (at < down || !is_at_most(v, at - down)) && (is_below(v, at + 4) || is_greatest);
      return is_greatest && !is_below(v, at);
    default: break;
  }
  return !is_below(v, at) && (is_below(v, at + 4) || is_greatest);
}

/* smma_encode rounds every 64-bit significand with every exponent as IEEE 754 defines it, stated by the neighbours of
   the result. A sticky value has fraction_bits + 3 bits. */
static inline bool encodes_well(smma_encoding f, bool negative, uint64_t x, int exponent, bool sticky, int rounding) {
  const smma_rounding direction = (smma_rounding)rounding;
  ASSUME(exponent > -5000 && exponent < 5000);
  ASSUME(direction <= SMMA_ROUND_NEAREST_AWAY || direction == SMMA_ROUND_TO_ODD);
  ASSUME(!sticky || smma_bit_length(x) >= f.fraction_bits + 3);
  const uint64_t d = smma_encode(f, negative, x, exponent, sticky, direction, SMMA_OVERFLOW_SATURATE);
  const smma_number r = smma_decode(f, d);
  const bool is_greatest =
      smma_low_bits(d >> f.ignored_bits, f.exponent_bits + f.fraction_bits) == smma_largest_fields(f);
  if (r.kind > SMMA_FINITE) return false;
  if (x && r.negative != negative && !(d == 0 && smma_has_nan_for_negative_zero(f))) return false;
  return may_round_to(f, r, negative, quarters_of(x, sticky, exponent, r.exponent - r.fraction_bits), direction,
                      is_greatest);
}

#define ENCODES(format)                                                                             \
  LEMMA(encode_##format)(bool negative, uint64_t x, int exponent, bool sticky, uint8_t direction) { \
    return encodes_well(smma_encoding_of(SMMA_##format), negative, x, exponent, sticky, direction); \
  }
ENCODES(F64)
ENCODES(F32)
ENCODES(TF32)
ENCODES(F16)
ENCODES(BF16)
ENCODES(E5M2)
ENCODES(E4M3)
ENCODES(E5M2FNUZ)
ENCODES(E4M3FNUZ)
ENCODES(E3M2)
ENCODES(E2M3)
ENCODES(E2M1)
ENCODES(E8M13)

/* The same for FP32 with the significand of smma_tr_fdpa_round_down. */
LEMMA(encode_of_sums)(bool negative, uint64_t x, int exponent, bool sticky, uint8_t direction) {
  smma_encoding f = smma_encoding_of(SMMA_F32);
  f.fraction_bits = 31;
  f.bits = 1 + f.exponent_bits + f.fraction_bits;
  return encodes_well(f, negative, x, exponent, sticky, direction);
}

/* Overflow: infinity exactly if the magnitude rounds to more than the greatest number. */
static inline bool overflows_well(smma_encoding f, bool negative, uint64_t x, int exponent, int rounding) {
  const smma_rounding direction = (smma_rounding)rounding;
  ASSUME(exponent > -5000 && exponent < 5000);
  ASSUME(direction <= SMMA_ROUND_NEAREST_AWAY || direction == SMMA_ROUND_TO_ODD);
  const uint64_t d = smma_encode(f, negative, x, exponent, false, direction, SMMA_OVERFLOW_INFINITY);
  const uint64_t s = smma_encode(f, negative, x, exponent, false, direction, SMMA_OVERFLOW_SATURATE);
  const smma_number greatest = smma_decode(f, smma_largest_fields(f) << f.ignored_bits);
  const quarters v = quarters_of(x, false, exponent, greatest.exponent - greatest.fraction_bits);
  const u128 at = (u128)greatest.significand << 2;
  const bool from_zero = direction == (negative ? SMMA_ROUND_DOWN : SMMA_ROUND_UP);
  const bool nearest = direction == SMMA_ROUND_NEAREST_EVEN || direction == SMMA_ROUND_NEAREST_AWAY;
  const bool overflows = nearest ? !is_below(v, at + 2) : from_zero ? !is_at_most(v, at) : !is_below(v, at + 4);
  return overflows ? smma_decode(f, d).kind == SMMA_INFINITE : d == s;
}

#define OVERFLOWS(format)                                                                     \
  LEMMA(overflow_##format)(bool negative, uint64_t x, int exponent, uint8_t direction) {      \
    return overflows_well(smma_encoding_of(SMMA_##format), negative, x, exponent, direction); \
  }
OVERFLOWS(F64)
OVERFLOWS(F32)
OVERFLOWS(F16)
OVERFLOWS(BF16)
OVERFLOWS(E5M2)

/* Encoding is monotone, so two bounds that round alike enclose only values that round to the same number. */
LEMMA(encode_is_monotone)(int64_t x, int64_t y, int exponent, uint8_t direction) {
  const smma_encoding f = smma_encoding_of(SMMA_F32);
  ASSUME(x > INT64_MIN && x <= y && exponent > -5000 && exponent < 5000 && direction <= SMMA_ROUND_TO_ODD);
  const uint64_t d = smma_encode_sum(f, x, exponent, direction), e = smma_encode_sum(f, y, exponent, direction);
  return (x < 0 && y >= 0) || ((x < 0) == (y < 0) && (x < 0 ? d >= e : d <= e));
}

/* ---- Alignment ---- */

static inline smma_number number_of(bool negative, uint64_t significand, int exponent, int fraction_bits) {
  const smma_number x = {significand, exponent, (int16_t)fraction_bits, significand ? SMMA_FINITE : SMMA_ZERO,
                         negative};
  return x;
}

LEMMA(align)(bool negative, uint64_t significand, int exponent, int fraction_bits, int emax, int bits, int headroom) {
  const smma_number x = number_of(negative, significand, exponent, fraction_bits);
  ASSUME(exponent >= -10000 && exponent <= emax && emax <= 10000 && fraction_bits >= 0 && bits >= 0);
  ASSUME(fraction_bits <= 62 && bits <= 62 && headroom >= 0 && headroom <= 62);
  ASSUME(fraction_bits + headroom <= 62 && bits + headroom <= 62);
  ASSUME(significand >> (fraction_bits + headroom) == 0);
  const int shift = emax - bits - (exponent - fraction_bits); /* at least -62 */
  const int64_t aligned = smma_align(x, emax, bits);
  const uint64_t magnitude = smma_magnitude(aligned);
  if (magnitude >> (bits + headroom) || (aligned && (aligned < 0) != negative)) return false;
  return shift < 0 ? (u128)magnitude == (u128)significand << -shift
                   : magnitude == (shift < 64 ? significand >> shift : 0);
}

LEMMA(align_down)(bool negative, uint64_t significand, int exponent, int emax, int bits) {
  enum { FRACTION = 40 }; /* only the exponent of the last bit matters */
  ASSUME(exponent >= -10000 && exponent <= emax && emax <= 10000);
  ASSUME(bits >= 0 && bits <= 58 && significand >> (FRACTION + 4) == 0);
  const smma_number x = number_of(negative, significand, exponent, FRACTION);
  const int shift = emax - bits - (exponent - FRACTION);
  const s128 value = negative ? -(s128)significand : (s128)significand;
  return smma_align_down(x, emax, bits) ==
         (shift < 0 ? (s128)((u128)value << -shift) : value >> (shift < 127 ? shift : 127));
}

/* g_fdpa.h: a term with a sticky bit is below 2^(F + 5) half units, also if it is rounded away from zero. */
LEMMA(g_fdpa_align)
(bool negative, uint64_t significand, int exponent, int fraction_bits, int emax, int bits, bool sticky,
 uint8_t direction) {
  const smma_number x = number_of(negative, significand, exponent, fraction_bits);
  ASSUME(exponent >= -10000 && exponent <= emax && emax <= 10000 && fraction_bits >= 0 && fraction_bits <= 58);
  ASSUME(bits >= 0 && bits <= SMMA_MOST_ALIGNMENT_BITS && direction <= SMMA_ROUND_NEAREST_AWAY);
  ASSUME(significand >> (fraction_bits + 4) == 0);
  const smma_g_fdpa p = {.alignment_bits = bits, .sticky_bit = sticky, .alignment_rounding = (smma_rounding)direction};
  const int64_t aligned = smma_g_fdpa_align(&p, x, emax);
  const int shift = emax - bits - (exponent - fraction_bits);
  const uint64_t limit = (uint64_t)1 << (bits + 4 + sticky);
  if (smma_magnitude(aligned) > limit) return false;
  if (shift <= 0) return (u128)smma_magnitude(aligned) == (u128)significand << (sticky - shift);
  const uint64_t kept = shift < 64 ? significand >> shift : 0, lost = smma_low_bits(significand, shift);
  const uint64_t magnitude = smma_magnitude(aligned);
  if (sticky) return magnitude == (kept << 1 | (lost != 0));
  return magnitude == kept || (lost && magnitude == kept + 1 && direction != SMMA_ROUND_TOWARD_ZERO);
}

/* C-FDPA adds a term of the opposite sign as the complement of its bits: one unit less, also for zero. */
LEMMA(complement)(bool negative, uint64_t significand, int exponent, int unit, bool negative_c) {
  const smma_number x = number_of(negative, significand, exponent, 30);
  ASSUME(significand >> 50 == 0 && exponent >= -5000 && exponent <= 5000 && unit >= -5000 && unit <= 5000);
  const int shift = unit - (exponent - 30);
  ASSUME(shift >= -12);
  const int64_t magnitude = (int64_t)(shift > 63 ? 0 : shift > 0 ? significand >> shift : significand << -shift);
  return smma_complement_term(x, unit, negative_c) == (negative == negative_c ? magnitude : -magnitude - 1);
}
