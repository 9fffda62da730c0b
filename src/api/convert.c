/* Conversion of arrays from one number format to another. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/rounding.h"
#include "host/bits.h"
#include "host/cpu.h"
#include "host/float.h"
#include "host/load.h"
#include "isa/format_name.h"
#include "isa/key.h"
#include "plan/plan.h"
#include "softmma/softmma.h"

/* ---- Any value and rounding, by the core ---- */

/* One end of a format's range of finite values, and the value half a step beyond that end. */
typedef struct {
  double end, beyond;
} range_end;

typedef struct {
  smma_format from_format, to_format;
  smma_encoding from, to;
  smma_rounding rounding;
  smma_overflow overflow;
  range_end least, greatest; /* ends of the range of finite values of `to` */
  bool counted;              /* whether the caller wants counts of changed values */
} conversion;

/* Returns the end of a format's range. `encoding` is the last encoding of the range, and `inside` the one before it;
   both are without ignored bits. Numbers up to half a step beyond the last one are rounded to it. */
static range_end end_at(smma_format format, smma_encoding f, uint64_t encoding, uint64_t inside) {
  const double end = smma_format_decode(format, encoding << f.ignored_bits);
  return (range_end){end, end + (end - smma_format_decode(format, inside << f.ignored_bits)) / 2};
}

static range_end greatest_of(smma_format format, smma_encoding f) {
  return end_at(format, f, smma_largest_fields(f), smma_largest_fields(f) - 1);
}

/* Returns the lower end of the range. Two's complement has one more negative number than positive ones. */
static range_end least_of(smma_format format, smma_encoding f) {
  const uint64_t sign = (uint64_t)1 << (f.exponent_bits + f.fraction_bits), fields = smma_largest_fields(f);
  if (!f.sign_bits) return end_at(format, f, 0, 1);
  if (f.specials == SMMA_SPECIALS_INTEGER) return end_at(format, f, sign, sign + 1);
  return end_at(format, f, sign + fields, sign + fields - 1);
}

/* Reports whether both are NaN, or the same value with the same sign. */
static bool same(double x, double y) {
  return isnan(x) || isnan(y) ? isnan(x) && isnan(y) : x == y && !signbit(x) == !signbit(y);
}

/* Counts a value x that became a different value y. */
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

/* Encodes `number`, which is the value of x or x already rounded. Counts the change from x to the result if counts are
   wanted. */
static uint64_t encode(const conversion *c, uint64_t x, smma_number number, smma_conversion *counts) {
  const uint64_t y = smma_encode_number(c->to, number, c->rounding, c->overflow);
  if (!c->counted) return y;
  const double before = smma_format_decode(c->from_format, x), after = smma_format_decode(c->to_format, y);
  if (!same(before, after)) count_change(c, before, after, counts);
  return y;
}

static uint64_t convert(const conversion *c, uint64_t x, smma_conversion *counts) {
  return encode(c, x, smma_decode(c->from, x), counts);
}

/* ---- To nearest or toward zero, without overflow, for formats with sign, exponent and fraction ---- */

enum { BLOCK = 64 };

/* Constants of a conversion between two formats that both have sign, exponent and fraction. */
typedef struct {
  uint64_t fields, fraction,
      largest;  /* of `from`: mask of all fields, mask of the fraction, and the fields of the largest number */
  uint64_t nan; /* an encoding that is NaN although its fields are those of a number; all ones if the format has no such
                   encoding */
  int ignored, fraction_bits, last; /* last: exponent of the last bit of a subnormal */
  uint64_t to_sign, to_sign_of_zero, to_largest;
  int to_ignored, to_fraction_bits, to_least; /* to_least: exponent of the smallest normal number */
  smma_rounding rounding;
} rounder;

static bool is_floating(smma_encoding f) { return f.sign_bits && f.exponent_bits; }

static bool has_rounder(const conversion *c) {
  return is_floating(c->from) && is_floating(c->to) && !smma_rounds_by_code(c->to) &&
         (c->rounding == SMMA_ROUND_NEAREST_EVEN || c->rounding == SMMA_ROUND_TOWARD_ZERO ||
          c->rounding == SMMA_ROUND_NEAREST_AWAY);
}

