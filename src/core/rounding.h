/* Rounds an exact value once, to an encoding. Source: docs/algorithms/README.md; IEEE 754-2019, section 4.3; IEEE
   P3109, interim report 4.0, sections 4.7.4 and 4.7.5. */
#ifndef SMMA_CORE_ROUNDING_H
#define SMMA_CORE_ROUNDING_H

#include "format.h"

SMMA_CORE uint64_t smma_sign_and_fields(smma_encoding f, bool negative, uint64_t fields) {
  uint64_t sign = (uint64_t)(negative && f.sign_bits) << (f.exponent_bits + f.fraction_bits);
  if (f.specials == SMMA_SPECIALS_INTEGER) return smma_low_bits(sign ? 0 - fields : fields, f.bits);
  if (fields == 0 && smma_has_nan_for_negative_zero(f)) sign = 0;
  return (sign | fields) << f.ignored_bits;
}

/* Returns the encoding for a magnitude above the greatest finite one. */
SMMA_CORE uint64_t smma_overflowed(smma_encoding f, bool negative, smma_overflow overflow) {
  uint64_t fields = smma_largest_fields(f);
  if (negative && !f.sign_bits) return 0;
  if (f.specials == SMMA_SPECIALS_INTEGER) return smma_sign_and_fields(f, negative, fields + negative);
  if (overflow == SMMA_OVERFLOW_DEFAULT) overflow = f.bits <= 8 ? SMMA_OVERFLOW_SATURATE : SMMA_OVERFLOW_INFINITY;
  if (overflow == SMMA_OVERFLOW_SATURATE || f.specials == SMMA_SPECIALS_FINITE)
    return smma_sign_and_fields(f, negative, fields);
  if (smma_has_nan_for_negative_zero(f) && !smma_has_infinity(f)) return smma_default_nan(f);
  return smma_sign_and_fields(f, negative, fields + 1);
}

/* Reports whether rounding adds one unit to a magnitude. `odd` is its last bit; of the remainder, `half_unit` is the
   bit of weight one half, and `rest` is the OR of all lower bits. */
SMMA_CORE bool smma_rounds_up(smma_rounding direction, bool negative, bool odd, bool half_unit, bool rest) {
  switch (direction) {
    case SMMA_ROUND_NEAREST_EVEN: return half_unit && (rest || odd);
    case SMMA_ROUND_DOWN: return negative && (half_unit || rest);
    case SMMA_ROUND_UP: return !negative && (half_unit || rest);
    case SMMA_ROUND_NEAREST_AWAY: return half_unit;
    case SMMA_ROUND_NEAREST_ZERO: return half_unit && rest;
    case SMMA_ROUND_NEAREST_UP: return half_unit && (rest || !negative);
    case SMMA_ROUND_NEAREST_DOWN: return half_unit && (rest || negative);
    case SMMA_ROUND_TO_ODD: return !odd && (half_unit || rest);
    default: return false;
  }
}

/* Reports whether rounding in `direction` leads away from the infinity of that sign: there IEEE 754 (7.4) makes
   overflow return the greatest finite magnitude. smma_is_directed reports whether this holds for either sign. */
SMMA_CORE bool smma_rounds_away_from_infinity(smma_rounding direction, bool negative) {
  return direction == SMMA_ROUND_TOWARD_ZERO || direction == SMMA_ROUND_TO_ODD ||
         direction == (negative ? SMMA_ROUND_UP : SMMA_ROUND_DOWN);
}

SMMA_CORE bool smma_is_directed(smma_rounding direction) {
  return smma_rounds_away_from_infinity(direction, false) || smma_rounds_away_from_infinity(direction, true);
}

/* Encodes (-1)^negative * (significand + t) * 2^exponent, rounded in `direction` to `f`, where 0 < t < 1 if
   `sticky`, else t = 0. A sticky value needs a significand of at least f.fraction_bits + 3 bits. Zero keeps its
   sign. Unsigned formats encode negative values as zero; ue8m0 encodes zero as its least value. */
