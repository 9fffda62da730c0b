/* Arrays from one number format to another. */
#include <math.h>

#include "core/rounding.h"
#include "host/load.h"
#include "softmma/softmma.h"

/* ---- By the core: any value, any rounding ---- */

/* An end of a format's finite values, and what lies half a step beyond it. */
typedef struct {
  double end, beyond;
} range_end;

typedef struct {
  smma_format from_format, to_format;
  smma_encoding from, to;
  smma_rounding rounding;
  smma_overflow overflow;
  range_end least, greatest; /* of `to` */
} conversion;

/* `outward`: infinity of the end's sign. */
static range_end end_of_range(smma_format format, double outward) {
  const double end = smma_value(format, smma_round(format, outward, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE));
  const uint64_t inside = smma_round(format, nextafter(end, -outward), outward > 0 ? SMMA_ROUND_DOWN : SMMA_ROUND_UP,
                                     SMMA_OVERFLOW_SATURATE);
  return (range_end){end, end + (end - smma_value(format, inside)) / 2};
}

/* Whether both are NaN, or the same value with the same sign. */
static bool same(double x, double y) {
  return isnan(x) || isnan(y) ? isnan(x) && isnan(y) : x == y && !signbit(x) == !signbit(y);
}

/* x became y, which is something else. */
static void count_change(const conversion *c, double x, double y, smma_conversion *counts) {
  counts->changed++;
  if (isnan(y))
    counts->nan++;
  else if (isinf(y))
    counts->infinite++;
  else if (y == 0)
    counts->zero += x != 0;
  else if (isnan(x) || (y == c->greatest.end && x > c->greatest.beyond) || (y == c->least.end && x < c->least.beyond))
    counts->saturated++;
}

static uint64_t convert(const conversion *c, uint64_t x, smma_conversion *counts) {
  const uint64_t y = smma_encode_number(c->to, smma_decode(c->from, x), c->rounding, c->overflow);
  const double before = smma_value(c->from_format, x), after = smma_value(c->to_format, y);
  if (!same(before, after)) count_change(c, before, after, counts);
  return y;
}

/* ---- To nearest even, without overflow ---- */

enum { BLOCK = 64 };

/* What depends on the formats alone, where both have sign, exponent and fraction. */
typedef struct {
  uint64_t fields, fraction, largest; /* of `from`: masks, and the fields of its greatest number */
  uint64_t nan;                       /* an encoding that is NaN in spite of its fields; all ones: none */
  int ignored, fraction_bits, last;   /* last: the exponent of a subnormal's last bit */
  uint64_t to_sign, to_sign_of_zero, to_largest;
  int to_ignored, to_fraction_bits, to_least; /* to_least: the exponent of the least normal number */
} rounder;

static bool is_floating(smma_encoding f) { return f.sign_bits && f.exponent_bits; }

static rounder rounder_between(smma_encoding from, smma_encoding to) {
  const uint64_t sign = (uint64_t)1 << (from.exponent_bits + from.fraction_bits);
  const uint64_t to_sign = (uint64_t)1 << (to.exponent_bits + to.fraction_bits);
  return (rounder){.fields = sign - 1,
                   .fraction = smma_low_bits(~(uint64_t)0, from.fraction_bits),
                   .largest = smma_largest_fields(from),
                   .nan = from.specials == SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO ? sign : ~(uint64_t)0,
                   .ignored = from.ignored_bits,
                   .fraction_bits = from.fraction_bits,
                   .last = 1 - from.bias - from.fraction_bits,
                   .to_sign = to_sign,
                   .to_sign_of_zero = to.specials == SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO ? 0 : to_sign,
                   .to_largest = smma_largest_fields(to),
                   .to_ignored = to.ignored_bits,
                   .to_fraction_bits = to.fraction_bits,
                   .to_least = 1 - to.bias};
}

/* As smma_encode rounds a finite number; false, with nothing done, if it is none or becomes none. */
static inline bool round_finite(const rounder *r, uint64_t x, uint64_t *y, smma_conversion *counts) {
  const uint64_t encoding = x >> r->ignored, fields = encoding & r->fields, exponent = fields >> r->fraction_bits;
  const uint64_t significand = (fields & r->fraction) | (uint64_t)(exponent != 0) << r->fraction_bits;
  const bool negative = encoding & (r->fields + 1);
  const int last = r->last + (int)exponent - (exponent != 0);
  const int top = significand ? smma_maximum(last + smma_bit_length(significand) - 1, r->to_least) : r->to_least;
  const int shift = significand ? smma_minimum(top - r->to_fraction_bits - last, 63) : 0;
  uint64_t kept, rounded, sign = r->to_sign;
  bool changed = false;
  if (shift > 0) {
    kept = (significand + ((uint64_t)1 << (shift - 1)) - 1 + (significand >> shift & 1)) >> shift;
    changed = kept << shift != significand;
  } else {
    kept = significand << -shift;
  }
  rounded = ((uint64_t)(top - r->to_least) << r->to_fraction_bits) + kept;
  if (fields > r->largest || encoding == r->nan || rounded > r->to_largest) return false;
  if (!rounded) {
    counts->zero += changed;
    sign = r->to_sign_of_zero;
  }
  counts->changed += changed || (negative && !sign);
  *y = (rounded | (negative ? sign : 0)) << r->to_ignored;
  return true;
}

