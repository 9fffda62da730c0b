/* Accurate products from words: the published examples number by number, identities, and refused arguments. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/custom.h"
#include "numerics/words.h"
#include "support.h"

enum { M = 5, N = 4, K = 20 };

typedef struct {
  double a[M * K], b[K * N];
} operands;

static const smma_words_sum sums[] = {SMMA_SUM_F64, SMMA_SUM_F32, SMMA_SUM_UNIT, SMMA_SUM_UNIT_SCALED};
#define SUM_COUNT (sizeof sums / sizeof *sums)

static smma_words words_of(smma_words_method method, int words, smma_words_sum sum, int flush_subnormals) {
  smma_words how;
  smma_words_defaults(&how, sizeof how);
  how.method = method, how.words = words, how.sum = sum, how.flush_subnormals = flush_subnormals;
  return how;
}

static smma_f64_product product_of(const double *a, const double *b, double *d, size_t m, size_t n, size_t k) {
  smma_f64_product g;
  smma_f64_product_defaults(&g, sizeof g);
  g.m = m, g.n = n, g.k = k, g.a = a, g.b = b, g.d = d, g.threads = 1;
  return g;
}

static void multiply(const smma_instruction *i, const operands *o, smma_words how, double d[M * N]) {
  smma_f64_product g = product_of(o->a, o->b, d, M, N, K);
  assert_int_equal(smma_gemm_words(i, &g, &how), SMMA_OK);
}

/* Returns a unit with exact sums: products are exact in D's format, FP64, if they fit. */
static const smma_instruction *exact_unit(const char *format) {
  char text[400];
  smma_error error;
  const smma_instruction *unit;
  snprintf(text, sizeof text,
           "{\"softmma-unit\": 1, \"name\": \"exact\", \"algorithm\": \"G-FDPA\", \"k\": 16, \"a\": \"%s\", "
           "\"b\": \"%s\", \"d\": \"f64\", \"alignment_bits\": \"exact\", \"zero_sign\": \"ieee\"}",
           format, format);
  unit = smma_custom_read("custom", text, strlen(text), &error);
  if (!unit) fail_msg("%s", error.text);
  return unit;
}

/* Fills x with integers of at most `bits` bits and either sign, times 2^exponent. */
static void random_integers(uint64_t *state, int bits, int exponent, double *x, size_t count) {
  for (size_t i = 0; i < count; i++)
    x[i] = ldexp((double)(random_bits(state) >> (64 - bits)), exponent) * (random_below(state, 2) ? 1 : -1);
}

/* Fills x with magnitudes from 1/4 to 1 with 53 bits. */
static void random_reals(uint64_t *state, double *x, size_t count) {
  for (size_t i = 0; i < count; i++)
    x[i] = (0.25 + 0.75 * (double)(random_bits(state) >> 11) * 0x1p-53) * (random_below(state, 2) ? 1 : -1);
}

/* Returns the exact product of integers times 2^exponent. */
static int64_t exact_product(const operands *o, int exponent, size_t i, size_t j) {
  int64_t sum = 0;
  for (size_t k = 0; k < K; k++)
    sum += (int64_t)ldexp(o->a[i * K + k], -exponent) * (int64_t)ldexp(o->b[k * N + j], -exponent);
  return sum;
}

/* ---- The published examples (Mikaitis, slides of 2025): E4M3 to binary16, theta = 127, no subnormals ---- */

static const double example_a[16] = {500, 1, 1, 0x1p-6, 128, 128, 128, 128, 1, 1, 1, 1, 1, 1, 1, 1};
static const double example_b[16] = {1, 128, 1, 1, 1, 128, 1, 1, 1, 128, 1, 1, 1, 128, 1, 1};

static void test_example_scaling(void **state) {
  smma_word_format e4m3 = smma_word_format_of(SMMA_E4M3), f16 = smma_word_format_of(SMMA_F16);
  double theta = smma_words_theta(e4m3.largest, f16.largest, 4);
  (void)state;
  assert_true(e4m3.largest == 448 && e4m3.normal == 0x1p-6 && e4m3.precision == 4);
  assert_true(f16.largest == 65504 && f16.normal == 0x1p-14 && f16.precision == 11);
  assert_true(fabs(theta - 127.9687) < 1e-4);
  assert_int_equal(smma_words_exponent(500, 127), -2);
  assert_int_equal(smma_words_exponent(128, 127), -1);
  assert_int_equal(smma_words_exponent(500, theta), -2);
  assert_int_equal(smma_words_exponent(128, theta), -1);
}

/* The slides have 125, which needs seven bits, as a word of E4M3, which has four: to nearest it is 128, and the second
   word is -3. */
