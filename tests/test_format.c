/* Number formats: every encoding's value; rounding compared with a search among the values of all encodings, and with
   C's own conversions. */
#include <fenv.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "isa/format_name.h"
#include "support.h"

static const smma_rounding roundings[] = {SMMA_ROUND_NEAREST_EVEN, SMMA_ROUND_TOWARD_ZERO, SMMA_ROUND_DOWN,
                                          SMMA_ROUND_UP, SMMA_ROUND_NEAREST_AWAY};
static const char *const rounding_names[] = {"nearest even", "toward zero", "down", "up", "nearest away"};

/* ---- An independent description of the formats ---- */

typedef struct {
  smma_format format;
  const char *name;
  int bits, stored_exponent, fraction, bias, ignored;
  bool has_sign;
  uint64_t largest, infinity, nan; /* fields without sign; infinity or nan 0: the format has none */
} layout;

static const layout layouts[] = {
    {SMMA_TF32, "tf32", 32, 8, 10, 127, 13, true, 0x3fbff, 0x3fc00, 0x3fe00},
    {SMMA_F16, "f16", 16, 5, 10, 15, 0, true, 0x7bff, 0x7c00, 0x7e00},
    {SMMA_BF16, "bf16", 16, 8, 7, 127, 0, true, 0x7f7f, 0x7f80, 0x7fc0},
    {SMMA_E5M2, "e5m2", 8, 5, 2, 15, 0, true, 0x7b, 0x7c, 0x7e},
    {SMMA_E4M3, "e4m3", 8, 4, 3, 7, 0, true, 0x7e, 0, 0x7f},
    {SMMA_E5M2FNUZ, "e5m2fnuz", 8, 5, 2, 16, 0, true, 0x7f, 0, 0x80},
    {SMMA_E4M3FNUZ, "e4m3fnuz", 8, 4, 3, 8, 0, true, 0x7f, 0, 0x80},
    {SMMA_E3M2, "e3m2", 6, 3, 2, 3, 0, true, 0x1f, 0, 0},
    {SMMA_E2M3, "e2m3", 6, 2, 3, 1, 0, true, 0x1f, 0, 0},
    {SMMA_E2M1, "e2m1", 4, 2, 1, 1, 0, true, 0x7, 0, 0},
    {SMMA_UE8M0, "ue8m0", 8, 8, 0, 127, 0, false, 0xfe, 0, 0xff},
    {SMMA_UE4M3, "ue4m3", 8, 4, 3, 7, 0, false, 0x7e, 0, 0x7f},
};
#define LAYOUTS (sizeof layouts / sizeof layouts[0])

static bool is_fnuz(const layout *l) { return l->nan == 0x80; }

static uint64_t sign_bit(const layout *l) { return (uint64_t)l->has_sign << (l->stored_exponent + l->fraction); }

/* Returns the value of finite fields. */
static double magnitude(const layout *l, uint64_t fields) {
  uint64_t exponent = fields >> l->fraction, fraction = fields & ((UINT64_C(1) << l->fraction) - 1);
  if (l->format == SMMA_UE8M0) return ldexp(1, (int)fields - 127);
  if (exponent == 0) return ldexp((double)fraction, 1 - l->bias - l->fraction);
  return ldexp((double)(fraction + (UINT64_C(1) << l->fraction)), (int)exponent - l->bias - l->fraction);
}

/* Returns the value of any encoding, without ignored bits. */
static double value_of(const layout *l, uint64_t encoding) {
  uint64_t sign = encoding & sign_bit(l), fields = encoding & ((UINT64_C(1) << (l->stored_exponent + l->fraction)) - 1);
  double value;
  if (is_fnuz(l) && sign && fields == 0) return NAN;
  if (fields > l->largest) return l->infinity == fields ? (sign ? -INFINITY : INFINITY) : NAN;
  value = magnitude(l, fields);
  return sign ? -value : value;
}

static bool same_double(double x, double y) { return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0; }

static void test_values(void **state) {
  (void)state;
  for (size_t f = 0; f < LAYOUTS; f++) {
    const layout *l = &layouts[f];
    uint64_t count = UINT64_C(1) << (l->bits - l->ignored);
    for (uint64_t e = 0; e < count; e++) {
      double expected = value_of(l, e), got = smma_format_decode(l->format, e << l->ignored);
      uint64_t again =
          smma_format_encode(l->format, got, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY) >> l->ignored;
      uint64_t kept = l->format == SMMA_UE4M3 ? e & 0x7f : e;
      if (!same_double(expected, got)) fail_msg("%s %" PRIx64 ": expected %a, got %a", l->name, e, expected, got);
      if (isnan(got) ? !isnan(value_of(l, again)) : again != kept)
        fail_msg("%s %" PRIx64 " becomes %" PRIx64 " on its way through a double", l->name, e, again);
    }
  }
}

/* Ignored bits do not affect the value. */
static void test_ignored_bits(void **state) {
  (void)state;
  assert_true(smma_format_decode(SMMA_TF32, 0x3f801fff) == 1);
  assert_true(isinf(smma_format_decode(SMMA_TF32, 0x7f800001)));
  assert_true(isnan(smma_format_decode(SMMA_TF32, 0x7f802000)));
  assert_true(smma_format_decode(SMMA_UE4M3, 0xb8) == 1 && isnan(smma_format_decode(SMMA_UE4M3, 0xff)));
  assert_true(smma_format_decode(SMMA_E8M13, 0x3f8003ff) == 1);
  assert_true(smma_format_decode(SMMA_E2M1, 0xf7) == smma_format_decode(SMMA_E2M1, 0x7));
  assert_true(smma_format_decode(SMMA_E3M2, 0xdf) == smma_format_decode(SMMA_E3M2, 0x1f));
}

