/* Exception flags: the judges are this CPU's fused multiply-add, multiplication and addition in every rounding
   direction, results that IEEE 754 settles by hand, and smma_dot_rows for d. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rows/generate.h"
#include "softmma/flags.h"
#include "support.h"

enum { ROWS = 25000, PIECE = 500 };

static const struct {
  const char *name;
  int mode;
} directions[] = {{"nearest-even", FE_TONEAREST},
                  {"toward-zero", FE_TOWARDZERO},
                  {"toward-negative", FE_DOWNWARD},
                  {"toward-positive", FE_UPWARD}};
enum { DIRECTIONS = sizeof directions / sizeof directions[0] };

/* The custom units of all tests, freed at the end. */
static smma_custom *units[32];
static size_t unit_count;

static const smma_instruction *unit_of(const char *text) {
  smma_error error;
  assert_in_range(unit_count, 0, sizeof units / sizeof units[0] - 1);
  units[unit_count] = smma_custom_parse("unit", text, strlen(text), &error);
  if (!units[unit_count]) fail_msg("%s", error.text);
  return smma_custom_instruction(units[unit_count++]);
}

static int free_units(void **unused) {
  (void)unused;
  while (unit_count) smma_custom_free(units[--unit_count]);
  return 0;
}

static const smma_instruction *fma_unit(const char *format, const char *direction) {
  char text[300];
  snprintf(text, sizeof text,
           "{\"softmma-unit\": 1, \"name\": \"fma\", \"algorithm\": \"FMA\", \"k\": 1, \"a\": \"%s\", \"b\": \"%s\", "
           "\"d\": \"%s\", \"rounding\": \"%s\"}",
           format, format, format, direction);
  return unit_of(text);
}

/* ---- Aimed operands ---- */

/* Returns (-1)^random * 1.fraction * 2^exponent in the format; below the least exponent a subnormal, cut off; above
   the greatest exponent infinity. */
static uint64_t number_of(uint64_t *state, smma_encoding f, int exponent, uint64_t fraction) {
  const uint64_t significand = (uint64_t)1 << f.fraction_bits | fraction, sign = random_bits(state) & 1;
  return smma_encode(f, sign, significand, exponent - f.fraction_bits, false, SMMA_ROUND_TOWARD_ZERO,
                     SMMA_OVERFLOW_INFINITY);
}

/* Returns a fraction with long runs of equal bits, or few bits. */
static uint64_t fraction_of(uint64_t *state, smma_encoding f) {
  const uint64_t all = ((uint64_t)1 << f.fraction_bits) - 1, any = random_bits(state) & all;
  switch (random_below(state, 7)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return all;
    case 3: return all - 1;
    case 4: return (uint64_t)1 << random_below(state, (unsigned)f.fraction_bits);
    case 5: return any & ~(all >> random_below(state, 6));
    default: return any;
  }
}

/* Returns an exponent near a boundary of the format, or any. */
static int aimed_exponent(uint64_t *state, smma_encoding f) {
  const int least = smma_minimum_exponent(f), greatest = f.bias;
  switch (random_below(state, 5)) {
    case 0: return random_between(state, least - 2 * f.fraction_bits - 4, least - f.fraction_bits);
    case 1: return random_between(state, least - f.fraction_bits - 2, least - 1);
    case 2: return random_between(state, least - 2, least + 2);
    case 3: return random_between(state, greatest - 2, greatest + 2);
    default: return random_between(state, least, greatest);
  }
}

/* Fills in a, b and c such that the product is near `exponent`, and c is near the product, near its half unit, or
   special. */