static void test_example_words(void **state) {
  static const double scaled[4] = {125, 0x1p-2, 0x1p-2, 0x1p-8}; /* the first row of Lambda A */
  static const double words[2][4] = {{128, 0x1p-2, 0x1p-2, 0}, {-3 * 16, 0, 0, 0x1p-4}};
  smma_word_format e4m3 = smma_word_format_of(SMMA_E4M3);
  uint64_t word[2];
  (void)state;
  for (int k = 0; k < 4; k++) {
    assert_true(ldexp(example_a[k], smma_words_exponent(500, 127)) == scaled[k]);
    smma_words_split(&e4m3, scaled[k], e4m3.precision, true, 2, word);
    for (int i = 0; i < 2; i++) assert_true(smma_format_decode(SMMA_E4M3, word[i]) == words[i][k]);
  }
}

static void check_example(int words, const double expected[4]) {
  const smma_instruction *unit = find("H100", "mma.m16n8k32.f16.e4m3.e4m3.f16");
  smma_words how = words_of(SMMA_WORDS_SCALED, words, SMMA_SUM_F64, 1);
  double d[16];
  smma_f64_product g = product_of(example_a, example_b, d, 4, 4, 4);
  assert_int_equal(smma_gemm_words(unit, &g, &how), SMMA_OK);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) assert_true(d[i * 4 + j] == expected[i] * (j == 1 ? 128 : 1));
}

/* The example of the slides with 128 instead of 125. So the results are 514 and 65792 instead of 502 and 64256; all
   other rows equal the slides. */
static void test_example_of_one_word(void **state) {
  static const double expected[4] = {514, 512, 4, 4};
  (void)state;
  check_example(1, expected);
}

static void test_example_of_two_words(void **state) {
  static const double expected[4] = {502.015625, 512, 4, 4};
  (void)state;
  assert_true(502.015625 * 128 == 64258);
  check_example(2, expected);
}

/* ---- Words ---- */

static void test_exponents_are_the_greatest(void **unused) {
  uint64_t state = 1;
  (void)unused;
  assert_int_equal(smma_words_exponent(0, 448), 0);
  assert_int_equal(smma_words_exponent(448, 448), 0);
  assert_int_equal(smma_words_exponent(nextafter(448, 449), 448), -1);
  assert_int_equal(smma_words_exponent(0x1p-1074, 1), 1074);
  assert_int_equal(smma_words_exponent(DBL_MAX, 1), -1024);
  for (int i = 0; i < 10000; i++) {
    double theta = 1 + (double)random_below(&state, 1000) / 7, x = ldexp(1 + (double)random_below(&state, 9999), -20);
    int e = smma_words_exponent(x, theta);
    assert_true(ldexp(x, e) <= theta && ldexp(x, e + 1) > theta);
  }
}

static void test_subnormal_words(void **state) {
  static const struct {
    double x, kept, flushed;
  } rows[] = {
      {0x1p-6, 0x1p-6, 0x1p-6}, {0x1.8p-7, 0x1.8p-7, 0x1p-6}, {0x1.01p-7, 0x1p-7, 0x1p-6},    {0x1p-7, 0x1p-7, 0},
      {0x1p-9, 0x1p-9, 0},      {-0x1p-7, -0x1p-7, 0},        {-0x1.8p-7, -0x1.8p-7, -0x1p-6}};
  smma_word_format f = smma_word_format_of(SMMA_E4M3);
  uint64_t word;
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    smma_words_split(&f, rows[i].x, f.precision, false, 1, &word);
    assert_true(smma_format_decode(SMMA_E4M3, word) == rows[i].kept);
    smma_words_split(&f, rows[i].x, f.precision, true, 1, &word);
    assert_true(smma_format_decode(SMMA_E4M3, word) == rows[i].flushed);
  }
}

/* A word equals the result of smma_format_encode: in and around the format's range, for ties and signs of zero. */
static void test_words_are_rounded(void **unused) {
  static const smma_format formats[] = {SMMA_F64,  SMMA_F32,      SMMA_TF32,     SMMA_F16,  SMMA_BF16, SMMA_E5M2,
                                        SMMA_E4M3, SMMA_E5M2FNUZ, SMMA_E4M3FNUZ, SMMA_E3M2, SMMA_E2M3, SMMA_E2M1};
  uint64_t state = 7, word;
  (void)unused;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    smma_word_format f = smma_word_format_of(formats[i]);
    int lowest = ilogb(f.normal) - f.precision - 2, span = ilogb(f.largest) + 2 - lowest;
    for (int n = 0; n < 20000; n++) {
      uint64_t bits = random_bits(&state), kept = n % 3 ? bits % (uint64_t)f.precision : 51; /* ties, or any */
      double x = ldexp(1 + ldexp((double)(bits >> (63 - kept)), -1 - (int)kept), lowest + n % span);
      x = n % 97 ? x : 0;
      x = bits & 1 ? -x : x;
      smma_words_split(&f, x, f.precision, false, 1, &word);
      assert_true(word == smma_format_encode(formats[i], x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE));
    }
  }
}

