/* Number formats whose names spell them out. Every encoding of every shape is decoded, and numbers are rounded to it;
   both are compared with the definition in integers. Also tests the names, and units with arbitrary formats, computed
   by the fastest kernel and by the core. test_format tests conversions. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "isa/custom.h"
#include "isa/format_name.h"
#include "operands.h"
#include "random.h"
#include "random_unit.h"
#include "support.h"

/* Returns N if the test runs one of N roundings and units. */
static int every(void) { return (int)amount_of("SOFTMMA_SPELLED_EVERY", 1); }

/* ---- Definition: docs/custom-units.md ---- */

typedef enum { IEEE, ONE_NAN, FNUZ, FINITE, P3109_EXTENDED, P3109_FINITE, WORDS } word;
static const char *const words[] = {"ieee", "nan", "fnuz", "finite"};

typedef struct {
  bool has_sign;
  int exponent_bits, fraction_bits, bias;
  word word;
} parameters;

static bool is_p3109(const parameters *p) { return p->word == P3109_EXTENDED || p->word == P3109_FINITE; }

/* Reports whether the code of -0 is NaN. */
static bool has_no_minus_zero(const parameters *p) { return p->word == FNUZ || (is_p3109(p) && p->has_sign); }

static bool has_infinity(const parameters *p) { return p->word == IEEE || p->word == P3109_EXTENDED; }

/* Exponent and fraction together number the magnitudes, from zero on. */
static uint64_t fields_of(const parameters *p) { return UINT64_C(1) << (p->exponent_bits + p->fraction_bits); }

static uint64_t greatest_of(const parameters *p) {
  switch (p->word) {
    case IEEE: return fields_of(p) - (UINT64_C(1) << p->fraction_bits) - 1;
    case ONE_NAN: return fields_of(p) - 2;
    case P3109_EXTENDED: return fields_of(p) - (p->has_sign ? 2 : 3);
    case P3109_FINITE: return fields_of(p) - (p->has_sign ? 1 : 2);
    default: return fields_of(p) - 1;
  }
}

static int usual_bias(const parameters *p) { return (1 << p->exponent_bits) / 2 - (p->word != FNUZ && !is_p3109(p)); }

/* Magnitude number i is significand * 2^exponent; number i + 1 is the next larger one. */
static uint64_t significand_of(const parameters *p, uint64_t i) {
  const uint64_t one = UINT64_C(1) << p->fraction_bits;
  return i < one ? i : one + i % one;
}
static int exponent_of(const parameters *p, uint64_t i) {
  const int field = (int)(i >> p->fraction_bits);
  return (field ? field : 1) - p->bias - p->fraction_bits;
}

static bool is_one(const parameters *p) {
  const uint64_t greatest = greatest_of(p);
  if (p->word == IEEE && p->fraction_bits == 0) return false;
  if ((p->word == FNUZ && !p->has_sign) || greatest >> p->fraction_bits == 0) return false;
  if (p->has_sign + p->exponent_bits + p->fraction_bits < (is_p3109(p) ? 3 : 2)) return false;
  return exponent_of(p, 1) >= -1074 && exponent_of(p, greatest) + p->fraction_bits <= 1023;
}

static void name_of(const parameters *p, char name[40]) {
  if (is_p3109(p))
    sprintf(name, "binary%dp%d%s%s", p->has_sign + p->exponent_bits + p->fraction_bits, p->fraction_bits + 1,
            p->has_sign ? "s" : "u", p->word == P3109_EXTENDED ? "e" : "f");
  else
    sprintf(name, "%se%dm%d-bias%d-%s", p->has_sign ? "" : "u", p->exponent_bits, p->fraction_bits, p->bias,
            words[p->word]);
}

/* ---- Every encoding ---- */

static uint64_t sign_of(const parameters *p, bool negative) { return p->has_sign && negative ? fields_of(p) : 0; }