static void aim(uint64_t *state, smma_encoding f, uint64_t *a, uint64_t *b, uint64_t *c) {
  const uint64_t infinity = smma_largest_fields(f) + 1,
                 special[] = {
                     0, 1, infinity - 1, infinity, infinity + 1, infinity | (uint64_t)1 << (f.fraction_bits - 1)};
  const int exponent = aimed_exponent(state, f), of_a = exponent / 2 + random_between(state, -20, 20);
  const int apart[] = {0, 1, f.fraction_bits, f.fraction_bits + 1, f.fraction_bits + 2, 2 * f.fraction_bits + 1};
  int of_c = exponent + (random_below(state, 2) ? -1 : 1) * apart[random_below(state, 6)];
  if (random_below(state, 3) == 0) of_c = aimed_exponent(state, f);
  *a = number_of(state, f, of_a, fraction_of(state, f));
  *b = number_of(state, f, exponent - of_a, fraction_of(state, f));
  *c = number_of(state, f, of_c, fraction_of(state, f));
  if (random_below(state, 5) == 0) *c = special[random_below(state, 3) * (random_below(state, 3) == 0)];
  if (random_below(state, 20) == 0) *c = special[random_below(state, 6)];
  if (random_below(state, 40) == 0) *a = special[random_below(state, 6)];
  if (random_below(state, 40) == 0) *b = special[random_below(state, 6)];
}

/* ---- The CPU ---- */

static int raised_flags(void) {
  const int raised = fetestexcept(FE_ALL_EXCEPT);
  return (raised & FE_INEXACT ? SMMA_FLAG_INEXACT : 0) | (raised & FE_UNDERFLOW ? SMMA_FLAG_UNDERFLOW : 0) |
         (raised & FE_OVERFLOW ? SMMA_FLAG_OVERFLOW : 0) | (raised & FE_DIVBYZERO ? SMMA_FLAG_DIVIDE_BY_ZERO : 0) |
         (raised & FE_INVALID ? SMMA_FLAG_INVALID : 0);
}

#if defined(__x86_64__)
static bool cpu_has_fma(void) { return __builtin_cpu_supports("fma"); }
static const smma_tininess cpu_tininess = SMMA_TININESS_AFTER_ROUNDING;
enum { MISSES_INVALID = 1 }; /* x86 returns a quiet addend of 0 times infinity without a flag */
#else
static bool cpu_has_fma(void) {
#ifdef __aarch64__
  return true;
#else
  return false;
#endif
}
static const smma_tininess cpu_tininess = SMMA_TININESS_BEFORE_ROUNDING;
enum { MISSES_INVALID = 0 };
#endif

/* A unit, and the CPU's operation with which it is compared. `bytes` is the size of an element, 4 or 8. */
typedef struct {
  smma_encoding f;
  size_t bytes, k;
  unsigned char a[2 * PIECE * 8], b[2 * PIECE * 8], c[PIECE * 8], d[PIECE * 8], flags[PIECE];
  uint64_t expected[PIECE];
  int raised[PIECE];
} comparison;

static float f32_at(const unsigned char *x, size_t i) {
  float value;
  memcpy(&value, x + 4 * i, 4);
  return value;
}

static double f64_at(const unsigned char *x, size_t i) {
  double value;
  memcpy(&value, x + 8 * i, 8);
  return value;
}

static uint64_t code_of_f32(float x) {
  uint32_t code;
  memcpy(&code, &x, 4);
  return code;
}

static uint64_t code_of_f64(double x) {
  uint64_t code;
  memcpy(&code, &x, 8);
  return code;
}

/* Computes one row on the CPU: with k = 1 a fused multiply-add, with k = 2 four operations, as fmmla does. */
static void judge_f32(comparison *x, size_t row) {
  volatile float a[2], b[2], c = f32_at(x->c, row), d, p, q;
  for (size_t i = 0; i < x->k; i++) a[i] = f32_at(x->a, x->k * row + i), b[i] = f32_at(x->b, x->k * row + i);
  feclearexcept(FE_ALL_EXCEPT);
  if (x->k == 1) {
    d = fmaf(a[0], b[0], c);
  } else {
    p = a[0] * b[0];
    q = a[1] * b[1];
    p = p + q;
    d = c + p;
  }
  x->raised[row] = raised_flags();
  x->expected[row] = code_of_f32(d);
}