static rounder rounder_between(smma_encoding from, smma_encoding to, smma_rounding rounding) {
  const uint64_t sign = (uint64_t)1 << (from.exponent_bits + from.fraction_bits);
  const uint64_t to_sign = (uint64_t)1 << (to.exponent_bits + to.fraction_bits);
  return (rounder){.fields = sign - 1,
                   .fraction = smma_low_bits(~(uint64_t)0, from.fraction_bits),
                   .largest = smma_largest_fields(from),
                   .nan = smma_has_nan_for_negative_zero(from) ? sign : ~(uint64_t)0,
                   .ignored = from.ignored_bits,
                   .fraction_bits = from.fraction_bits,
                   .last = 1 - from.bias - from.fraction_bits,
                   .to_sign = to_sign,
                   .to_sign_of_zero = smma_has_nan_for_negative_zero(to) ? 0 : to_sign,
                   .to_largest = smma_largest_fields(to),
                   .to_ignored = to.ignored_bits,
                   .to_fraction_bits = to.fraction_bits,
                   .to_least = 1 - to.bias,
                   .rounding = rounding};
}

/* Returns the number to add to a significand before its last `shift` bits are dropped: ties go to even, away from zero
   or toward zero. */
static inline uint64_t carry_of(smma_rounding rounding, uint64_t significand, int shift) {
  const uint64_t half = (uint64_t)1 << (shift - 1);
  if (rounding == SMMA_ROUND_TOWARD_ZERO) return 0;
  return rounding == SMMA_ROUND_NEAREST_AWAY ? half : half - 1 + (significand >> shift & 1);
}

/* Rounds a finite number as smma_encode does. Returns false, and changes nothing, if x or the result is not finite. */
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
    kept = (significand + carry_of(r->rounding, significand, shift)) >> shift;
    changed = kept << shift != significand;
  } else {
    kept = significand << -shift;
  }
  rounded = ((uint64_t)(top - r->to_least) << r->to_fraction_bits) + kept;
  /* Rounded toward zero, a number that saturates also gives the largest number, and must be counted as saturated. */
  if (changed && r->rounding == SMMA_ROUND_TOWARD_ZERO && rounded == r->to_largest) return false;
  if (fields > r->largest || (encoding & (2 * r->fields + 1)) == r->nan || rounded > r->to_largest) return false;
  if (!rounded) {
    counts->zero += changed;
    sign = r->to_sign_of_zero;
  }
  counts->changed += changed || (negative && !sign);
  *y = (rounded | (negative ? sign : 0)) << r->to_ignored;
  return true;
}

/* Constants of a conversion from f32. */
typedef struct {
  rounder r;
  float unit;                      /* a power of two whose last bit in f32 has the weight of a subnormal's last bit */
  uint32_t least, largest, beyond; /* encodings in f32: smallest normal number, largest number, half a step beyond it */
  uint32_t most; /* results with larger fields overflow, and are left to the core; UINT32_MAX if they saturate */
  bool counted;
} float_rounder;

/* Rounds BLOCK numbers of f32 to a format of fewer bits. Returns false, and counts nothing, if a number is NaN, or
   overflows without saturating. An addition of `unit` rounds subnormal results, which needs the usual floating-point
   mode. A number just below the smallest normal number is rounded in the same way; if it rounds up, the carry gives the
   encoding of the smallest normal number. */
static inline __attribute__((always_inline)) bool round_floats(const float_rounder *f, const void *from, void *to,
                                                               size_t to_bytes, bool counted, smma_conversion *counts) {
  const rounder *r = &f->r;
  const int shift = 23 - r->to_fraction_bits;
  const uint32_t below_half = ((uint32_t)1 << (shift - 1)) - 1, lost = ((uint32_t)1 << shift) - 1;
  const uint32_t to_largest = (uint32_t)r->to_largest, rebias = (uint32_t)(126 + r->to_least) << r->to_fraction_bits;
  const uint32_t sign = (uint32_t)r->to_sign, signless = !r->to_sign_of_zero, keeps_sign = signless - 1;
  const uint32_t least = f->least, largest = f->largest, beyond = f->beyond, most = f->most;
  const uint32_t unit_bits = smma_bits_of_f32(f->unit), infinity = smma_bits_of_f32(INFINITY);
  const int ignored = r->to_ignored;
  const float unit = f->unit;
  uint32_t changed = 0, zero = 0, saturated = 0, others = 0;
  for (size_t i = 0; i < BLOCK; i++) {
    const uint32_t x = (uint32_t)smma_load(4, from, i), magnitude = x & 0x7fffffff, negative = x >> 31;
    const float sum = smma_f32_of_bits(magnitude) + unit;
    const uint32_t subnormal = smma_bits_of_f32(sum) - unit_bits, below = -(uint32_t)(magnitude < least);
    const uint32_t normal = ((magnitude + below_half + (magnitude >> shift & 1)) >> shift) - rebias;
    const uint32_t any = (subnormal & below) | (normal & ~below), rounded = any > to_largest ? to_largest : any;
    const uint32_t differs = ((smma_bits_of_f32(sum - unit) ^ magnitude) & below) | (magnitude & lost & ~below);
    const uint32_t some = -(uint32_t)(rounded != 0);
    others |= (magnitude > infinity) | (any > most);
    if (counted) {
      changed += (differs != 0) | (magnitude > largest) | (negative & ~some & signless);
      zero += ~some & (magnitude != 0);
      saturated += magnitude > beyond;
    }
    smma_store(to_bytes, to, i, (rounded | (sign & -negative & (some | keeps_sign))) << ignored);
  }
  if (others) return false;
  counts->changed += changed, counts->zero += zero, counts->saturated += saturated;
  return true;
}