static void check_decoding(const parameters *p, smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const uint64_t greatest = greatest_of(p);
  for (uint64_t code = 0; code < fields_of(p) << p->has_sign; code++) {
    const bool negative = code >= fields_of(p);
    const uint64_t i = code % fields_of(p);
    const smma_number x = smma_decode(f, code);
    const double value = smma_format_decode(format, code);
    if (i > greatest || (has_no_minus_zero(p) && negative && i == 0)) {
      const bool infinite = has_infinity(p) && i == greatest + 1;
      assert_int_equal(x.kind, infinite ? SMMA_INFINITE : SMMA_NAN);
      assert_true(infinite ? isinf(value) && (value < 0) == negative : isnan(value) != 0);
    } else {
      const double expected = ldexp((double)significand_of(p, i), exponent_of(p, i));
      assert_int_equal(x.kind, i ? SMMA_FINITE : SMMA_ZERO);
      assert_true(x.negative == negative && fabs(value) == expected && !signbit(value) == !negative);
      assert_true(x.significand == significand_of(p, i) && x.exponent - x.fraction_bits == exponent_of(p, i));
    }
  }
}

/* Reports whether a magnitude is rounded to the upper neighbour. It is `part` / 256 of the way from the lower to the
   upper neighbour, or slightly more if `more`. If both neighbours are odd, as without fraction bits, a tie goes to the
   larger one (IEEE 754-2019, section 4.3.1). In P3109 formats codes are odd or even. */
static bool goes_up(smma_rounding direction, bool negative, uint64_t below, int part, bool more) {
  const bool exact = part == 0 && !more, half = part == 128 && !more, above = part > 128 || (part == 128 && more);
  switch (direction) {
    case SMMA_ROUND_NEAREST_EVEN: return above || (half && below % 2);
    case SMMA_ROUND_NEAREST_AWAY: return above || half;
    case SMMA_ROUND_NEAREST_ZERO: return above;
    case SMMA_ROUND_NEAREST_UP: return above || (half && !negative);
    case SMMA_ROUND_NEAREST_DOWN: return above || (half && negative);
    case SMMA_ROUND_TOWARD_ZERO: return false;
    case SMMA_ROUND_UP: return !exact && !negative;
    case SMMA_ROUND_DOWN: return !exact && negative;
    case SMMA_ROUND_TO_ODD: return !exact && below % 2 == 0;
  }
  return false;
}

static uint64_t beyond(const parameters *p, bool negative, smma_overflow overflow) {
  const int bits = p->has_sign + p->exponent_bits + p->fraction_bits;
  const bool saturates = overflow == SMMA_OVERFLOW_SATURATE || (overflow == SMMA_OVERFLOW_DEFAULT && bits <= 8);
  if (saturates || p->word == FINITE) return sign_of(p, negative) | greatest_of(p);
  if (has_no_minus_zero(p) && !has_infinity(p)) return fields_of(p);
  return sign_of(p, negative) | (greatest_of(p) + 1);
}

static uint64_t code_of(const parameters *p, bool negative, uint64_t i, smma_overflow overflow) {
  if (negative && !p->has_sign) return 0;
  if (i > greatest_of(p)) return beyond(p, negative, overflow);
  return (i || !has_no_minus_zero(p) ? sign_of(p, negative) : 0) | i;
}

/* Checks values between every magnitude and the next, including the next beyond the largest. */
static void check_rounding(const parameters *p, smma_format format) {
  static const int parts[] = {0, 0, 1, 128, 128, 255};
  const smma_encoding f = smma_encoding_of(format);
  for (uint64_t i = 0; i <= greatest_of(p); i++)
    for (int part = 0; part < 6; part++)
      for (int direction = SMMA_ROUND_NEAREST_EVEN; direction <= SMMA_ROUND_TO_ODD; direction++) {
        const smma_overflow overflow = (smma_overflow)((i + (uint64_t)part) % 3);
        const bool negative = (i + (uint64_t)direction) % 2, more = part == 1 || part == 4;
        const uint64_t significand = (significand_of(p, i) << 8 | (uint64_t)parts[part]) << 20;
        const uint64_t below = is_p3109(p) ? i : significand_of(p, i);
        const uint64_t up = goes_up((smma_rounding)direction, negative, below, parts[part], more);
        const uint64_t expected = code_of(p, negative, i + up, overflow);
        uint64_t got;
        if (significand == 0 && more) continue;
        got = smma_encode(f, negative, significand, exponent_of(p, i) - 28, more, (smma_rounding)direction, overflow);
        if (got != expected)
          fail_msg("%s: magnitude %" PRIu64 ", part %d, direction %d, overflow %d: %" PRIx64 ", expected %" PRIx64,
                   smma_format_name(format), i, part, direction, (int)overflow, got, expected);
      }
}