static void judge_f64(comparison *x, size_t row) {
  volatile double a[2], b[2], c = f64_at(x->c, row), d, p, q;
  for (size_t i = 0; i < x->k; i++) a[i] = f64_at(x->a, x->k * row + i), b[i] = f64_at(x->b, x->k * row + i);
  feclearexcept(FE_ALL_EXCEPT);
  if (x->k == 1) {
    d = fma(a[0], b[0], c);
  } else {
    p = a[0] * b[0];
    q = a[1] * b[1];
    p = p + q;
    d = c + p;
  }
  x->raised[row] = raised_flags();
  x->expected[row] = code_of_f64(d);
}

/* Reports whether the row is 0 times infinity plus a quiet NaN. */
static bool is_undecided(const comparison *x, size_t row) {
  const smma_number a = smma_decode(x->f, load_element(x->bytes == 4 ? SMMA_F32 : SMMA_F64, x->a, row));
  const smma_number b = smma_decode(x->f, load_element(x->bytes == 4 ? SMMA_F32 : SMMA_F64, x->b, row));
  const smma_number c = smma_decode(x->f, load_element(x->bytes == 4 ? SMMA_F32 : SMMA_F64, x->c, row));
  return MISSES_INVALID && x->k == 1 && c.kind == SMMA_NAN && c.significand >> (x->f.fraction_bits - 1) & 1 &&
         ((a.kind == SMMA_ZERO && b.kind == SMMA_INFINITE) || (a.kind == SMMA_INFINITE && b.kind == SMMA_ZERO));
}

static void check_row(const comparison *x, const char *what, size_t row, smma_format format) {
  const uint64_t d = load_element(format, x->d, row);
  const int raised = x->raised[row] | (is_undecided(x, row) ? SMMA_FLAG_INVALID : 0);
  if (raised == x->flags[row] && same_or_nan(format, d, x->expected[row])) return;
  for (size_t i = 0; i < x->k; i++)
    print_message("a %016llx b %016llx\n", (unsigned long long)load_element(format, x->a, x->k * row + i),
                  (unsigned long long)load_element(format, x->b, x->k * row + i));
  fail_msg("%s: c %016llx: the CPU returns %016llx with flags %02x, the model %016llx with flags %02x", what,
           (unsigned long long)load_element(format, x->c, row), (unsigned long long)x->expected[row], raised,
           (unsigned long long)d, x->flags[row]);
}

/* Compares a unit with the CPU. Adds to `seen` the number of rows with each set of flags. */
static void compare(const smma_instruction *i, const char *what, int mode, uint64_t seed, unsigned *seen) {
  const smma_format format = describe(i).d;
  static comparison x;
  uint64_t state = seed;
  x.f = smma_encoding_of(format), x.bytes = smma_format_bytes(format), x.k = (size_t)describe(i).k;
  for (size_t done = 0; done < ROWS; done += PIECE) {
    const smma_batch batch = {sizeof batch, PIECE, x.a, x.b, x.c, NULL, NULL, x.d};
    for (size_t n = 0; n < x.k * PIECE; n++) {
      uint64_t a, b, c;
      aim(&state, x.f, &a, &b, &c);
      store_element(format, x.a, n, a), store_element(format, x.b, n, b), store_element(format, x.c, n / x.k, c);
    }
    fesetround(mode);
    for (size_t row = 0; row < PIECE; row++) (x.bytes == 4 ? judge_f32 : judge_f64)(&x, row);
    fesetround(FE_TONEAREST);
    assert_int_equal(smma_dot_flags(i, &batch, cpu_tininess, 1, x.flags, NULL), SMMA_OK);
    for (size_t row = 0; row < PIECE; row++) check_row(&x, what, row, format), seen[x.flags[row]]++;
  }
}