SMMA_CORE uint64_t smma_encode(smma_encoding f, bool negative, uint64_t significand, int exponent, bool sticky,
                               smma_rounding direction, smma_overflow overflow) {
  int least = smma_minimum_exponent(f);
  int top = exponent + smma_bit_length(significand) - 1; /* exponent of the leading bit */
  int last = smma_maximum(top, least) - f.fraction_bits; /* exponent of the last retained bit */
  int shift = last - exponent;
  uint64_t kept, fields;
  if (significand == 0 || (negative && !f.sign_bits)) return smma_sign_and_fields(f, negative, 0);
  if (shift > 0) {
    bool half_unit = shift <= 64 && (significand >> (shift - 1) & 1);
    bool rest = sticky || smma_low_bits(significand, shift - 1) != 0;
    bool odd;
    kept = smma_shift_right(significand, shift);
    odd = smma_rounds_by_code(f) ? (top - least + 1) & 1 && kept : kept & 1;
    kept += smma_rounds_up(direction, negative, odd, half_unit, rest);
  } else {
    kept = significand << -shift;
  }
  if (f.specials == SMMA_SPECIALS_POWERS_OF_TWO) {
    if (kept == 0) return smma_sign_and_fields(f, negative, 0);
    kept -= 1; /* no subnormals: the significand of code 0 is one */
  }
  /* A significand of 2^fraction_bits or more carries into the exponent field. */
  if (top - least >= 1 << f.exponent_bits) return smma_overflowed(f, negative, overflow);
  fields = ((uint64_t)(smma_maximum(top, least) - least) << f.fraction_bits) + kept;
  if (fields > smma_largest_fields(f)) return smma_overflowed(f, negative, overflow);
  return smma_sign_and_fields(f, negative, fields);
}

/* Returns the encoding nearest to (-1)^negative. */
SMMA_CORE uint64_t smma_encode_one(smma_encoding f, bool negative) {
  return smma_encode(f, negative, 1, 0, false, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
}

/* Reports whether a finite number rounds to zero, as if `f` had a sign. */
SMMA_CORE bool smma_rounds_to_zero(smma_encoding f, smma_number x, smma_rounding direction) {
  f.sign_bits = 1;
  return smma_decode(f, smma_encode(f, x.negative, x.significand, x.exponent - x.fraction_bits, false, direction,
                                    SMMA_OVERFLOW_SATURATE))
             .kind == SMMA_ZERO;
}

/* Reports whether a number below the range of an unsigned format becomes NaN under SMMA_OVERFLOW_BY_DIRECTION. */
SMMA_CORE bool smma_is_below_range(smma_encoding f, smma_number x, smma_rounding direction) {
  if (!x.negative || x.kind == SMMA_ZERO || f.sign_bits) return false;
  if (f.specials == SMMA_SPECIALS_FINITE || f.specials == SMMA_SPECIALS_INTEGER) return false;
  if (x.kind == SMMA_INFINITE) return true;
  return direction != SMMA_ROUND_TOWARD_ZERO && direction != SMMA_ROUND_UP && !smma_rounds_to_zero(f, x, direction);
}

/* Returns how a number that overflows is encoded: SMMA_OVERFLOW_PROPAGATE and SMMA_OVERFLOW_BY_DIRECTION become
   saturation or infinity, depending on the number; other policies stay. */
SMMA_CORE smma_overflow smma_overflow_of(smma_encoding f, smma_number x, smma_rounding direction,
                                         smma_overflow overflow) {
  const bool is_infinite = x.kind == SMMA_INFINITE;
  bool saturates;
  switch (overflow) {
    case SMMA_OVERFLOW_PROPAGATE: saturates = !is_infinite; break;
    case SMMA_OVERFLOW_BY_DIRECTION:
      saturates =
          !is_infinite &&
          (direction == SMMA_ROUND_TO_ODD ? !f.sign_bits : smma_rounds_away_from_infinity(direction, x.negative));
      break;
    default: return overflow;
  }
  return saturates || !smma_has_infinity(f) ? SMMA_OVERFLOW_SATURATE : SMMA_OVERFLOW_INFINITY;
}

/* Encodes a decoded number of any kind. */
SMMA_CORE uint64_t smma_encode_number(smma_encoding f, smma_number x, smma_rounding direction, smma_overflow overflow) {
  if (overflow == SMMA_OVERFLOW_BY_DIRECTION && x.kind != SMMA_NAN && smma_is_below_range(f, x, direction))
    return smma_default_nan(f);
  overflow = smma_overflow_of(f, x, direction, overflow);
  if (x.kind == SMMA_NAN) {
    uint64_t nan = smma_default_nan(f);
    return f.specials == SMMA_SPECIALS_IEEE || f.specials == SMMA_SPECIALS_ONE_NAN
               ? nan | smma_sign_and_fields(f, x.negative, 0)
               : nan;
  }
  if (x.kind == SMMA_INFINITE) return x.negative && !f.sign_bits ? 0 : smma_overflowed(f, x.negative, overflow);
  return smma_encode(f, x.negative, x.significand, x.exponent - x.fraction_bits, false, direction, overflow);
}

#endif