/* Checks values far beyond the range, infinity, NaN, and zeros. */
static void check_ends(const parameters *p, smma_format format) {
  const bool signed_nan = p->word == IEEE || p->word == ONE_NAN;
  const uint64_t nan = p->word == IEEE        ? greatest_of(p) + 1 + (UINT64_C(1) << (p->fraction_bits - 1))
                       : p->word == ONE_NAN   ? greatest_of(p) + 1
                       : has_no_minus_zero(p) ? fields_of(p)
                       : is_p3109(p)          ? fields_of(p) - 1
                                              : greatest_of(p);
  for (int o = SMMA_OVERFLOW_DEFAULT; o <= SMMA_OVERFLOW_INFINITY; o++)
    for (int negative = 0; negative < 2; negative++) {
      const uint64_t end = negative && !p->has_sign ? 0 : beyond(p, negative, (smma_overflow)o);
      assert_true(smma_format_encode(format, negative ? -INFINITY : INFINITY, SMMA_ROUND_DOWN, (smma_overflow)o) ==
                  end);
      assert_true(smma_format_encode(format, negative ? -0. : 0., SMMA_ROUND_UP, (smma_overflow)o) ==
                  code_of(p, negative, 0, (smma_overflow)o));
      assert_true(smma_format_encode(format, negative ? -(double)NAN : (double)NAN, SMMA_ROUND_UP, (smma_overflow)o) ==
                  (nan | (signed_nan ? sign_of(p, negative) : 0)));
    }
}

static void check_format(const parameters *p, size_t *formats) {
  char name[40];
  smma_format format;
  name_of(p, name);
  format = smma_format_find(name);
  if (!is_one(p)) {
    if (format != SMMA_NO_FORMAT) fail_msg("%s is taken for a format", name);
    return;
  }
  if (format == SMMA_NO_FORMAT) fail_msg("%s is no format", name);
  if (smma_format_find(smma_format_name(format)) != format) fail_msg("%s is %s", name, smma_format_name(format));
  if (smma_is_spelled(format)) {
    const int bits = p->has_sign + p->exponent_bits + p->fraction_bits;
    assert_int_equal(smma_format_bits(format), bits);
    assert_int_equal(smma_format_bytes(format), bits > 8 ? 2 : 1);
  }
  check_decoding(p, format);
  check_rounding(p, format);
  check_ends(p, format);
  ++*formats;
}

/* Every shape has the defined values. Shapes of at most 10 bits are also tested with biases that make every number
   smaller, or larger, than one. */
static void test_every_encoding(void **state) {
  size_t formats = 0;
  (void)state;
  for (int has_sign = 0; has_sign < 2; has_sign++)
    for (int exponent_bits = 1; exponent_bits <= 11; exponent_bits++)
      for (int fraction_bits = 0; has_sign + exponent_bits + fraction_bits <= 16; fraction_bits++)
        for (int w = 0; w < WORDS; w++) {
          const bool few = has_sign + exponent_bits + fraction_bits <= 10;
          parameters p = {has_sign, exponent_bits, fraction_bits, 0, (word)w};
          const int usual = usual_bias(&p), biases[] = {usual, usual - 1, -3, usual + 60, 1070};
          for (int b = 0; b < (few && !is_p3109(&p) ? 5 : 1); b++) p.bias = biases[b], check_format(&p, &formats);
        }
  assert_true(formats > 1000);
}

/* The digest of all values in the working group's tables (P3109/Public, commit 26df0d0, "Value Tables/Hexadecimal"),
   for the formats of 3 to 16 bits that have at most 11 exponent bits. */