/* Fails unless each set of flags that an operation can raise was frequent. */
static void check_seen(const unsigned *seen) {
  static const int sets[] = {0, SMMA_FLAG_INEXACT, SMMA_FLAG_INEXACT | SMMA_FLAG_UNDERFLOW,
                             SMMA_FLAG_INEXACT | SMMA_FLAG_OVERFLOW, SMMA_FLAG_INVALID};
  for (size_t n = 0; n < sizeof sets / sizeof sets[0]; n++) assert_in_range(seen[sets[n]], ROWS / 250, 8 * ROWS);
}

static void test_fma_of_cpu(void **unused) {
  static const char *const formats[] = {"f32", "f64"};
  (void)unused;
  if (!cpu_has_fma()) skip();
  for (int f = 0; f < 2; f++)
    for (int n = 0; n < DIRECTIONS; n++) {
      unsigned seen[32] = {0};
      char what[40];
      snprintf(what, sizeof what, "fma of %s, %s", formats[f], directions[n].name);
      compare(fma_unit(formats[f], directions[n].name), what, directions[n].mode, (uint64_t)(10 * f + n), seen);
      check_seen(seen);
    }
}

/* fmmla is compared with four operations of the CPU: two multiplications and two additions. */
static void test_fmmla_on_cpu(void **unused) {
  unsigned seen[32] = {0};
  (void)unused;
#if defined(__x86_64__) || defined(__aarch64__)
  compare(find("arm", "fmmla.s"), "fmmla.s", FE_TONEAREST, 30, seen);
  compare(find("arm", "fmmla.d"), "fmmla.d", FE_TONEAREST, 31, seen);
  check_seen(seen);
#else
  (void)seen;
  skip();
#endif
}

/* ---- d ---- */

/* For every instruction that has flags, d is that of smma_dot_rows. */
static void test_result(void **unused) {
  enum { COUNT = 300 };
  size_t found = 0;
  (void)unused;
  for (size_t n = 0; n < smma_instruction_count(); n++) {
    const smma_instruction *i = smma_instruction_at(n);
    unsigned char flags[COUNT], *d;
    const size_t bytes = smma_format_bytes(describe(i).d);
    smma_batch batch;
    smma_rows rows;
    if (smma_tininess_of(i) == SMMA_TININESS_OF_UNIT) continue;
    found++;
    assert_true(smma_rows_allocate(i, COUNT, &rows));
    d = test_malloc(COUNT * bytes);
    for (int kind = 0; kind < SMMA_ROWS_KINDS; kind++) {
      smma_generate_rows(&rows, 5, 0, COUNT, 0, (smma_row_kind)kind);
      batch = smma_rows_batch(&rows, 0, COUNT, NULL);
      assert_int_equal(smma_dot_rows(i, &batch, 1), SMMA_OK);
      batch.d = d;
      assert_int_equal(smma_dot_flags(i, &batch, SMMA_TININESS_OF_UNIT, 1, flags, NULL), SMMA_OK);
      if (memcmp(d, rows.part[SMMA_PART_D], COUNT * bytes) != 0)
        fail_msg("%s: other results than smma_dot_rows for rows of kind %s", i->name,
                 smma_row_kind_text((smma_row_kind)kind));
    }
    test_free(d);
    smma_rows_free(&rows);
  }
  assert_in_range(found, 30, 200);
}

/* ---- By hand ---- */

static int flags_of(const smma_instruction *i, const void *a, const void *b, const void *c, smma_tininess tininess) {
  const smma_batch one = {sizeof one, 1, a, b, c, NULL, NULL, NULL};
  unsigned char flags = 255;
  assert_int_equal(smma_dot_flags(i, &one, tininess, 0, &flags, NULL), SMMA_OK);
  return flags;
}

/* (1 + 2^-23) (1 - 2^-23) 2^-126 is below 2^-126 and is rounded to 2^-126. So the result is tiny only before rounding.
 */