/* BLOCK numbers of f32 that are zero or become normal numbers of fewer bits; false, with nothing counted, if there are
   others. What lies just below the least normal number, and has steps half as large, rounds to it with either. */
static inline __attribute__((always_inline)) bool round_normals(const rounder *r, const void *from, void *to,
                                                                size_t first, size_t to_bytes,
                                                                smma_conversion *counts) {
  const int shift = 23 - r->to_fraction_bits;
  const uint32_t below_half = ((uint32_t)1 << (shift - 1)) - 1, lost = ((uint32_t)1 << shift) - 1;
  const uint32_t least = (uint32_t)1 << r->to_fraction_bits, span = (uint32_t)r->to_largest - least;
  const uint32_t rebias = (uint32_t)(126 + r->to_least) << r->to_fraction_bits;
  const uint32_t sign_lost_of_zero = r->to_sign_of_zero ? 0 : (uint32_t)1 << 31;
  uint32_t changed = 0, others = 0;
  for (size_t i = first; i < first + BLOCK; i++) {
    const uint32_t x = (uint32_t)smma_load(4, from, i), magnitude = x & 0x7fffffff;
    const uint32_t rounded = ((magnitude + below_half + (magnitude >> shift & 1)) >> shift) - rebias;
    others |= magnitude ? rounded - least > span : (x & sign_lost_of_zero) != 0;
    changed += (magnitude & lost) != 0;
    smma_store(to_bytes, to, i, ((magnitude ? rounded : 0) | (x >> 31) * (uint32_t)r->to_sign) << r->to_ignored);
  }
  counts->changed += others ? 0 : changed;
  return !others;
}

static bool round_block(const rounder *r, const void *from, void *to, size_t first, size_t to_bytes,
                        smma_conversion *counts) {
  switch (to_bytes) {
    case 1: return round_normals(r, from, to, first, 1, counts);
    case 2: return round_normals(r, from, to, first, 2, counts);
    default: return round_normals(r, from, to, first, 4, counts);
  }
}

smma_status smma_convert(smma_format from_format, const void *from, smma_format to_format, void *to, size_t count,
                         smma_rounding rounding, smma_overflow overflow, smma_conversion *conversion_counts) {
  conversion c = {
      from_format, to_format, smma_encoding_of(from_format), smma_encoding_of(to_format), rounding, overflow,
      {0, 0},      {0, 0}};
  const size_t from_bytes = smma_container_bytes(c.from), to_bytes = smma_container_bytes(c.to);
  const bool fast = rounding == SMMA_ROUND_NEAREST_EVEN && is_floating(c.from) && is_floating(c.to);
  const bool fewer = fast && from_format == SMMA_F32 && c.to.fraction_bits < 23;
  smma_conversion counts = {0};
  rounder r;
  if ((unsigned)from_format >= SMMA_FORMAT_COUNT || (unsigned)to_format >= SMMA_FORMAT_COUNT)
    return SMMA_INVALID_ARGUMENT;
  if ((count && (!from || !to)) || (unsigned)rounding > SMMA_ROUND_NEAREST_AWAY ||
      (unsigned)overflow > SMMA_OVERFLOW_INFINITY)
    return SMMA_INVALID_ARGUMENT;
  c.least = end_of_range(to_format, -INFINITY), c.greatest = end_of_range(to_format, INFINITY);
  r = rounder_between(c.from, c.to);
  for (size_t first = 0; first < count; first += BLOCK) {
    const size_t end = count - first < BLOCK ? count : first + BLOCK;
    if (fewer && end == first + BLOCK && round_block(&r, from, to, first, to_bytes, &counts)) continue;
    for (size_t i = first; i < end; i++) {
      const uint64_t x = smma_load(from_bytes, from, i);
      uint64_t y;
      if (!fast || !round_finite(&r, x, &y, &counts)) y = convert(&c, x, &counts);
      smma_store(to_bytes, to, i, y);
    }
  }
  if (conversion_counts) *conversion_counts = counts;
  return SMMA_OK;
}