static void test_p3109_tables(void **state) {
  uint64_t digest = 0, codes = 0;
  (void)state;
  for (int bits = 3; bits <= 16; bits++)
    for (int precision = 1; precision <= bits; precision++)
      for (int n = 0; n < 4; n++) {
        const int exponent_bits = bits - precision + n / 2;
        char name[40];
        smma_format format;
        if (exponent_bits < 1 || exponent_bits > 11) continue;
        snprintf(name, sizeof name, "binary%dp%d%c%c", bits, precision, "su"[n / 2], "ef"[n % 2]);
        format = smma_format_find(name);
        for (uint64_t code = 0; code < UINT64_C(1) << bits; code++, codes++) {
          const double value = smma_format_decode(format, code);
          uint64_t fp64 = UINT64_C(0x7ff8000000000000);
          if (!isnan(value)) memcpy(&fp64, &value, sizeof fp64);
          digest = (digest ^ fp64) * UINT64_C(0x9e3779b97f4a7c15);
          digest ^= digest >> 32;
        }
      }
  assert_int_equal(codes, 5742576);
  assert_true(digest == UINT64_C(0xa26be0dabfffc754));
}

/* ---- Integers ---- */

static void test_integers(void **state) {
  (void)state;
  for (int bits = 2; bits <= 8; bits++)
    for (int has_sign = 0; has_sign < 2; has_sign++) {
      const int most = (1 << (bits - has_sign)) - 1, least = has_sign ? -most - 1 : 0;
      char name[8];
      smma_format format;
      snprintf(name, sizeof name, "%s%d", has_sign ? "s" : "u", bits);
      format = smma_format_find(name);
      assert_string_equal(smma_format_name(format), name);
      assert_int_equal(smma_format_bits(format), bits);
      assert_int_equal(smma_format_bytes(format), 1);
      for (int quarters = 4 * least - 9; quarters <= 4 * most + 9; quarters++) {
        const double x = quarters / 4.;
        const double rounded[] = {nearbyint(x), trunc(x), floor(x), ceil(x), round(x)};
        for (int r = 0; r < 5; r++) {
          const double in = fmin(fmax(rounded[r], least), most);
          const uint64_t code = smma_format_encode(format, x, (smma_rounding)r, SMMA_OVERFLOW_INFINITY);
          assert_true(code == ((uint64_t)(int64_t)in & ((UINT64_C(1) << bits) - 1)));
          assert_true(smma_format_decode(format, code) == in);
          assert_true(smma_format_decode(format, code | UINT64_C(0x55) << bits) == in);
        }
      }
      assert_true(smma_format_encode(format, (double)NAN, 0, 0) == 0);
    }
}

/* ---- Names ---- */

static const struct {
  const char *text, *name;
} names[] = {
    {"e5m10", "f16"},
    {"e8m7", "bf16"},
    {"E5M10-IEEE", "f16"},
    {"e5m10-bias15", "f16"},
    {"e11m4", "e11m4"},
    {"e4m3", "e4m3"},
    {"e4m3-nan", "e4m3"},
    {"e4m3-bias7-nan", "e4m3"},
    {"e4m3-ieee", "e4m3-ieee"},
    {"e4m3-bias8", "e4m3-bias8"},
    {"e4m3-bias8-nan", "e4m3-bias8"},
    {"e4m3-fnuz", "e4m3fnuz"},
    {"e4m3-bias8-fnuz", "e4m3fnuz"},
    {"e4m3-bias7-fnuz", "e4m3-bias7-fnuz"},
    {"float8_e4m3b11fnuz", "e4m3-bias11-fnuz"},
    {"float8_e3m4", "e3m4"},
    {"float8_e4m3", "e4m3-ieee"},
    {"e5m2", "e5m2"},
    {"e5m2-fnuz", "e5m2fnuz"},
    {"e3m2", "e3m2"},
    {"e3m2-finite", "e3m2"},
    {"e3m2-ieee", "e3m2-ieee"},
    {"e2m1-nan", "e2m1-nan"},
    {"ue4m3", "ue4m3"},
    {"ue4m3-nan", "ue4m3"},
    {"ue5m3", "ue5m3"},
    {"ue8m8-finite", "ue8m8-finite"},
    {"e5m0-finite", "e5m0-finite"},
    {"e1m6-bias-4-finite", "e1m6-bias-4-finite"},
    {"s4", "s4"},
    {"s8", "s8"},
    {"u3", "u3"},
    {"int2", "s2"},
    {"uint2", "u2"},
    {"binary8p3sf", "e5m2fnuz"},
    {"Binary8p4sf", "e4m3fnuz"},
    {"binary8p5sf", "e3m4-fnuz"},
    {"binary8p1sf", "binary8p1sf"},
    {"binary8p3se", "binary8p3se"},
    {"P3109_K8P3SE", "binary8p3se"},
    {"binary8p4uf", "ue5m3-bias16-nan"},
    {"binary8p1uf", "binary8p1uf"},
    {"binary8p8ue", "binary8p8ue"},
    {"binary16p5se", "binary16p5se"},
};