/* The sum of a number's p words differs from the number by at most u^p of it. With enough words the sum is exact. */
static void test_words_add_up(void **unused) {
  static const smma_format formats[] = {SMMA_F64,  SMMA_F32,      SMMA_TF32,     SMMA_F16,  SMMA_BF16, SMMA_E5M2,
                                        SMMA_E4M3, SMMA_E5M2FNUZ, SMMA_E4M3FNUZ, SMMA_E3M2, SMMA_E2M3, SMMA_E2M1};
  uint64_t state = 2, word[SMMA_MOST_WORDS];
  (void)unused;
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
    smma_word_format format = smma_word_format_of(formats[f]);
    int enough = 53 / format.precision + 1;
    for (int n = 0; n < 1000; n++) {
      double x, rest;
      random_reals(&state, &x, 1);
      rest = x *= format.largest < 100 ? 4 * format.normal : 1; /* a normal number of the format */
      smma_words_split(&format, x, format.precision, n % 2, enough, word);
      for (int i = 0; i < enough; i++) {
        rest -= ldexp(smma_format_decode(formats[f], word[i]), -i * format.precision);
        assert_true(n % 2 || fabs(rest) <= ldexp(fabs(x), -(i + 1) * format.precision));
      }
      assert_true(n % 2 || rest == 0);
    }
  }
}

static void test_saturation(void **state) {
  smma_word_format f = smma_word_format_of(SMMA_F16);
  uint64_t word[3];
  (void)state;
  smma_words_split(&f, 1e5, 0, false, 3, word);
  assert_true(smma_format_decode(SMMA_F16, word[0]) == 65504 && smma_format_decode(SMMA_F16, word[1]) == 34496);
  assert_true(smma_format_decode(SMMA_F16, word[2]) == 0);
}

static void test_automatic_words(void **state) {
  const smma_instruction *f16 = find("H100", "mma.m16n8k16.f32.f16.f16.f32");
  (void)state;
  assert_int_equal(smma_words_for(f16, 1), 1);
  assert_int_equal(smma_words_for(f16, 0x2p-11), 1);
  assert_int_equal(smma_words_for(f16, 0x1.fp-11), 2);
  assert_int_equal(smma_words_for(f16, 0x3p-22), 2);
  assert_int_equal(smma_words_for(f16, 1e-15), 5);
  assert_int_equal(smma_words_for(find("L40S", "mma.m16n8k32.f32.e4m3.e5m2.f32"), 0x3p-6), 2); /* u of e5m2 */
  assert_int_equal(smma_words_for(f16, 0), 0);
  assert_int_equal(smma_words_for(f16, -1), 0);
  assert_int_equal(smma_words_for(f16, NAN), 0);
  assert_int_equal(smma_words_for(NULL, 1), 0);
}

/* ---- Identities ---- */

/* With enough words and exact sums in the unit, the product is exact; rounded to FP32, it is the rounded exact product.
 */
static void test_enough_words_are_exact(void **unused) {
  static const struct {
    const char *format;
    smma_words_method method;
    int bits, exponent, words;
  } rows[] = {{"e4m3", SMMA_WORDS_SCALED, 20, 0, 16},   {"e5m2", SMMA_WORDS_SCALED, 20, 100, 20},
              {"e2m1", SMMA_WORDS_SCALED, 16, 0, 32},   {"f16", SMMA_WORDS_SCALED, 24, -90, 5},
              {"bf16", SMMA_WORDS_SCALED, 24, 0, 7},    {"e4m3", SMMA_WORDS_RESIDUAL, 17, -9, 8},
              {"f16", SMMA_WORDS_RESIDUAL, 24, -15, 3}, {"bf16", SMMA_WORDS_RESIDUAL, 24, 0, 4}};
  uint64_t state = 3;
  (void)unused;
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    const smma_instruction *unit = exact_unit(rows[r].format);
    operands o;
    double d[M * N];
    random_integers(&state, rows[r].bits, rows[r].exponent, o.a, M * K);
    random_integers(&state, rows[r].bits, rows[r].exponent, o.b, K * N);
    for (size_t s = 0; s < 2; s++) {
      smma_words how = words_of(rows[r].method, rows[r].words, s ? SMMA_SUM_UNIT_SCALED : SMMA_SUM_F64, 0);
      multiply(unit, &o, how, d);
      for (size_t e = 0; e < M * N; e++) {
        int64_t exact = exact_product(&o, rows[r].exponent, e / N, e % N);
        assert_true(d[e] == ldexp((double)exact, 2 * rows[r].exponent));
        assert_true((float)ldexp(d[e], -2 * rows[r].exponent) == (float)exact);
      }
    }
    smma_custom_release(unit);
  }
}

/* Instructions of many kinds; the last one has scale factors, which are 1. */
static const struct {
  const char *gpu, *name;
  double sum_error; /* error of the unit's sum, relative to |A||B| */
} instructions[] = {{"V100", "mma.m8n8k4.f32.f16.f16.f32", 0x1p-18},
                    {"A100", "mma.m16n8k8.f32.tf32.tf32.f32", 0x1p-18},
                    {"H100", "wgmma.m64n8k16.f32.bf16.bf16", 0x1p-18},
                    {"L40S", "mma.m16n8k32.f32.e4m3.e5m2.f32", 0x1p-8},
                    {"B200", "tcgen05.m64n8k32.f32.e3m2.e2m1", 0x1p-18},
                    {"MI100", "v_mfma_f32_16x16x4f32", 0x1p-18},
                    {"MI300X", "v_mfma_f32_16x16x32_fp8_bf8", 0x1p-18},
                    {"A100", "mma.m8n8k4.f64.f64.f64.f64", 0x1p-48},
                    {"B200", "tcgen05.m128n8k64.block16.f32.e2m1.e2m1.ue4m3", 0x1p-18}};