static void test_tininess(void **unused) {
  const float a = 0x1.000002p-63f, b = 0x1.fffffcp-64f, c = 0;
  const smma_instruction *custom = fma_unit("f32", "nearest-even"), *arm = find("arm", "fmopa.s");
  (void)unused;
  assert_int_equal(flags_of(custom, &a, &b, &c, SMMA_TININESS_AFTER_ROUNDING), SMMA_FLAG_INEXACT);
  assert_int_equal(flags_of(custom, &a, &b, &c, SMMA_TININESS_BEFORE_ROUNDING),
                   SMMA_FLAG_INEXACT | SMMA_FLAG_UNDERFLOW);
  assert_int_equal(flags_of(custom, &a, &b, &c, SMMA_TININESS_OF_UNIT), SMMA_FLAG_INEXACT);
  assert_int_equal(flags_of(arm, &a, &b, &c, SMMA_TININESS_OF_UNIT), SMMA_FLAG_INEXACT | SMMA_FLAG_UNDERFLOW);
  assert_int_equal(smma_tininess_of(custom), SMMA_TININESS_AFTER_ROUNDING);
  assert_int_equal(smma_tininess_of(arm), SMMA_TININESS_BEFORE_ROUNDING);
  assert_int_equal(smma_tininess_of(find("power", "xvf32gerpp")), SMMA_TININESS_BEFORE_ROUNDING);
}

/* 0 times infinity raises invalid, also if a quiet NaN follows. A quiet NaN alone does not raise it. A signaling NaN
   does, in any operand. */
static void test_invalid(void **unused) {
  const uint32_t zero = 0, infinity = 0x7f800000, quiet = 0x7fc00000, signaling = 0x7f800001, one = 0x3f800000;
  const smma_instruction *i = fma_unit("f32", "nearest-even");
  (void)unused;
  assert_int_equal(flags_of(i, &zero, &infinity, &one, 0), SMMA_FLAG_INVALID);
  assert_int_equal(flags_of(i, &zero, &infinity, &quiet, 0), SMMA_FLAG_INVALID);
  assert_int_equal(flags_of(i, &quiet, &infinity, &one, 0), 0);
  assert_int_equal(flags_of(i, &quiet, &signaling, &one, 0), SMMA_FLAG_INVALID);
  assert_int_equal(flags_of(i, &one, &one, &signaling, 0), SMMA_FLAG_INVALID);
}

/* Power's sum of a pair of BF16 products has an unbounded exponent: 2^127 * 2^127 does not overflow before it is added
   to c. */
static void test_pair_without_ends(void **unused) {
  const uint16_t greatest = 0x7f00, a[2] = {greatest, greatest}, less[2] = {greatest, 0xff00}, more[2] = {greatest, 0};
  const float c = 1;
  (void)unused;
  assert_int_equal(flags_of(find("power", "xvbf16ger2pp"), a, less, &c, 0), 0);
  assert_int_equal(flags_of(find("power", "xvbf16ger2pp"), a, more, &c, 0), SMMA_FLAG_OVERFLOW | SMMA_FLAG_INEXACT);
}

/* Returns a composition of two products that are summed to 24 bits in f64, then added to c. `pair` and `unit` are
   further keys of that sum and of the unit; each begins with a comma. */
static const smma_instruction *pair_unit(const char *pair, const char *unit) {
  char text[600];
  snprintf(
      text, sizeof text,
      "{\"softmma-unit\": 1, \"name\": \"pair\", \"algorithm\": \"composition\", \"k\": 4, \"a\": \"f64\", \"b\": "
      "\"f64\", "
      "\"d\": \"f64\"%s, \"steps\": [{\"take\": 4, \"join\": \"apart\", \"alignment_bits\": \"exact\", \"zero_sign\": "
      "\"ieee\", \"narrow_bits\": 23, \"narrow_subnormals\": false, \"output\": \"f64\"%s}, {\"take\": 1, \"join\": "
      "\"chain\", "
      "\"start\": \"c\", \"alignment_bits\": \"exact\", \"zero_sign\": \"ieee\", \"output\": \"f64\"}]}",
      unit, pair);
  return unit_of(text);
}