static const struct {
  const char *text, *why;
} no_names[] = {
    {"e5m0", "fraction bit"},
    {"e12m3", "1 to 11 bits"},
    {"e0m7", "1 to 11 bits"},
    {"e8m8", "2 to 16 bits"},
    {"e5m99", "2 to 16 bits"},
    {"ue4m3-fnuz", "without a sign"},
    {"e1m0-nan", "no normal number"},
    {"e1m6", "no normal number"},
    {"binary2p1se", "3 to 16 bits"},
    {"binary17p8se", "3 to 16 bits"},
    {"binary8p8se", "precision"},
    {"binary8p0se", "precision"},
    {"binary8p9ue", "precision"},
    {"binary16p4se", "1 to 11 bits"},
    {"binary8p3s", ""},
    {"binary8p3sg", ""},
    {"binary16", ""},
    {"binary8p3se-bias3", ""},
    {"p3109_8p3se", ""},
    {"e8m13", ""},
    {"e5m3-bias1100", "f64"},
    {"e5m3-bias-1000", "f64"},
    {"e5m3-bias9999", "f64"},
    {"e4m3-bias9999", "f64"},
    {"s9", "2 to 8 bits"},
    {"s1", "2 to 8 bits"},
    {"e5m3-", ""},
    {"e5m3-inf", ""},
    {"e5m3-ieee-bias7", ""},
    {"e5m3-biasx", ""},
    {"e5m3-bias07", ""},
    {"e05m3", ""},
    {"e5m", ""},
    {"em3", ""},
    {"e5m3 ", ""},
    {"s", ""},
    {"s4x", ""},
    {"e5m3-bias99999", ""},
    {"e4m3-bias7-ieee-bias7-ieee-bias7-ieee-bias7", ""},
};

static void test_names(void **state) {
  char why[200];
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    assert_string_equal(smma_format_name(smma_format_find(names[i].text)), names[i].name);
  for (size_t i = 0; i < sizeof no_names / sizeof *no_names; i++) {
    const char *text = no_names[i].text;
    if (smma_format_find(text) != SMMA_NO_FORMAT)
      fail_msg("'%s' is %s", text, smma_format_name(smma_format_find(text)));
    assert_int_equal(smma_spelled_from_text(text, strlen(text), why, sizeof why), SMMA_NO_FORMAT);
    if (*no_names[i].why ? !strstr(why, no_names[i].why) : *why) fail_msg("'%s': '%s'", text, why);
  }
}

/* Integers that do not identify a format have the name "none" and no values. */
static void test_no_formats(void **state) {
  static const int none[] = {1 << 24,
                             (1 << 24) + 1,
                             1 << 25,
                             (1 << 25) - 1,
                             300,
                             -1,
                             (1 << 24) | 2048 << 12 | 7 << 9,
                             (1 << 24) | 2064 << 12 | 7 << 9 | 1 << 8 | 5 << 4 | 2,  /* e5m2fnuz as binary8p3sf */
                             (1 << 24) | 2063 << 12 | 6 << 9 | 1 << 8 | 5 << 4 | 2}; /* binary8p3se with another bias */
  uint64_t x = 0;
  (void)state;
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
    const smma_format format = (smma_format)none[i];
    assert_string_equal(smma_format_name(format), "none");
    assert_int_equal(smma_format_bits(format), 0);
    assert_true(isnan(smma_format_decode(format, 1)));
    assert_true(smma_format_encode(format, 1, 0, 0) == SMMA_NO_ENCODING);
    assert_int_equal(smma_convert(format, &x, SMMA_F32, &x, 1, 0, 0, NULL), SMMA_INVALID_ARGUMENT);
    assert_int_equal(smma_convert(SMMA_F32, &x, format, &x, 1, 0, 0, NULL), SMMA_INVALID_ARGUMENT);
  }
}

/* ---- Units ---- */