#define INSTRUCTION_COUNT (sizeof instructions / sizeof *instructions)

/* The bound of docs/numerics.md: (p + 1) u^p |A||B|, plus the unit's own error. */
static void test_error_bound(void **unused) {
  uint64_t state = 4;
  operands o;
  double d[M * N];
  (void)unused;
  random_reals(&state, o.a, M * K);
  random_reals(&state, o.b, K * N);
  for (size_t i = 0; i < INSTRUCTION_COUNT; i++) {
    const smma_instruction *unit = find(instructions[i].gpu, instructions[i].name);
    for (int p = 1; p <= 4; p++) {
      smma_words how = words_of(SMMA_WORDS_SCALED, p, SMMA_SUM_F64, 0);
      smma_instruction_info info = describe(unit);
      int a = smma_word_format_of(info.a).precision, b = smma_word_format_of(info.b).precision;
      double bound = ldexp(p + 1, -p * (a < b ? a : b)) + instructions[i].sum_error;
      multiply(unit, &o, how, d);
      for (size_t e = 0; e < M * N; e++) {
        double exact = 0, magnitude = 0;
        for (size_t k = 0; k < K; k++) {
          double product = o.a[e / N * K + k] * o.b[k * N + e % N];
          exact += product, magnitude += fabs(product);
        }
        assert_true(fabs(d[e] - exact) <= bound * magnitude);
      }
    }
  }
}

/* Powers of two on rows of A and columns of B appear unchanged in the result, bit for bit. */
static void test_powers_of_two_change_nothing(void **unused) {
  uint64_t state = 5;
  operands o, scaled;
  double d[M * N], again[M * N];
  int row[M], column[N];
  (void)unused;
  random_reals(&state, o.a, M * K);
  random_reals(&state, o.b, K * N);
  for (int i = 0; i < M; i++) row[i] = random_between(&state, -200, 200);
  for (int j = 0; j < N; j++) column[j] = random_between(&state, -200, 200);
  for (int e = 0; e < M * K; e++) scaled.a[e] = ldexp(o.a[e], row[e / K]);
  for (int e = 0; e < K * N; e++) scaled.b[e] = ldexp(o.b[e], column[e % N]);
  for (size_t i = 0; i < INSTRUCTION_COUNT * SUM_COUNT; i++) {
    const smma_instruction *unit = find(instructions[i / SUM_COUNT].gpu, instructions[i / SUM_COUNT].name);
    smma_words how = words_of(SMMA_WORDS_SCALED, 3, sums[i % SUM_COUNT], (int)(i / 2 % 2));
    multiply(unit, &o, how, d);
    multiply(unit, &scaled, how, again);
    for (int e = 0; e < M * N; e++) assert_true(isfinite(d[e]) && again[e] == ldexp(d[e], row[e / N] + column[e % N]));
  }
}

/* Computes the unit's product of the matrices rounded to its formats, by plain smma_gemm. */
static void plain_gemm(const smma_instruction *unit, const void *a, const void *b, const void *c, double alpha,
                       double beta, void *d) {
  smma_gemm_arguments g;
  smma_gemm_defaults(&g, sizeof g);
  g.m = M, g.n = N, g.k = K, g.a = a, g.b = b, g.d = d, g.threads = 1;
  g.c = c, g.alpha = alpha, g.beta = beta, g.scaling = SMMA_SCALING_OPERANDS;
  assert_int_equal(smma_gemm(unit, &g), SMMA_OK);
}

/* Computes word `index` of each number as f16, by Markidis's or the scaled method. */
static void split_f16(const double *x, size_t count, int step, int index, uint16_t *words) {
  smma_word_format f = smma_word_format_of(SMMA_F16);
  uint64_t word[SMMA_MOST_WORDS];
  for (size_t e = 0; e < count; e++) {
    smma_words_split(&f, x[e], step, false, index + 1, word);
    words[e] = (uint16_t)word[index];
  }
}

static void test_one_word_is_plain_gemm(void **unused) {
  const smma_instruction *unit = find("V100", "mma.m8n8k4.f32.f16.f16.f32");
  uint64_t state = 6;
  operands o;
  uint16_t a[M * K], b[K * N];
  float plain[M * N];
  double d[M * N];
  (void)unused;
  random_integers(&state, 11, -11, o.a, M * K);
  random_integers(&state, 11, -11, o.b, K * N);
  split_f16(o.a, M * K, 0, 0, a);
  split_f16(o.b, K * N, 0, 0, b);
  plain_gemm(unit, a, b, NULL, 1, 1, plain);
  for (size_t s = 0; s < SUM_COUNT; s++) {
    smma_words how = words_of(SMMA_WORDS_RESIDUAL, 1, sums[s], 0);
    multiply(unit, &o, how, d);
    for (int e = 0; e < M * N; e++) assert_true(d[e] == plain[e]);
  }
}