static inline __attribute__((always_inline)) bool round_block(const float_rounder *f, const void *from, void *to,
                                                              size_t to_bytes, smma_conversion *counts) {
  if (to_bytes == 1 && !f->counted) return round_floats(f, from, to, 1, false, counts);
  switch (to_bytes) {
    case 1: return round_floats(f, from, to, 1, true, counts);
    case 2: return round_floats(f, from, to, 2, true, counts);
    default: return round_floats(f, from, to, 4, true, counts);
  }
}

static float_rounder float_rounder_to(const conversion *c, const rounder *r) {
  const bool saturates = c->overflow == SMMA_OVERFLOW_SATURATE || c->to.specials == SMMA_SPECIALS_FINITE ||
                         (c->overflow == SMMA_OVERFLOW_DEFAULT && c->to.bits <= 8);
  return (float_rounder){.r = *r,
                         .unit = ldexpf(1, r->to_least + 23 - r->to_fraction_bits),
                         .least = smma_bits_of_f32(ldexpf(1, r->to_least)),
                         .largest = smma_bits_of_f32((float)c->greatest.end),
                         .beyond = smma_bits_of_f32((float)c->greatest.beyond),
                         .most = saturates ? UINT32_MAX : (uint32_t)r->to_largest,
                         .counted = c->counted};
}

/* Truncates BLOCK numbers of f64 to f32, and sets the last bit of results that are not exact. Rounding them to a format
   of at most 21 fraction bits gives the encodings and counts of the f64 numbers. Returns false if a number is not
   finite, or beyond the normal numbers of f32. */
static inline __attribute__((always_inline)) bool truncate_doubles(const void *from, uint32_t *to) {
  const uint64_t rebias = (uint64_t)(1023 - 127) << 23;
  uint64_t needs_core = 0;
  for (size_t i = 0; i < BLOCK; i++) {
    const uint64_t x = smma_load(8, from, i), magnitude = x & INT64_MAX, nonzero = -(uint64_t)(magnitude != 0);
    const uint64_t kept = magnitude >> 29 | ((magnitude & (((uint64_t)1 << 29) - 1)) != 0);
    const uint64_t fields = (kept - rebias) & nonzero;
    needs_core |= (fields >= (uint64_t)255 << 23) | (nonzero & (fields < (uint64_t)1 << 23));
    to[i] = (uint32_t)(fields | (x >> 32 & 0x80000000));
  }
  return !needs_core;
}

/* Converts BLOCK numbers of f32 to f64, which is exact. Returns false if one is subnormal or not finite. */
static inline __attribute__((always_inline)) bool widen_floats(const void *from, void *to) {
  uint32_t needs_core = 0;
  for (size_t i = 0; i < BLOCK; i++) {
    const uint32_t x = (uint32_t)smma_load(4, from, i), magnitude = x & 0x7fffffff;
    const uint64_t fields = ((uint64_t)magnitude << 29) + ((uint64_t)(1023 - 127) << 52);
    needs_core |= (magnitude != 0) & (magnitude - (1u << 23) >= 254u << 23);
    smma_store(8, to, i, (uint64_t)(x >> 31) << 63 | (magnitude ? fields : 0));
  }
  return !needs_core;
}

/* Constants of a conversion to integers times a power of two. */
typedef struct {
  double each;            /* 1 / the power of two */
  double least, greatest; /* of the integers */
  uint64_t mask;          /* of an encoding's bits */
} integer_rounder;