/* The first rounding, to 24 bits, can overflow; a NaN term hides infinities of opposite signs. */
static void test_composition(void **unused) {
  const double a[4] = {0x1.fffffffp1023, 0, 0, 0}, b[4] = {1, 0, 0, 0}, c = 1;
  const double infinities[4] = {INFINITY, -INFINITY, 0, 0}, one[4] = {1, 1, 1, 1};
  const double hidden[4] = {INFINITY, -INFINITY, NAN, 0};
  const smma_instruction *i = pair_unit("", "");
  (void)unused;
  assert_int_equal(flags_of(i, a, b, &c, 0), SMMA_FLAG_OVERFLOW | SMMA_FLAG_INEXACT);
  assert_int_equal(flags_of(i, infinities, one, &c, 0), SMMA_FLAG_INVALID);
  assert_int_equal(flags_of(i, hidden, one, &c, 0), 0);
}

/* ---- Refusals ---- */

static void test_refusals(void **unused) {
  static const char *const names[][2] = {{"H100", "mma.m16n8k16.f32.f16.f16.f32"},
                                         {"x86", "vdpbf16ps"},
                                         {"arm", "bfmmla"},
                                         {"arm", "smmla"},
                                         {"cdna1", "v_mfma_f32_16x16x16f16"},
                                         {"B200", "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0"}};
  const smma_batch none = {.size = sizeof none};
  static const char *const of_pair[] = {", \"rounding\": \"to-odd\", \"overflow\": \"by-direction\"",
                                        ", \"early_underflow\": true", ", \"subnormal_outputs\": \"to-signed-zero\"",
                                        ", \"overflow\": \"saturate\"", ", \"drop\": 3"};
  static const char *const of_unit[] = {", \"widen\": \"f16\"", ", \"subnormal_a\": \"to-signed-zero\"",
                                        ", \"product_limit\": 128"};
  const smma_instruction *fma = fma_unit("f32", "nearest-even");
  unsigned char flags;
  smma_error error;
  (void)unused;
  for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
    assert_int_equal(smma_dot_flags(find(names[n][0], names[n][1]), &none, 0, 0, &flags, &error),
                     SMMA_INVALID_ARGUMENT);
    assert_non_null(strstr(error.text, "has no exception flags"));
    assert_int_equal(smma_tininess_of(find(names[n][0], names[n][1])), SMMA_TININESS_OF_UNIT);
  }
  for (size_t n = 0; n < sizeof of_pair / sizeof of_pair[0]; n++)
    assert_int_equal(smma_tininess_of(pair_unit(of_pair[n], "")), SMMA_TININESS_OF_UNIT);
  for (size_t n = 0; n < sizeof of_unit / sizeof of_unit[0]; n++)
    assert_int_equal(smma_tininess_of(pair_unit("", of_unit[n])), SMMA_TININESS_OF_UNIT);
  assert_int_equal(smma_dot_flags(fma, &none, 0, 0, NULL, NULL), SMMA_OK);
  assert_int_equal(smma_dot_flags(fma, &none, (smma_tininess)3, 0, NULL, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_dot_flags(fma, NULL, 0, 0, NULL, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_dot_flags(NULL, &none, 0, 0, NULL, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_tininess_of(NULL), SMMA_TININESS_OF_UNIT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fma_of_cpu),  cmocka_unit_test(test_fmmla_on_cpu), cmocka_unit_test(test_result),
      cmocka_unit_test(test_tininess),    cmocka_unit_test(test_invalid),      cmocka_unit_test(test_pair_without_ends),
      cmocka_unit_test(test_composition), cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, free_units);
}