/* Products of two words, with sums computed step by step by hand. Rows and columns whose largest magnitude is 1 are
   first multiplied by 2. */
static void test_sums_step_by_step(void **unused) {
  const smma_instruction *unit = find("H100", "mma.m16n8k16.f32.f16.f16.f32");
  const double u = 0x1p-11;
  uint64_t state = 7;
  operands o, scaled;
  uint16_t a[2][M * K], b[2][K * N];
  float part[3][M * N], sum[M * N];
  double d[M * N];
  int e = smma_words_exponent(1, smma_words_theta(65504, FLT_MAX, K));
  (void)unused;
  random_reals(&state, o.a, M * K);
  random_reals(&state, o.b, K * N);
  for (int i = 0; i < M; i++) o.a[i * K] = 1;
  for (int j = 0; j < N; j++) o.b[j] = 1;
  for (int x = 0; x < M * K; x++) scaled.a[x] = ldexp(o.a[x], e);
  for (int x = 0; x < K * N; x++) scaled.b[x] = ldexp(o.b[x], e);
  for (int w = 0; w < 2; w++) {
    split_f16(scaled.a, M * K, 11, w, a[w]);
    split_f16(scaled.b, K * N, 11, w, b[w]);
  }
  plain_gemm(unit, a[0], b[0], NULL, 1, 1, part[0]);
  plain_gemm(unit, a[0], b[1], NULL, 1, 1, part[1]);
  plain_gemm(unit, a[1], b[0], NULL, 1, 1, part[2]);
  multiply(unit, &o, words_of(SMMA_WORDS_SCALED, 2, SMMA_SUM_F64, 0), d);
  for (int x = 0; x < M * N; x++)
    assert_true(d[x] == ldexp(u * (double)part[1][x] + u * (double)part[2][x] + (double)part[0][x], -2 * e));
  multiply(unit, &o, words_of(SMMA_WORDS_SCALED, 2, SMMA_SUM_F32, 0), d);
  for (int x = 0; x < M * N; x++) {
    float small = (float)u * part[1][x] + (float)u * part[2][x];
    assert_true(d[x] == ldexp(small + part[0][x], -2 * e));
  }
  plain_gemm(unit, a[0], b[0], NULL, 1, 1, sum);
  plain_gemm(unit, a[0], b[1], sum, u, 1, sum);
  plain_gemm(unit, a[1], b[0], sum, u, 1, sum);
  multiply(unit, &o, words_of(SMMA_WORDS_SCALED, 2, SMMA_SUM_UNIT, 0), d);
  for (int x = 0; x < M * N; x++) assert_true(d[x] == ldexp(sum[x], -2 * e));
  plain_gemm(unit, a[1], b[0], part[1], 1, 1, sum);
  plain_gemm(unit, a[0], b[0], sum, 1, u, sum);
  multiply(unit, &o, words_of(SMMA_WORDS_SCALED, 2, SMMA_SUM_UNIT_SCALED, 0), d);
  for (int x = 0; x < M * N; x++) assert_true(d[x] == ldexp(sum[x], -2 * e));
}

/* ---- Zero, infinity, NaN ---- */

static void test_zero(void **unused) {
  operands o = {{0}, {0}};
  double d[M * N];
  (void)unused;
  o.a[0] = 3;
  o.b[1] = -0x1p-1074;
  for (size_t i = 0; i < INSTRUCTION_COUNT * SUM_COUNT; i++) {
    const smma_instruction *unit = find(instructions[i / SUM_COUNT].gpu, instructions[i / SUM_COUNT].name);
    multiply(unit, &o, words_of(SMMA_WORDS_SCALED, 2, sums[i % SUM_COUNT], 0), d);
    for (int e = 0; e < M * N; e++) assert_true(d[e] == (e == 1 ? -3 * 0x1p-1074 : 0));
  }
}