static integer_rounder integer_rounder_to(const conversion *c) {
  const double each = smma_is_fixed_point(c->to_format) ? 1 / smma_format_decode(c->to_format, 1) : 1;
  return (integer_rounder){each, c->least.end * each, c->greatest.end * each, smma_low_bits(~(uint64_t)0, c->to.bits)};
}

/* Rounds BLOCK numbers of f32 or f64 to integers of at most 32 bits. Returns false, and counts nothing, if a number is
   NaN or beyond the format. An addition of 1.5 2^52 rounds to an integer, and leaves it in the last bits of the sum; it
   needs the usual floating-point mode. */
static inline __attribute__((always_inline)) bool round_to_integers(const integer_rounder *f, size_t from_bytes,
                                                                    const void *from, void *to, size_t to_bytes,
                                                                    smma_conversion *counts) {
  const double shift = 0x1.8p52, each = f->each, least = f->least, greatest = f->greatest;
  const uint64_t mask = f->mask;
  uint64_t changed = 0, zero = 0, needs_core = 0;
  for (size_t i = 0; i < BLOCK; i++) {
    const uint64_t bits = smma_load(from_bytes, from, i);
    const double x = from_bytes == sizeof(float) ? (double)smma_f32_of_bits((uint32_t)bits) : smma_f64_of_bits(bits);
    const double exact = x * each, sum = exact + shift, integer = sum - shift;
    needs_core |= !(integer >= least) | !(integer <= greatest);
    changed += (integer != exact) | (smma_bits_of_f64(x) == (uint64_t)1 << 63);
    zero += (integer == 0) & (x != 0);
    smma_store(to_bytes, to, i, smma_bits_of_f64(sum) & mask);
  }
  if (needs_core) return false;
  counts->changed += changed, counts->zero += zero;
  return true;
}

/* Converts `count` numbers of f32 or f64, at most BLOCK. Returns false, and counts nothing, if the core has to convert
   them. */
static inline __attribute__((always_inline)) bool convert_block(const float_rounder *f, const integer_rounder *integers,
                                                                size_t from_bytes, const void *from, void *to,
                                                                size_t to_bytes, size_t count,
                                                                smma_conversion *counts) {
  uint64_t padded[BLOCK], results[BLOCK];
  uint32_t narrow[BLOCK];
  const void *x = from;
  void *y = to;
  bool done;
  if (count < BLOCK) { /* zeros change no count */
    memset(padded, 0, sizeof padded);
    x = memcpy(padded, from, count * from_bytes), y = results;
  }
  if (integers && from_bytes == sizeof(double))
    done = round_to_integers(integers, sizeof(double), x, y, to_bytes, counts);
  else if (integers)
    done = round_to_integers(integers, sizeof(float), x, y, to_bytes, counts);
  else if (from_bytes == sizeof(double))
    done = truncate_doubles(x, narrow) && round_block(f, narrow, y, to_bytes, counts);
  else if (to_bytes == sizeof(double))
    done = widen_floats(x, y);
  else
    done = round_block(f, x, y, to_bytes, counts);
  if (done && count < BLOCK) memcpy(to, results, count * to_bytes);
  return done;
}

/* ---- Arrays ---- */

/* Converts one number after the other. `r` rounds finite numbers; if it is NULL, the core rounds them. */
static void convert_each(const conversion *c, const rounder *r, const void *from, void *to, size_t count,
                         smma_conversion *counts) {
  const size_t from_bytes = smma_container_bytes(c->from), to_bytes = smma_container_bytes(c->to);
  for (size_t i = 0; i < count; i++) {
    const uint64_t x = smma_load(from_bytes, from, i);
    uint64_t y;
    if (!r || !round_finite(r, x, &y, counts)) y = convert(c, x, counts);
    smma_store(to_bytes, to, i, y);
  }
}