/* Computes two steps of the instruction as a product. */
static void multiply(const smma_instruction *i, const smma_row row[2], const char *kernel, uint64_t *d) {
  unsigned char a[2 * SMMA_MAXIMUM_K * 8], b[2 * SMMA_MAXIMUM_K * 8], scale_a[2 * SMMA_MAXIMUM_K],
      scale_b[2 * SMMA_MAXIMUM_K];
  const int scales = i->scale_block ? i->k / i->scale_block : 0;
  uint64_t c = 0;
  smma_gemm_arguments g;
  for (int s = 0; s < 2; s++) {
    for (int k = 0; k < i->k; k++) {
      store_element(i->a, a, (size_t)(s * i->k + k), row[s].a[k]);
      store_element(i->b, b, (size_t)(s * i->k + k), row[s].b[k]);
    }
    for (int k = 0; k < scales; k++) {
      store_element(i->scale, scale_a, (size_t)(s * scales + k), row[s].scale_a[k]);
      store_element(i->scale, scale_b, (size_t)(s * scales + k), row[s].scale_b[k]);
    }
  }
  store_element(i->c, &c, 0, row[0].c);
  smma_gemm_defaults(&g, sizeof g);
  g.m = g.n = 1, g.k = 2 * (size_t)i->k;
  g.a = a, g.b = b, g.c = &c, g.d = d, g.order_b = SMMA_COLUMN_MAJOR, g.kernel = kernel;
  g.scale_a = scales ? scale_a : NULL, g.scale_b = scales ? scale_b : NULL;
  assert_int_equal(smma_gemm(i, &g), SMMA_OK);
}

/* Checks that the fastest kernel and the core give the same bits. */
static void check_unit(smma_custom c, uint64_t seed) {
  const smma_instruction *i = smma_custom_make(&c);
  const smma_operation o = smma_operation_of(i);
  for (uint64_t r = 0; r < 40; r++) {
    smma_row row[2];
    uint64_t d[2] = {0, 0};
    operands_generate(&o, seed, 2 * r, &row[0]), operands_generate(&o, seed, 2 * r + 1, &row[1]);
    row[0].c = smma_low_bits(row[0].c, smma_format_bits(i->c));
    multiply(i, row, NULL, &d[0]), multiply(i, row, "core", &d[1]);
    if (d[0] != d[1]) {
      char text[8192];
      smma_custom_text(i, text, sizeof text);
      fail_msg("row %" PRIu64 ": %" PRIx64 ", expected %" PRIx64 "\n%s", r, d[0], d[1], text);
    }
  }
  smma_custom_release(i);
}

static void test_units(void **state) {
  (void)state;
  for (uint64_t u = 0; u < 400; u += (uint64_t)every()) {
    check_unit(random_catalogue_unit(u), u);
    check_unit(random_any_unit(u), u);
  }
}

/* Parameters of a format of the table, spelled out in a file, are that format. */
static void test_units_are_one(void **state) {
  static const char *const texts[] = {"f16", "e5m10-bias15-ieee"};
  smma_error error;
  const smma_instruction *i[2];
  (void)state;
  for (int n = 0; n < 2; n++) {
    char text[512];
    snprintf(
        text, sizeof text,
        "{\"softmma-unit\": 1, \"name\": \"x\", \"algorithm\": \"T-FDPA\", \"k\": 16, \"a\": \"%s\", \"b\": \"%s\", "
        "\"d\": \"f32\", \"alignment_bits\": 25, \"block\": 16, \"rounding\": \"toward-zero\", "
        "\"zero_exponent\": -133}",
        texts[n], texts[n]);
    i[n] = smma_custom_read("custom", text, strlen(text), &error);
    if (!i[n]) fail_msg("%s", error.text);
  }
  assert_true(smma_same_operation(i[0], i[1]));
  assert_string_equal(smma_kernel_for(i[0], NULL, NULL), smma_kernel_for(i[1], NULL, NULL));
  smma_custom_release(i[0]), smma_custom_release(i[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_encoding), cmocka_unit_test(test_p3109_tables), cmocka_unit_test(test_integers),
      cmocka_unit_test(test_names),          cmocka_unit_test(test_no_formats),   cmocka_unit_test(test_units),
      cmocka_unit_test(test_units_are_one),
  };
  return cmocka_run_group_tests_name("spelled", tests, NULL, NULL);
}