static void test_infinity_and_nan(void **unused) {
  uint64_t state = 8;
  operands o;
  double finite[M * N], d[M * N];
  (void)unused;
  random_reals(&state, o.a, M * K);
  random_reals(&state, o.b, K * N);
  for (size_t i = 0; i < INSTRUCTION_COUNT * SUM_COUNT; i++) {
    const smma_instruction *unit = find(instructions[i / SUM_COUNT].gpu, instructions[i / SUM_COUNT].name);
    smma_words how = words_of((smma_words_method)(i % 2), 2, sums[i % SUM_COUNT], 0);
    operands x = o;
    multiply(unit, &o, how, finite);
    x.a[1 * K + 3] = INFINITY, x.a[2 * K + 3] = NAN;
    x.b[3 * N + 0] = 0.5, x.b[3 * N + 1] = -0x1p-500, x.b[3 * N + 2] = 0, x.b[3 * N + 3] = 0.25;
    x.b[4 * N + 3] = INFINITY;
    x.a[1 * K + 4] = -1;
    multiply(unit, &x, how, d);
    assert_true(d[1 * N + 0] == INFINITY && d[1 * N + 1] == -INFINITY);
    assert_true(isnan(d[1 * N + 2]) && isnan(d[1 * N + 3])); /* inf * 0, inf - inf */
    for (int j = 0; j < N; j++) assert_true(isnan(d[2 * N + j]));
    assert_true(d[0 * N + 3] == copysign(INFINITY, o.a[0 * K + 4]));
    assert_true(isfinite(d[0]) && isfinite(d[4 * N + 1]));
    x = o;
    x.a[0] = INFINITY; /* the other rows are unchanged */
    multiply(unit, &x, how, d);
    for (int e = N; e < M * N; e++) assert_true(d[e] == finite[e]);
  }
}

/* ---- Arguments ---- */

static void test_layouts(void **unused) {
  const smma_instruction *unit = find("MI300X", "v_mfma_f32_16x16x16_f16");
  smma_words how = words_of(SMMA_WORDS_SCALED, 2, SMMA_SUM_F64, 0);
  uint64_t state = 9;
  operands o;
  double a[K * (M + 2)], b[N * (K + 1)], d[N * (M + 3)], expected[M * N];
  smma_f64_product g = product_of(a, b, d, M, N, K);
  (void)unused;
  random_reals(&state, o.a, M * K);
  random_reals(&state, o.b, K * N);
  multiply(unit, &o, how, expected);
  for (int e = 0; e < M * K; e++) a[e / K + e % K * (M + 2)] = o.a[e];
  for (int e = 0; e < K * N; e++) b[e / N + e % N * (K + 1)] = o.b[e];
  for (int e = 0; e < N * (M + 3); e++) d[e] = 77;
  g.order_a = g.order_b = g.order_d = SMMA_COLUMN_MAJOR;
  g.lda = M + 2, g.ldb = K + 1, g.ldd = M + 3;
  assert_int_equal(smma_gemm_words(unit, &g, &how), SMMA_OK);
  for (int e = 0; e < N * (M + 3); e++)
    assert_true(d[e] == (e % (M + 3) < M ? expected[e % (M + 3) * N + e / (M + 3)] : 77));
}

/* The thread's rounding mode has no effect, and is restored. */
static void test_rounding_mode(void **unused) {
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  const smma_instruction *unit = find("H100", "mma.m16n8k16.f32.f16.f16.f32");
  uint64_t state = 10;
  operands o;
  double expected[M * N], d[M * N];
  (void)unused;
  random_reals(&state, o.a, M * K);
  random_reals(&state, o.b, K * N);
  for (size_t i = 0; i < SUM_COUNT; i++) {
    smma_words how = words_of(SMMA_WORDS_SCALED, 3, sums[i], 0);
    multiply(unit, &o, how, expected);
    for (int m = 0; m < 3; m++) {
      int mode;
      fesetround(modes[m]);
      multiply(unit, &o, how, d);
      mode = fegetround();
      fesetround(FE_TONEAREST);
      assert_int_equal(mode, modes[m]);
      assert_memory_equal(d, expected, sizeof d);
    }
  }
}

static void test_empty(void **unused) {
  const smma_instruction *unit = find("H100", "mma.m16n8k16.f32.f16.f16.f32");
  smma_words how = words_of(SMMA_WORDS_SCALED, 2, SMMA_SUM_F64, 0);
  double d[4] = {1, 1, 1, 1};
  smma_f64_product g = product_of(NULL, NULL, d, 2, 2, 0);
  (void)unused;
  assert_int_equal(smma_gemm_words(unit, &g, &how), SMMA_OK);
  for (int e = 0; e < 4; e++) assert_true(d[e] == 0);
  g = product_of(NULL, NULL, NULL, 0, 2, 3);
  assert_int_equal(smma_gemm_words(unit, &g, &how), SMMA_OK);
}

static void test_progress(void **unused) {
  const smma_instruction *unit = find("H100", "mma.m16n8k16.f32.f16.f16.f32");
  smma_words how = words_of(SMMA_WORDS_SCALED, 2, SMMA_SUM_F64, 0);
  operands o = {{1}, {1}};
  double d[M * N] = {77};
  progress_log log = {3 * M, 0, 0, 1};
  smma_f64_product g = product_of(o.a, o.b, d, M, N, K);
  (void)unused;
  g.progress = log_progress, g.progress_context = &log;
  assert_int_equal(smma_gemm_words(unit, &g, &how), SMMA_STOPPED);
  assert_true(d[0] == 77);
  log = (progress_log){3 * M, 0, 0, 1000};
  assert_int_equal(smma_gemm_words(unit, &g, &how), SMMA_OK);
  assert_int_equal(log.last, 3 * M);
}