static inline __attribute__((always_inline)) void convert_vectors(const conversion *c, const rounder *r,
                                                                  const void *from, void *to, size_t count,
                                                                  smma_conversion *counts) {
  const float_rounder f = float_rounder_to(c, r);
  const integer_rounder integers = integer_rounder_to(c);
  const bool to_integers = smma_is_fixed_point(c->to_format);
  const size_t from_bytes = smma_container_bytes(c->from), to_bytes = smma_container_bytes(c->to);
  for (size_t first = 0; first < count; first += BLOCK) {
    const size_t n = count - first < BLOCK ? count - first : BLOCK;
    const void *x = (const unsigned char *)from + first * from_bytes;
    void *y = (unsigned char *)to + first * to_bytes;
    if (!convert_block(&f, to_integers ? &integers : NULL, from_bytes, x, y, to_bytes, n, counts))
      convert_each(c, to_integers ? NULL : r, x, y, n, counts);
  }
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void convert_in_avx2(const conversion *c, const rounder *r, const void *from,
                                                            void *to, size_t count, smma_conversion *counts) {
  convert_vectors(c, r, from, to, count, counts);
}
#endif

static void convert_floats(const conversion *c, const rounder *r, const void *from, void *to, size_t count,
                           smma_conversion *counts) {
#ifdef __x86_64__
  if (smma_cpu_has(SMMA_CPU_AVX2)) {
    convert_in_avx2(c, r, from, to, count, counts);
    return;
  }
#endif
  convert_vectors(c, r, from, to, count, counts);
}

/* Converts each encoding of a container of at most 16 bits once, and looks the numbers up. Returns false if memory runs
   out. */
static bool convert_by_table(const conversion *c, const rounder *r, const void *from, void *to, size_t count,
                             smma_conversion *counts) {
  const size_t from_bytes = smma_container_bytes(c->from), to_bytes = smma_container_bytes(c->to);
  const size_t encodings = (size_t)1 << 8 * from_bytes;
  unsigned char *result = malloc(encodings * to_bytes);
  size_t *occurrences = calloc(encodings, sizeof *occurrences); /* of each encoding */
  const bool memory = result && occurrences;
  for (size_t i = 0; memory && c->counted && i < count; i++) occurrences[smma_load(from_bytes, from, i)]++;
  for (size_t x = 0; memory && x < encodings; x++) {
    unsigned char encoding[8];
    smma_conversion lost = {0};
    smma_store(from_bytes, encoding, 0, x);
    convert_each(c, r, encoding, result + x * to_bytes, 1, &lost);
    counts->changed += occurrences[x] * lost.changed, counts->infinite += occurrences[x] * lost.infinite;
    counts->saturated += occurrences[x] * lost.saturated, counts->zero += occurrences[x] * lost.zero;
    counts->nan += occurrences[x] * lost.nan;
  }
  for (size_t i = 0; memory && i < count; i++)
    smma_store(to_bytes, to, i, smma_load(to_bytes, result, smma_load(from_bytes, from, i)));
  free(result), free(occurrences);
  return memory;
}

/* Reports whether a table of all encodings pays off: there are four or more numbers for each of them. */
static bool suits_table(const conversion *c, size_t count) {
  const size_t bytes = smma_container_bytes(c->from);
  return bytes <= 2 && count >= (size_t)4 << 8 * bytes;
}

/* Reports whether convert_floats converts the numbers; `fast`: has_rounder. */
static bool suits_vectors(const conversion *c, bool fast) {
  const bool wide = c->from_format == SMMA_F64, nearest = c->rounding == SMMA_ROUND_NEAREST_EVEN;
  if (!wide && c->from_format != SMMA_F32) return false;
  if (smma_is_fixed_point(c->to_format)) return nearest && c->to.bits <= 32 && !c->to.ignored_bits;
  if (!fast) return false;
  return c->to_format == SMMA_F64 ? !wide
                                  : nearest && c->to.fraction_bits < (wide ? 22 : 23) && !smma_is_spelled(c->to_format);
}

/* Sets the encodings and ranges of a conversion from its formats. Returns false if there is no such format, rounding or
   overflow. */
static bool prepare(conversion *c) {
  if (!smma_is_format(c->from_format) || !smma_is_format(c->to_format)) return false;
  if ((unsigned)c->rounding > SMMA_ROUND_TO_ODD || (unsigned)c->overflow > SMMA_OVERFLOW_BY_DIRECTION) return false;
  c->from = smma_encoding_of(c->from_format), c->to = smma_encoding_of(c->to_format);
  c->least = least_of(c->to_format, c->to), c->greatest = greatest_of(c->to_format, c->to);
  return true;
}

smma_status smma_convert(smma_format from_format, const void *from, smma_format to_format, void *to, size_t count,
                         smma_rounding rounding, smma_overflow overflow, smma_conversion *conversion_counts) {
  conversion c = {.from_format = from_format,
                  .to_format = to_format,
                  .rounding = rounding,
                  .overflow = overflow,
                  .counted = conversion_counts != NULL};
  bool fast;
  void (*volatile floats)(const conversion *, const rounder *, const void *, void *, size_t, smma_conversion *) =
      convert_floats; /* called through a pointer, so that the compiler cannot move its arithmetic across the change of
                         mode */
  smma_conversion counts = {0};
  rounder r;
  if (!prepare(&c) || (count && (!from || !to))) return SMMA_INVALID_ARGUMENT;
  fast = has_rounder(&c);
  r = rounder_between(c.from, c.to, rounding);
  if (suits_table(&c, count) && convert_by_table(&c, fast ? &r : NULL, from, to, count, &counts)) {
    /* done */
  } else if (suits_vectors(&c, fast)) {
    const smma_float_state state = smma_float_enter(SMMA_MODE_NEAREST_EVEN);
    floats(&c, &r, from, to, count, &counts);
    smma_float_leave(state);
  } else {
    convert_each(&c, fast ? &r : NULL, from, to, count, &counts);
  }
  if (conversion_counts) *conversion_counts = counts;
  return SMMA_OK;
}

/* ---- Stochastic ---- */

/* Returns x rounded to the precision of f with random bits, as a number that f represents unless it overflows. Keeps as
   many bits below the last bit as there are random bits, and adds these. Source: IEEE P3109, interim report 4.0,
   section 4.7.4. */
static smma_number rounded_stochastically(smma_encoding f, smma_number x, smma_stochastic variant, int bits,
                                          uint64_t random) {
  const int unit = x.exponent - x.fraction_bits, top = unit + smma_bit_length(x.significand) - 1;
  const int last = smma_maximum(top, smma_minimum_exponent(f)) - f.fraction_bits; /* exponent of the last bit */
  const int kept_bits = bits + (variant == SMMA_STOCHASTIC_B), shift = last - kept_bits - unit;
  uint64_t kept;
  if (x.kind != SMMA_FINITE || last <= unit) return x;
  random = smma_low_bits(random, bits);
  if (shift > 0) {
    const bool half = shift <= 64 && x.significand >> (shift - 1) & 1;
    kept = smma_shift_right(x.significand, shift);
    if (variant == SMMA_STOCHASTIC_C)
      kept += smma_rounds_up(SMMA_ROUND_NEAREST_EVEN, x.negative, kept & 1, half,
                             smma_low_bits(x.significand, shift - 1) != 0);
  } else {
    kept = x.significand << -shift;
  }
  x.significand = (kept + (variant == SMMA_STOCHASTIC_B ? 2 * random + 1 : random)) >> kept_bits;
  x.exponent = last;
  x.fraction_bits = 0;
  return x;
}

smma_status smma_convert_stochastic(smma_format from_format, const void *from, smma_format to_format, void *to,
                                    size_t count, smma_stochastic variant, int random_bits, const uint32_t *random,
                                    smma_overflow overflow, smma_conversion *conversion_counts) {
  conversion c = {
      .from_format = from_format, .to_format = to_format, .overflow = overflow, .counted = conversion_counts != NULL};
  smma_conversion counts = {0};
  size_t from_bytes, to_bytes;
  if (!prepare(&c) || (count && (!from || !to || !random)) || (unsigned)variant > SMMA_STOCHASTIC_C ||
      random_bits < 1 || random_bits > SMMA_MOST_RANDOM_BITS)
    return SMMA_INVALID_ARGUMENT;
  from_bytes = smma_container_bytes(c.from), to_bytes = smma_container_bytes(c.to);
  for (size_t i = 0; i < count; i++) {
    const uint64_t x = smma_load(from_bytes, from, i);
    const smma_number rounded = rounded_stochastically(c.to, smma_decode(c.from, x), variant, random_bits, random[i]);
    smma_store(to_bytes, to, i, encode(&c, x, rounded, &counts));
  }
  if (conversion_counts) *conversion_counts = counts;
  return SMMA_OK;
}

/* ---- Operands of instructions ---- */

smma_rounding smma_operand_rounding(const smma_instruction *instruction, const smma_plan *plan, smma_format format) {
  if (plan && plan->has_operand_rounding) return plan->operand_rounding;
  if (format != SMMA_TF32 || (instruction && instruction->arch == SMMA_ARCH_hopper)) return SMMA_ROUND_NEAREST_EVEN;
  return instruction && instruction->family == SMMA_FAMILY_MFMA ? SMMA_ROUND_TOWARD_ZERO : SMMA_ROUND_NEAREST_AWAY;
}