/* ---- Rounding by search ---- */

static uint64_t signed_fields(const layout *l, uint64_t fields, bool negative) {
  if (is_fnuz(l) && (fields == 0 || fields == l->nan)) return fields;
  return fields | (negative ? sign_bit(l) : 0);
}

static uint64_t overflowed(const layout *l, bool negative, smma_overflow overflow) {
  uint64_t fields = l->infinity ? l->infinity : l->nan;
  if (overflow == SMMA_OVERFLOW_DEFAULT) overflow = l->bits <= 8 ? SMMA_OVERFLOW_SATURATE : SMMA_OVERFLOW_INFINITY;
  if (overflow == SMMA_OVERFLOW_SATURATE || fields == 0) fields = l->largest;
  return signed_fields(l, fields, negative);
}

static uint64_t nan_of(const layout *l, bool negative) {
  return signed_fields(l, l->nan ? l->nan : l->largest, negative && l->nan);
}

/* Returns the largest fields whose value is at most x. */
static uint64_t fields_below(const layout *l, double x) {
  uint64_t low = 0, high = l->largest;
  while (low < high) {
    uint64_t middle = (low + high + 1) / 2;
    if (magnitude(l, middle) <= x)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* Returns the next larger value, beyond the largest value as if exponents continued. */
static double next_magnitude(const layout *l, uint64_t fields) {
  if (fields < l->largest) return magnitude(l, fields + 1);
  if (l->fraction == 0) return 2 * magnitude(l, fields);
  return 2 * magnitude(l, fields) - magnitude(l, fields - 1);
}

/* Reports whether x between two neighbours is rounded to the larger one. Without a fraction bit no neighbour is even,
   and a tie goes to the larger one (IEEE 754-2019, 4.3.1). */
static bool goes_up(const layout *l, uint64_t fields, double x, bool negative, smma_rounding rounding) {
  double low = magnitude(l, fields), middle = low + (next_magnitude(l, fields) - low) / 2;
  if (x == low) return false;
  switch (rounding) {
    case SMMA_ROUND_NEAREST_EVEN: return x > middle || (x == middle && (l->fraction == 0 || fields % 2));
    case SMMA_ROUND_TOWARD_ZERO: return false;
    case SMMA_ROUND_DOWN: return negative;
    case SMMA_ROUND_NEAREST_AWAY: return x >= middle;
    default: return !negative;
  }
}

static uint64_t search(const layout *l, double value, smma_rounding rounding, smma_overflow overflow) {
  bool negative = signbit(value) != 0;
  double x = fabs(value);
  uint64_t fields;
  if (isnan(value)) return nan_of(l, negative);
  if (negative && !l->has_sign) return 0;
  if (x < magnitude(l, 0)) return 0; /* below ue8m0's least */
  fields = fields_below(l, x);
  if (x >= next_magnitude(l, fields)) return overflowed(l, negative, overflow);
  if (goes_up(l, fields, x, negative, rounding)) fields++;
  if (fields > l->largest) return overflowed(l, negative, overflow);
  return signed_fields(l, fields, negative);
}

static void check_rounding(const layout *l, double value) {
  for (int r = 0; r < 5; r++)
    for (int o = SMMA_OVERFLOW_DEFAULT; o <= SMMA_OVERFLOW_INFINITY; o++) {
      uint64_t expected = search(l, value, roundings[r], (smma_overflow)o) << l->ignored;
      uint64_t got = smma_format_encode(l->format, value, roundings[r], (smma_overflow)o);
      if (expected != got)
        fail_msg("%a to %s, %s, overflow %d: expected %" PRIx64 ", got %" PRIx64, value, l->name, rounding_names[r], o,
                 expected, got);
    }
}

static void check_both_signs(const layout *l, double value) {
  check_rounding(l, value);
  check_rounding(l, -value);
}

/* Checks a value and its two neighbours. */
static void check_around(const layout *l, double value) {
  check_both_signs(l, value);
  check_both_signs(l, nextafter(value, 0));
  check_both_signs(l, nextafter(value, INFINITY));
}

static void test_around_every_midpoint(void **state) {
  (void)state;
  for (size_t f = 0; f < LAYOUTS; f++) {
    const layout *l = &layouts[f];
    uint64_t step = l->largest >> 16 ? 61 : l->largest >> 10 ? 7 : 1; /* only part of the values of wide formats */
    for (uint64_t fields = 0; fields <= l->largest; fields += fields < 2000 || fields > l->largest - 2000 ? 1 : step) {
      double low = magnitude(l, fields);
      check_around(l, low);
      check_around(l, low + (next_magnitude(l, fields) - low) / 2);
    }
    check_around(l, next_magnitude(l, l->largest));
  }
}

static void test_extremes(void **state) {
  static const double values[] = {0,        DBL_TRUE_MIN, DBL_MIN, 0x1p-1000, 0x1p-300, 0x1.8p-150, 0x1p-149, 0x1p-128,
                                  0x1p-127, 0x1p127,      0x1p128, 0x1.8p127, 1e300,    DBL_MAX,    INFINITY, NAN};
  (void)state;
  for (size_t f = 0; f < LAYOUTS; f++)
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) check_both_signs(&layouts[f], values[v]);
}

static double random_double(uint64_t *state, int exponents) {
  double value = (double)(random_bits(state) >> 11 | UINT64_C(1) << 52);
  int exponent = (int)random_below(state, 2 * (unsigned)exponents) - exponents;
  return ldexp(random_below(state, 2) ? -value : value, exponent - 52);
}

static void test_random_values(void **state) {
  uint64_t seed = 1;
  (void)state;
  for (size_t f = 0; f < LAYOUTS; f++)
    for (int i = 0; i < 20000; i++)
      check_rounding(&layouts[f], random_double(&seed, 2 << (layouts[f].stored_exponent - 1)));
}

/* ---- f32 and f64 against C ---- */

static const int c_roundings[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

/* Returns the result of C's cast. Where C stops at the largest number, the library overflows: only a magnitude that
   rounds below 2^128, with exponents of unlimited range, stays finite. */
static float cast(double value, int rounding) {
  volatile double x = value;
  volatile float y;
  fesetround(c_roundings[rounding]);
  y = (float)x;
  fesetround(FE_TONEAREST);
  return fabs(value) >= 0x1p128 ? (value > 0 ? INFINITY : -INFINITY) : y;
}

/* Returns a random double: any, at or next to the midpoint of two floats, or subnormal. */
static double double_for_f32(uint64_t *state) {
  double value = random_double(state, 152);
  uint64_t bits;
  switch (random_below(state, 4)) {
    case 0: return value;
    case 1: return ldexp(value, -200);
    default: break;
  }
  memcpy(&bits, &value, sizeof bits);
  bits = (bits & ~UINT64_C(0x1fffffff)) | UINT64_C(0x10000000);
  bits += random_below(state, 3) - UINT64_C(1);
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void test_f32_against_casts(void **state) {
  uint64_t seed = 2;
  (void)state;
  for (int i = 0; i < 1000000; i++) {
    double value = double_for_f32(&seed);
    for (int r = 0; r < 4; r++) {
      float expected = cast(value, r);
      uint32_t bits;
      uint64_t got = smma_format_encode(SMMA_F32, value, roundings[r], SMMA_OVERFLOW_DEFAULT);
      memcpy(&bits, &expected, sizeof bits);
      if (bits != got)
        fail_msg("%a to f32, %s: expected %08" PRIx32 ", got %08" PRIx64, value, rounding_names[r], bits, got);
    }
  }
}

static void test_wide_formats(void **state) {
  uint64_t seed = 3;
  (void)state;
  for (int i = 0; i < 200000; i++) {
    uint64_t x = random_bits(&seed);
    float single;
    double value;
    uint32_t low = (uint32_t)x;
    memcpy(&single, &low, sizeof single);
    memcpy(&value, &x, sizeof value);
    assert_true(same_double(smma_format_decode(SMMA_F32, low), (double)single));
    assert_true(same_double(smma_format_decode(SMMA_F64, x), value));
    if (isnan(value) || isnan(single)) continue;
    assert_true(smma_format_encode(SMMA_F64, value, roundings[i % 4], SMMA_OVERFLOW_DEFAULT) == x);
    assert_true(smma_format_encode(SMMA_F32, (double)single, roundings[i % 4], SMMA_OVERFLOW_DEFAULT) == low);
    if (isinf(single)) continue;
    assert_true(smma_format_encode(SMMA_E8M13, (double)single, SMMA_ROUND_TOWARD_ZERO, SMMA_OVERFLOW_DEFAULT) ==
                (low & ~UINT64_C(0x3ff)));
  }
  assert_int_equal(smma_format_encode(SMMA_F32, NAN, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT), 0x7fc00000);
  assert_int_equal(smma_format_encode(SMMA_F32, 1e39, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE), 0x7f7fffff);
  assert_int_equal(smma_format_encode(SMMA_F32, -INFINITY, SMMA_ROUND_UP, SMMA_OVERFLOW_SATURATE), 0xff7fffff);
}

/* ---- Integers, and integers times a power of two ---- */

static const struct {
  smma_format format;
  const char *name;
  double least, greatest, unit; /* numbers are least to greatest, times the unit */
} integer_formats[] = {{SMMA_S8, "s8", -128, 127, 1},
                       {SMMA_U8, "u8", 0, 255, 1},
                       {SMMA_S32, "s32", -0x80000000p0, 0x7fffffff, 1},
                       {SMMA_S4, "s4", -8, 7, 1},
                       {SMMA_U4, "u4", 0, 15, 1},
                       {SMMA_B1, "b1", 0, 1, 1},
                       {SMMA_OCP_INT8, "ocp_int8", -128, 127, 0x1p-6}}; /* OCP MX 1.0, section 5.3.4 */
#define INTEGERS (sizeof integer_formats / sizeof integer_formats[0])

static double rounded_to_integer(double value, smma_rounding rounding) {
  switch (rounding) {
    case SMMA_ROUND_NEAREST_EVEN: return nearbyint(value);
    case SMMA_ROUND_TOWARD_ZERO: return trunc(value);
    case SMMA_ROUND_DOWN: return floor(value);
    case SMMA_ROUND_UP: return ceil(value);
    default: return round(value);
  }
}

/* Checks that a number of units is rounded in each mode and clamped, whatever overflow is requested, and that NaN
   gives 0. */
static void check_integer(size_t f, double value) {
  const double unit = integer_formats[f].unit, number = value * unit; /* the product may become zero */
  for (int r = 0; r < 5; r++)
    for (int o = SMMA_OVERFLOW_DEFAULT; o <= SMMA_OVERFLOW_INFINITY; o++) {
      uint64_t got = smma_format_encode(integer_formats[f].format, number, roundings[r], (smma_overflow)o);
      double expected = rounded_to_integer(number / unit, roundings[r]),
             back = smma_format_decode(integer_formats[f].format, got) / unit;
      expected = isnan(value) ? 0 : fmin(fmax(expected, integer_formats[f].least), integer_formats[f].greatest);
      if (back != expected || got >> smma_format_bits(integer_formats[f].format))
        fail_msg("%a units to %s, %s, overflow %d: expected %g, got %" PRIx64, value, integer_formats[f].name,
                 rounding_names[r], o, expected, got);
    }
}

static void check_around_integer(size_t f, double value) {
  for (double part = -1; part <= 1; part += 0.25) check_integer(f, value + part);
  check_integer(f, nextafter(value + 0.5, INFINITY));
  check_integer(f, nextafter(value + 0.5, -INFINITY));
}

static void test_integers(void **state) {
  static const double extremes[] = {0x1p31, 0x1p32, 0x1p62, 0x1p64, 1e300, DBL_MAX, INFINITY, NAN, DBL_TRUE_MIN, 0};
  (void)state;
  for (size_t f = 0; f < INTEGERS; f++) {
    for (double value = -300; value <= 300; value++) check_around_integer(f, value);
    check_around_integer(f, integer_formats[f].least);
    check_around_integer(f, integer_formats[f].greatest);
    for (size_t e = 0; e < sizeof extremes / sizeof *extremes; e++)
      check_integer(f, extremes[e]), check_integer(f, -extremes[e]);
    assert_string_equal(smma_format_name(integer_formats[f].format), integer_formats[f].name);
    assert_int_equal(smma_format_find(integer_formats[f].name), integer_formats[f].format);
  }
}

/* Every encoding of eight bits, and some of 32 bits, have the values that C gives them. */
static void test_values_of_integers(void **state) {
  uint64_t seed = 4;
  (void)state;
  for (int e = 0; e < 256; e++) {
    assert_true(same_double(smma_format_decode(SMMA_S8, (uint64_t)e), (double)(int8_t)e));
    assert_true(same_double(smma_format_decode(SMMA_OCP_INT8, (uint64_t)e), (int8_t)e / 64.0));
    assert_true(same_double(smma_format_decode(SMMA_U8, (uint64_t)e), (double)e));
    assert_int_equal(smma_format_encode(SMMA_S8, (int8_t)e, SMMA_ROUND_UP, SMMA_OVERFLOW_DEFAULT), e);
    assert_int_equal(smma_format_encode(SMMA_U8, e, SMMA_ROUND_DOWN, SMMA_OVERFLOW_DEFAULT), e);
  }
  for (int i = 0; i < 100000; i++) {
    uint32_t x = (uint32_t)random_bits(&seed) >> random_below(&seed, 32);
    assert_true(same_double(smma_format_decode(SMMA_S32, x), (double)(int32_t)x));
    assert_int_equal(smma_format_encode(SMMA_S32, (int32_t)x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT), x);
  }
}

/* ---- Arrays ---- */

#define COUNT 2000

static const char *const spelled_out[] = {"e3m4",      "e4m3-bias11-fnuz", "e4m3-ieee",          "e3m2-nan",
                                          "ue5m3",     "ue5m0-finite",     "e1m6-bias-4-finite", "e11m4",
                                          "s5",        "binary8p3se",      "binary8p4ue",        "binary8p1sf",
                                          "e3m2-fnuz", "e5m4-fnuz",        "binary6p3sf"};

/* The formats that are converted: all formats of the table, and some formats whose names are spelled out. */
enum { CONVERTED = SMMA_FORMAT_COUNT + sizeof spelled_out / sizeof *spelled_out };
static smma_format converted(int n) {
  return n < SMMA_FORMAT_COUNT ? smma_format_at(n) : smma_format_find(spelled_out[n - SMMA_FORMAT_COUNT]);
}

/* Returns the number at the end of the format's range in the direction of `sign`. `*beyond` receives the value half a
   step beyond it. */
static double range_end(smma_format to, double sign, double *beyond) {
  const double end =
      smma_format_decode(to, smma_format_encode(to, sign * DBL_MAX, SMMA_ROUND_TOWARD_ZERO, SMMA_OVERFLOW_SATURATE));
  const smma_rounding inward = sign > 0 ? SMMA_ROUND_DOWN : SMMA_ROUND_UP;
  const double inside =
      smma_format_decode(to, smma_format_encode(to, nextafter(end, -sign * INFINITY), inward, SMMA_OVERFLOW_SATURATE));
  *beyond = end + (end - inside) / 2;
  return end;
}

/* Reports whether `x` counts as saturated. This is so if its result is an end of the range, and `x` lies more than half
   a step beyond this end. */
static bool saturates(smma_format to, double x, smma_rounding rounding, smma_overflow overflow) {
  const double y = smma_format_decode(to, smma_format_encode(to, x, rounding, overflow));
  double above, below;
  if (isnan(y) || isinf(y) || y == 0) return false;
  if (isnan(x)) return true;
  return (y == range_end(to, 1, &above) && x > above) || (y == range_end(to, -1, &below) && x < below);
}

/* Compares each element with smma_format_encode, and the counts of changes. */
static void check_convert(smma_format from, const uint64_t *x, smma_format to, size_t count, smma_rounding rounding,
                          smma_overflow overflow) {
  uint64_t y[COUNT], uncounted[COUNT];
  smma_conversion counts, expected = {0};
  assert_int_equal(smma_convert(from, x, to, y, count, rounding, overflow, &counts), SMMA_OK);
  assert_int_equal(smma_convert(from, x, to, uncounted, count, rounding, overflow, NULL), SMMA_OK);
  assert_memory_equal(y, uncounted, count * smma_format_bytes(to));
  for (size_t i = 0; i < count; i++) {
    double value = smma_format_decode(from, load_element(from, x, i)), result;
    uint64_t encoding = smma_format_encode(to, value, rounding, overflow), got = load_element(to, y, i);
    if (encoding != got)
      fail_msg("%s %" PRIx64 " to %s, %s: expected %" PRIx64 ", got %" PRIx64, smma_format_name(from),
               load_element(from, x, i), smma_format_name(to), rounding_names[rounding], encoding, got);
    result = smma_format_decode(to, got);
    if (same_double(value, result)) continue;
    expected.changed++;
    expected.nan += isnan(result);
    expected.infinite += isinf(result) != 0;
    expected.zero += result == 0 && value != 0;
    expected.saturated += saturates(to, value, rounding, overflow);
  }
  if (counts.changed != expected.changed || counts.zero != expected.zero || counts.nan != expected.nan ||
      counts.infinite != expected.infinite || counts.saturated != expected.saturated)
    fail_msg("%s to %s: %zu changed, %zu zero, %zu infinite, %zu NaN, %zu saturated expected; %zu, %zu, %zu, %zu, %zu",
             smma_format_name(from), smma_format_name(to), expected.changed, expected.zero, expected.infinite,
             expected.nan, expected.saturated, counts.changed, counts.zero, counts.infinite, counts.nan,
             counts.saturated);
  assert_true(counts.infinite + counts.saturated + counts.zero + counts.nan <= counts.changed);
}

/* Any encodings; one in seven has bits above the format's, which are ignored. */
static void check_random(smma_format from, smma_format to, uint64_t seed) {
  uint64_t x[COUNT];
  const int bits = smma_format_bits(from);
  const smma_overflow overflow = (smma_overflow)(seed % 5);
  const smma_rounding rounding = roundings[seed % 5];
  for (size_t i = 0; i < COUNT; i++)
    store_element(from, x, i, random_bits(&seed) >> (i % 7 ? 64 - bits : 0) >> (i % 5 ? 0 : 3));
  check_convert(from, x, to, COUNT, rounding, overflow);
  check_convert(from, x, to, COUNT, SMMA_ROUND_NEAREST_EVEN, overflow);
}

/* Fills an array with numbers of one exponent whose last bits are at or next to the midpoint of two numbers with `bits`
   fewer bits; and with zeros. */
static void fill_exponent(uint32_t *x, size_t count, uint32_t exponent, int bits, uint64_t *seed) {
  for (size_t i = 0; i < count; i++) {
    const uint32_t half = bits ? (uint32_t)1 << (bits - 1) : 0, all = half ? 2 * half - 1 : 0;
    const uint32_t last[] = {0, half / 2, half - (half > 0), half, half + (half > 1), all};
    const uint64_t random = random_bits(seed);
    const uint32_t fraction = ((uint32_t)random & 0x7fffff & ~all) | last[random >> 32 & 3] | last[(random >> 40) % 6];
    x[i] = (uint32_t)(random >> 63) << 31 | (random >> 50 & 15 ? exponent << 23 | fraction : 0);
  }
}

/* Numbers of f32 with every exponent are converted to every format, in whole blocks of normal numbers, of subnormal
   numbers, and of numbers that overflow. */
static void test_convert_exponents(void **state) {
  uint64_t seed = 8;
  (void)state;
  for (int to = 0; to < CONVERTED; to++)
    for (uint32_t exponent = 0; exponent < 256; exponent++) {
      uint32_t x[200];
      uint64_t aligned[100];
      fill_exponent(x, 200, exponent, (int)random_below(&seed, 24), &seed);
      if (exponent % 3 == 1) x[random_below(&seed, 200)] = (uint32_t)random_bits(&seed);
      memcpy(aligned, x, sizeof x);
      for (size_t mode = 0; mode < sizeof roundings / sizeof *roundings; mode++)
        check_convert(SMMA_F32, aligned, converted(to), 200, roundings[mode], (smma_overflow)(exponent % 5));
    }
}

/* Numbers of f64 whose exponents lie in and around the range of f32, and whose last bits are at or next to the midpoint
   of two numbers with fewer bits. One block in three has a number of any exponent. */
static void test_convert_doubles(void **state) {
  uint64_t seed = 9;
  (void)state;
  for (int to = 0; to < CONVERTED; to++)
    for (int exponent = -160; exponent < 140; exponent++) {
      uint64_t x[200];
      const int bits = (int)random_below(&seed, 53);
      for (size_t i = 0; i < 200; i++) {
        const uint64_t half = bits ? (uint64_t)1 << (bits - 1) : 0, all = half ? 2 * half - 1 : 0;
        const uint64_t last[] = {0, 1, half - (half > 0), half, half + (half > 1), all};
        const uint64_t fraction = (random_bits(&seed) >> 12 & ~all) | last[random_below(&seed, 6)];
        x[i] = (uint64_t)random_below(&seed, 2) << 63 |
               (random_below(&seed, 16) ? (uint64_t)(1023 + exponent) << 52 | fraction : 0);
      }
      if (exponent % 3 == 0) x[random_below(&seed, 200)] = random_bits(&seed);
      const smma_overflow overflow = (smma_overflow)((exponent + 160) % 5);
      check_convert(SMMA_F64, x, converted(to), 200, SMMA_ROUND_NEAREST_EVEN, overflow);
      if (exponent % 8 == 0)
        check_convert(SMMA_F64, x, converted(to), 200, roundings[random_below(&seed, 5)], overflow);
    }
}

/* Four numbers for each encoding, which are converted by a table: compared with the conversion of few at a time. */
static void check_many(smma_format from, smma_format to, uint64_t seed) {
  static unsigned char x[(4 << 16) * sizeof(uint16_t)], y[(4 << 16) * sizeof(uint64_t)];
  const size_t bytes = smma_format_bytes(from), to_bytes = smma_format_bytes(to), count = (size_t)4 << 8 * bytes;
  const smma_rounding rounding = roundings[seed % 5];
  const smma_overflow overflow = (smma_overflow)(seed / 5 % 5);
  smma_conversion counts, expected = {0};
  for (size_t i = 0; i < count * bytes; i++) x[i] = (unsigned char)random_bits(&seed);
  assert_int_equal(smma_convert(from, x, to, y, count, rounding, overflow, &counts), SMMA_OK);
  for (size_t i = 0; i < count; i += COUNT) {
    uint64_t part[COUNT];
    smma_conversion own;
    const size_t n = count - i < COUNT ? count - i : COUNT;
    assert_int_equal(smma_convert(from, x + i * bytes, to, part, n, rounding, overflow, &own), SMMA_OK);
    assert_memory_equal(part, y + i * to_bytes, n * to_bytes);
    expected.changed += own.changed, expected.infinite += own.infinite, expected.saturated += own.saturated;
    expected.zero += own.zero, expected.nan += own.nan;
  }
  assert_memory_equal(&counts, &expected, sizeof counts);
  memset(y, 0, count * to_bytes);
  assert_int_equal(smma_convert(from, x, to, y, count, rounding, overflow, NULL), SMMA_OK);
  for (size_t i = 0; i < count; i += 97) {
    uint64_t one = 0;
    assert_int_equal(smma_convert(from, x + i * bytes, to, &one, 1, rounding, overflow, NULL), SMMA_OK);
    assert_memory_equal(&one, y + i * to_bytes, to_bytes);
  }
}

static void test_convert_many(void **state) {
  uint64_t seed = 10;
  (void)state;
  for (int from = 0; from < CONVERTED; from++)
    for (int to = 0; to < CONVERTED && smma_format_bytes(converted(from)) <= 2; to++)
      if (smma_format_bytes(converted(from)) == 1 || random_below(&seed, 4) == 0)
        check_many(converted(from), converted(to), seed++);
}

/* Returns how conversion changes one value, as a letter: i (becomes infinite), s (saturates), z (becomes zero), N
   (becomes NaN), c (changes otherwise), n (does not change). */
static char kind_of_loss(smma_format to, double x, smma_overflow overflow) {
  const uint64_t bits = smma_format_encode(SMMA_F64, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
  uint64_t y;
  smma_conversion c;
  assert_int_equal(smma_convert(SMMA_F64, &bits, to, &y, 1, SMMA_ROUND_NEAREST_EVEN, overflow, &c), SMMA_OK);
  assert_true(c.changed <= 1 && c.infinite + c.saturated + c.zero + c.nan <= c.changed);
  return c.infinite ? 'i' : c.saturated ? 's' : c.zero ? 'z' : c.nan ? 'N' : c.changed ? 'c' : 'n';
}

static void test_losses(void **state) {
  /* For each conversion, `losses` has one letter per element of `values`: how that value changes (see kind_of_loss). */
  static const double values[] = {1, 1.03125, -0.0, 0.1, 1e6, -1e6, 1e-30, -1e-30, INFINITY, -INFINITY, NAN};
  static const struct {
    smma_format to;
    smma_overflow overflow;
    const char *losses;
  } cases[] = {
      {SMMA_F64, SMMA_OVERFLOW_DEFAULT, "nnnnnnnnnnn"},      {SMMA_F32, SMMA_OVERFLOW_DEFAULT, "nnncnnccnnn"},
      {SMMA_F16, SMMA_OVERFLOW_DEFAULT, "nnnciizznnn"},      {SMMA_F16, SMMA_OVERFLOW_SATURATE, "nnncsszzssn"},
      {SMMA_E5M2, SMMA_OVERFLOW_DEFAULT, "ncncsszzssn"},     {SMMA_E5M2, SMMA_OVERFLOW_INFINITY, "ncnciizznnn"},
      {SMMA_E4M3, SMMA_OVERFLOW_DEFAULT, "ncncsszzssn"},     {SMMA_E4M3, SMMA_OVERFLOW_INFINITY, "ncncNNzzNNn"},
      {SMMA_E2M1, SMMA_OVERFLOW_DEFAULT, "ncnzsszzsss"},     {SMMA_UE8M0, SMMA_OVERFLOW_DEFAULT, "ncsccscsssn"},
      {SMMA_S8, SMMA_OVERFLOW_DEFAULT, "ncczsszzssz"},       {SMMA_U8, SMMA_OVERFLOW_DEFAULT, "ncczszzzszz"},
      {SMMA_OCP_INT8, SMMA_OVERFLOW_DEFAULT, "nnccsszzssz"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
      char got = kind_of_loss(cases[i].to, values[v], cases[i].overflow);
      if (got != cases[i].losses[v])
        fail_msg("%g to %s, overflow %d: %c expected, %c", values[v], smma_format_name(cases[i].to), cases[i].overflow,
                 cases[i].losses[v], got);
    }
  /* A number up to half a step beyond the end of the range counts as changed, not as saturated. */
  assert_int_equal(kind_of_loss(SMMA_E4M3, 448.00003, SMMA_OVERFLOW_DEFAULT), 'c');
  assert_int_equal(kind_of_loss(SMMA_E4M3, -464, SMMA_OVERFLOW_DEFAULT), 'c');
  assert_int_equal(kind_of_loss(SMMA_E4M3, -464.5, SMMA_OVERFLOW_DEFAULT), 's');
  assert_int_equal(kind_of_loss(SMMA_S8, 127.5, SMMA_OVERFLOW_DEFAULT), 'c');
  assert_int_equal(kind_of_loss(SMMA_S8, -129, SMMA_OVERFLOW_DEFAULT), 's');
  assert_int_equal(kind_of_loss(SMMA_UE8M0, 0x1.8p-128, SMMA_OVERFLOW_DEFAULT), 'c');
}

static void test_convert(void **state) {
  uint64_t seed = 0;
  (void)state;
  for (int from = 0; from < CONVERTED; from++)
    for (int to = 0; to < CONVERTED; to++) check_random(converted(from), converted(to), seed++);
}

static void test_convert_errors(void **state) {
  uint16_t x = 0x3c00, y = 1;
  (void)state;
  assert_int_equal(smma_convert(SMMA_NO_FORMAT, &x, SMMA_F16, &y, 1, 0, 0, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_convert(SMMA_F16, &x, SMMA_NO_FORMAT, &y, 1, 0, 0, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_convert(SMMA_F16, NULL, SMMA_F16, &y, 1, 0, 0, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_convert(SMMA_F16, &x, SMMA_F16, NULL, 1, 0, 0, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_convert(SMMA_F16, &x, SMMA_F16, &y, 1, (smma_rounding)9, 0, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_convert(SMMA_F16, &x, SMMA_F16, &y, 1, 0, (smma_overflow)5, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(y, 1);
  assert_int_equal(smma_convert(SMMA_F16, NULL, SMMA_F16, NULL, 0, 0, 0, NULL), SMMA_OK);
  assert_int_equal(smma_convert(SMMA_F16, &x, SMMA_BF16, &y, 1, 0, 0, NULL), SMMA_OK);
  assert_int_equal(y, 0x3f80);
}

/* ---- Every format ---- */

/* Reports whether a format is in a list of this file, or is one that test_wide_formats compares with C. */
static bool is_judged(smma_format format) {
  for (size_t f = 0; f < LAYOUTS; f++)
    if (layouts[f].format == format) return true;
  for (size_t f = 0; f < INTEGERS; f++)
    if (integer_formats[f].format == format) return true;
  return format == SMMA_F64 || format == SMMA_F32 || format == SMMA_E8M13;
}

static void test_every_format(void **state) {
  (void)state;
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++)
    if (!is_judged(smma_format_at(row)))
      fail_msg("%s: describe it in `layouts`, from its standard", smma_format_name(smma_format_at(row)));
}

/* Reports whether a format's name is in a line of the manual's table: ".It s8 , u8 , s32 Ta ...". */
static bool has_name(char *line, const char *name) {
  char *end = strstr(line, " Ta ");
  if (strncmp(line, ".It ", 4) != 0 || !end) return false;
  *end = 0;
  for (char *word = strtok(line + 4, " ,"); word; word = strtok(NULL, " ,"))
    if (strcmp(word, name) == 0) return true;
  return false;
}

static void test_manual_has_every_format(void **state) {
  (void)state;
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++) {
    const char *name = smma_format_name(smma_format_at(row));
    FILE *manual = fopen(MANUAL, "r");
    char line[512];
    bool found = smma_format_find(name) == SMMA_NO_FORMAT; /* e8m13 is not a format that users can name */
    assert_non_null(manual);
    while (!found && fgets(line, sizeof line, manual)) found = has_name(line, name);
    fclose(manual);
    if (!found) fail_msg("%s is not in the table of number formats of docs/softmma.1", name);
  }
}

/* ---- Names ---- */

static void test_names(void **state) {
  (void)state;
  for (size_t f = 0; f < LAYOUTS; f++) {
    assert_string_equal(smma_format_name(layouts[f].format), layouts[f].name);
    assert_int_equal(smma_format_find(layouts[f].name), layouts[f].format);
    assert_int_equal(smma_format_bits(layouts[f].format), layouts[f].bits);
    assert_int_equal(smma_format_bytes(layouts[f].format), (layouts[f].bits <= 8    ? 8
                                                            : layouts[f].bits <= 16 ? 16
                                                                                    : 32) /
                                                               8);
  }
  assert_int_equal(smma_format_bytes(SMMA_F64), 8);
  assert_int_equal(smma_format_bytes(SMMA_F32), 4);
  assert_int_equal(smma_format_find("half"), SMMA_F16);
  assert_int_equal(smma_format_find("BFloat16"), SMMA_BF16);
  assert_int_equal(smma_format_find("float8_e4m3fn"), SMMA_E4M3);
  assert_int_equal(smma_format_find("xf32"), SMMA_TF32);
  assert_int_equal(smma_format_find("int8"), SMMA_S8);
  assert_int_equal(smma_format_find("OCP_INT8"), SMMA_OCP_INT8);
  assert_int_equal(smma_format_find("UINT8"), SMMA_U8);
  assert_int_equal(smma_format_find("i32"), SMMA_S32);
  assert_int_equal(smma_format_find("fp8"), SMMA_NO_FORMAT);
  assert_int_equal(smma_format_find(""), SMMA_NO_FORMAT);
  assert_int_equal(smma_format_find(NULL), SMMA_NO_FORMAT);
}

/* Spells out a format with all its parameters; an empty text if a name cannot. */
static void spell_out(smma_format format, char name[40]) {
  static const char *const words[] = {"ieee", "nan", "fnuz", "finite"};
  const smma_encoding f = smma_encoding_of(format);
  *name = 0;
  if (f.ignored_bits || f.specials == SMMA_SPECIALS_POWERS_OF_TWO) return;
  if (smma_is_fixed_point(format) && !smma_is_integer(format)) return;
  if (f.specials == SMMA_SPECIALS_INTEGER)
    snprintf(name, 40, "%s%d", f.sign_bits ? "s" : "u", f.bits);
  else
    snprintf(name, 40, "%se%dm%d-bias%d-%s", f.sign_bits ? "" : "u", f.exponent_bits, f.fraction_bits, f.bias,
             words[f.specials]);
}

/* A format has one number: its name, the text that spells out its parameters, and the name read as such a text give
   the number of its row. A number that spells out its parameters is this number, or not a format. */
static void test_one_number(void **state) {
  (void)state;
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++) {
    const smma_format format = smma_format_at(row);
    const smma_encoding f = smma_encoding_of(format);
    const char *name = smma_format_name(format);
    const smma_format read = smma_spelled_from_text(name, strlen(name), NULL, 0);
    char spelled[40];
    assert_true(format == SMMA_E8M13 || smma_format_find(name) == format);
    if (read != SMMA_NO_FORMAT && read != format)
      fail_msg("%s spells out format %#x, but its row has number %#x", name, (unsigned)read, (unsigned)format);
    spell_out(format, spelled);
    if (*spelled && smma_format_find(spelled) != format)
      fail_msg("%s is format %#x, but %s, which has these parameters, is %#x", spelled,
               (unsigned)smma_format_find(spelled), name, (unsigned)format);
    if (f.ignored_bits == 0 && f.bits <= 16) {
      const smma_format number = SMMA_SPELLED_FORMAT(f.sign_bits, f.exponent_bits, f.fraction_bits, f.bias, f.specials);
      assert_true(number == format || smma_format_bits(number) == 0);
    }
  }
}

static void test_unknown_format(void **state) {
  (void)state;
  assert_string_equal(smma_format_name(SMMA_NO_FORMAT), "none");
  assert_string_equal(smma_format_name((smma_format)-1), "none");
  assert_int_equal(smma_format_bytes(SMMA_NO_FORMAT), 0);
  assert_int_equal(smma_format_bits((smma_format)99), 0);
  assert_true(isnan(smma_format_decode(SMMA_NO_FORMAT, 1)) &&
              isnan(smma_format_decode((smma_format)SMMA_FORMAT_COUNT, 1)));
}

/* Values outside the enumerations give a result that differs from every encoding. */
static void test_round_of_nothing(void **state) {
  static const int formats[] = {SMMA_NO_FORMAT, SMMA_FORMAT_COUNT, 99, -1}, directions[] = {9, 99, -1},
                   overflows[] = {5, 99, -1};
  (void)state;
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
    assert_true(smma_format_encode((smma_format)formats[i], 1, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT) ==
                SMMA_NO_ENCODING);
  for (size_t i = 0; i < sizeof directions / sizeof directions[0]; i++)
    assert_true(smma_format_encode(SMMA_F16, 1, (smma_rounding)directions[i], SMMA_OVERFLOW_DEFAULT) ==
                SMMA_NO_ENCODING);
  for (size_t i = 0; i < sizeof overflows / sizeof overflows[0]; i++)
    assert_true(smma_format_encode(SMMA_F16, 1, SMMA_ROUND_UP, (smma_overflow)overflows[i]) == SMMA_NO_ENCODING);
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++) {
    const smma_format f = smma_format_at(row);
    assert_true(smma_format_encode(f, -NAN, SMMA_ROUND_UP, SMMA_OVERFLOW_INFINITY) != SMMA_NO_ENCODING);
    assert_true(smma_format_encode(f, -INFINITY, SMMA_ROUND_UP, SMMA_OVERFLOW_INFINITY) != SMMA_NO_ENCODING);
    assert_true(smma_format_encode(f, -1, SMMA_ROUND_UP, SMMA_OVERFLOW_INFINITY) != SMMA_NO_ENCODING);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_format),     cmocka_unit_test(test_manual_has_every_format),
      cmocka_unit_test(test_values),           cmocka_unit_test(test_ignored_bits),
      cmocka_unit_test(test_extremes),         cmocka_unit_test(test_around_every_midpoint),
      cmocka_unit_test(test_random_values),    cmocka_unit_test(test_f32_against_casts),
      cmocka_unit_test(test_wide_formats),     cmocka_unit_test(test_losses),
      cmocka_unit_test(test_convert),          cmocka_unit_test(test_convert_exponents),
      cmocka_unit_test(test_convert_doubles),  cmocka_unit_test(test_convert_many),
      cmocka_unit_test(test_convert_errors),   cmocka_unit_test(test_names),
      cmocka_unit_test(test_one_number),       cmocka_unit_test(test_unknown_format),
      cmocka_unit_test(test_integers),         cmocka_unit_test(test_values_of_integers),
      cmocka_unit_test(test_round_of_nothing),
  };
  return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