/* Doubles at odd addresses give the results of aligned doubles. */
static void test_any_alignment(void **unused) {
  const smma_instruction *unit = find("H100", "mma.m16n8k16.f32.f16.f16.f32");
  smma_words how = words_of(SMMA_WORDS_SCALED, 2, SMMA_SUM_F64, 0);
  uint64_t state = 11;
  operands o;
  double expected[M * N];
  unsigned char a[sizeof o.a + 1], b[sizeof o.b + 1], d[sizeof expected + 1];
  void *odd_a = a + 1, *odd_b = b + 1, *odd_d = d + 1;
  smma_f64_product g = product_of(odd_a, odd_b, odd_d, M, N, K);
  (void)unused;
  random_reals(&state, o.a, M * K);
  random_reals(&state, o.b, K * N);
  o.a[0] = INFINITY;
  multiply(unit, &o, how, expected);
  memcpy(odd_a, o.a, sizeof o.a), memcpy(odd_b, o.b, sizeof o.b);
  assert_int_equal(smma_gemm_words(unit, &g, &how), SMMA_OK);
  assert_memory_equal(odd_d, expected, sizeof expected);
}

/* The defaults compute two scaled words, added in FP64, of dense row-major matrices. */
static void test_defaults(void **unused) {
  const smma_instruction *unit = find("H100", "mma.m16n8k16.f32.f16.f16.f32");
  uint64_t state = 12;
  operands o;
  double expected[M * N], d[M * N];
  smma_words how;
  (void)unused;
  memset(&how, 0xff, sizeof how);
  smma_words_defaults(&how, sizeof how);
  smma_words_defaults(NULL, sizeof *NULL);
  smma_f64_product_defaults(NULL, sizeof *NULL);
  random_reals(&state, o.a, M * K);
  random_reals(&state, o.b, K * N);
  multiply(unit, &o, words_of(SMMA_WORDS_SCALED, 2, SMMA_SUM_F64, 0), expected);
  multiply(unit, &o, how, d);
  assert_memory_equal(d, expected, sizeof d);
}

/* Checks that arguments are refused after `change`, a statement on g and how; without it they are valid. */
#define REFUSED(status, instruction, change)                          \
  do {                                                                \
    smma_f64_product g = product_of(o.a, o.b, d, M, N, K);            \
    smma_words how = words_of(SMMA_WORDS_SCALED, 2, SMMA_SUM_F64, 0); \
    change;                                                           \
    assert_int_equal(smma_gemm_words(instruction, &g, &how), status); \
    assert_true(d[0] == 77);                                          \
  } while (0)

/* Returns a unit with A and B in these formats and D in FP32. */
static const smma_instruction *unit_of(const char *a, const char *b) {
  char text[512];
  smma_error error;
  const smma_instruction *unit;
  snprintf(text, sizeof text,
           "{\"softmma-unit\": 1, \"name\": \"unit\", \"algorithm\": \"composition\", \"k\": 4, \"a\": \"%s\", "
           "\"b\": \"%s\", \"d\": \"f32\", \"steps\": [{\"take\": 4, \"join\": \"chain\", \"start\": \"c\", "
           "\"alignment_bits\": \"exact\", \"output\": \"f32\", \"rounding\": \"nearest-even\"}]}",
           a, b);
  unit = smma_custom_read("custom", text, strlen(text), &error);
  if (!unit) fail_msg("%s", error.text);
  return unit;
}

static void test_refusals(void **unused) {
  static const char *const no_words[][2] = {{"ue5m3", "f16"}, {"f16", "ue5m3"}, {"s8", "s8"}, {"ocp_int8", "ocp_int8"}};
  const smma_instruction *unit = find("H100", "mma.m16n8k16.f32.f16.f16.f32");
  const smma_instruction *mixed = find("V100", "mma.m8n8k4.f32.f16.f16.f16");
  operands o = {{1}, {1}};
  double d[M * N] = {77};
  (void)unused;
  REFUSED(SMMA_INVALID_ARGUMENT, NULL, );
  REFUSED(SMMA_INVALID_ARGUMENT, unit, g.size = 0);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, how.size = 0);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, how.words = 0);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, how.words = SMMA_MOST_WORDS + 1);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, how.method = (smma_words_method)3);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, how.sum = (smma_words_sum)5);
  REFUSED(SMMA_INVALID_ARGUMENT, mixed, how.sum = SMMA_SUM_UNIT);
  REFUSED(SMMA_INVALID_ARGUMENT, mixed, how.sum = SMMA_SUM_UNIT_SCALED);
  REFUSED(SMMA_INVALID_ARGUMENT, mixed, how.sum = SMMA_SUM_BLOCKS);
  REFUSED(SMMA_INVALID_ARGUMENT, find("A100", "mma.m16n8k32.s32.s8.s8.s32"), );
  for (size_t n = 0; n < sizeof no_words / sizeof *no_words; n++) {
    const smma_instruction *i = unit_of(no_words[n][0], no_words[n][1]);
    REFUSED(SMMA_INVALID_ARGUMENT, i, );
    REFUSED(SMMA_INVALID_ARGUMENT, i, how.method = SMMA_WORDS_RESIDUAL);
    smma_custom_release(i);
  }
  REFUSED(SMMA_INVALID_ARGUMENT, unit, g.a = NULL);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, g.a = d);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, g.b = d);
  assert_int_equal(smma_gemm_words(unit, NULL, &(smma_words){.size = sizeof(smma_words)}), SMMA_INVALID_ARGUMENT);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, g.threads = -1);
  REFUSED(SMMA_INVALID_DIMENSION, unit, g.lda = K - 1);
  REFUSED(SMMA_INVALID_MULTIPLE, unit, g.promote_every = 5);
  REFUSED(SMMA_NO_KERNEL, unit, g.kernel = "none");
}

/* ---- FP32 from nine products of BF16, as CUTLASS computes it ---- */

/* Returns word i of x: the remainder after the words before, times 2^(8 i), rounded to BF16. */
static uint16_t word_of(float x, int i) {
  for (int before = 0; before < i; before++) {
    const uint64_t word = smma_format_encode(SMMA_BF16, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
    x = (x - (float)smma_format_decode(SMMA_BF16, word)) * 256;
  }
  return (uint16_t)smma_format_encode(SMMA_BF16, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
}

/* Computes an element as the kernel does: for each K of an instruction, five bands of products, smallest first, with C
   divided by 256 between them; then the results of the blocks in FP32. */
static float bf16x9(const smma_instruction *unit, int depth, const double *a, const double *b, size_t stride,
                    size_t k) {
  float sum = 0;
  for (size_t first = 0; first < k; first += (size_t)depth) {
    float c = 0;
    for (int band = 4; band >= 0; band--) {
      c = band < 4 ? c / 256 : c;
      for (int i = band > 2 ? band - 2 : 0; i <= 2 && i <= band; i++) {
        uint16_t x[64] = {0}, y[64] = {0};
        for (size_t n = 0; n < (size_t)depth && first + n < k; n++)
          x[n] = word_of((float)a[first + n], i), y[n] = word_of((float)b[(first + n) * stride], band - i);
        float d;
        smma_dot(unit, x, y, &c, NULL, NULL, &d);
        c = d;
      }
    }
    sum += c;
  }
  return sum;
}

static void test_bf16x9(void **state) {
  static const struct {
    const char *gpu, *name;
    int k;
  } units[] = {{"B200", "tcgen05.m64n8k16.f32.bf16.bf16", 16},
               {"A100", "mma.m16n8k16.f32.bf16.bf16.f32", 16},
               {"MI300X", "v_mfma_f32_32x32x8_bf16", 8}};
  const smma_words how = words_of(SMMA_WORDS_SHIFTED, 3, SMMA_SUM_BLOCKS, 0);
  uint64_t random = 7;
  (void)state;
  for (size_t u = 0; u < sizeof units / sizeof *units; u++)
    for (int scale = -60; scale <= 60; scale += 30) {
      const smma_instruction *unit = smma_find(units[u].gpu, units[u].name, NULL);
      operands o;
      double d[M * N];
      random_reals(&random, o.a, M * K);
      random_reals(&random, o.b, K * N);
      for (size_t e = 0; e < M * K; e++) o.a[e] = (float)ldexp(o.a[e], scale + (int)random_below(&random, 9));
      for (size_t e = 0; e < K * N; e++) o.b[e] = (float)o.b[e];
      o.a[3] = o.b[5] = 0, o.a[7] = FLT_MAX;
      multiply(unit, &o, how, d);
      for (size_t e = 0; e < M * N; e++) {
        const float expected = bf16x9(unit, units[u].k, o.a + e / N * K, o.b + e % N, N, K);
        assert_true((float)d[e] == expected && (double)(float)d[e] == d[e]);
      }
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_example_scaling),
      cmocka_unit_test(test_example_words),
      cmocka_unit_test(test_example_of_one_word),
      cmocka_unit_test(test_example_of_two_words),
      cmocka_unit_test(test_exponents_are_the_greatest),
      cmocka_unit_test(test_subnormal_words),
      cmocka_unit_test(test_words_are_rounded),
      cmocka_unit_test(test_words_add_up),
      cmocka_unit_test(test_saturation),
      cmocka_unit_test(test_automatic_words),
      cmocka_unit_test(test_enough_words_are_exact),
      cmocka_unit_test(test_error_bound),
      cmocka_unit_test(test_powers_of_two_change_nothing),
      cmocka_unit_test(test_one_word_is_plain_gemm),
      cmocka_unit_test(test_sums_step_by_step),
      cmocka_unit_test(test_zero),
      cmocka_unit_test(test_infinity_and_nan),
      cmocka_unit_test(test_layouts),
      cmocka_unit_test(test_any_alignment),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_rounding_mode),
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_progress),
      cmocka_unit_test(test_bf16x9),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests_name("numerics", tests, NULL, NULL);
}
