/* The Ozaki scheme: the published example number by number, exact products compared with GMP, and refused arguments. */
#include <fenv.h>
#include <float.h>
#include <gmp.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "numerics/slices.h"
#include "softmma/accurate.h"
#include "support.h"

enum { M = 3, N = 4, K = 21 };

typedef struct {
  double a[M * K], b[K * N];
} operands;

static const smma_slices exact = {
    .size = sizeof exact, .bits = 7, .products = SMMA_PRODUCTS_ALL, .sum = SMMA_SLICES_EXACT};

/* One instruction of each vendor, wrapping and saturating. */
static const struct {
  const char *gpu, *name;
} instructions[] = {{"T4", "mma.m8n8k16.s32.s8.s8.s32"},
                    {"A100", "mma.m16n8k32.satfinite.s32.s8.s8.s32"},
                    {"H100", "wgmma.m64n8k32.s32.s8.s8"},
                    {"MI100", "v_mfma_i32_16x16x16_i8"},
                    {"MI300X", "v_mfma_i32_32x32x16_i8"}};
#define INSTRUCTION_COUNT (sizeof instructions / sizeof *instructions)

static const smma_instruction *instruction_at(size_t i) { return find(instructions[i].gpu, instructions[i].name); }

static smma_slices slices_of(int slices, int bits, smma_products products, smma_slices_sum sum) {
  smma_slices how;
  smma_slices_defaults(&how, sizeof how);
  how.slices = slices, how.bits = bits, how.products = products, how.sum = sum;
  return how;
}

static smma_f64_product product_of(const double *a, const double *b, double *d, size_t m, size_t n, size_t k) {
  smma_f64_product g;
  smma_f64_product_defaults(&g, sizeof g);
  g.m = m, g.n = n, g.k = k, g.a = a, g.b = b, g.d = d, g.threads = 1;
  return g;
}

static void multiply(const smma_instruction *i, const operands *o, smma_slices how, double d[M * N]) {
  smma_f64_product g = product_of(o->a, o->b, d, M, N, K);
  assert_int_equal(smma_gemm_slices(i, &g, &how), SMMA_OK);
}

static double random_sign(uint64_t *state) { return random_below(state, 2) ? 1 : -1; }

/* Fills x with numbers of 53 bits and exponents from `least` to `greatest`. */
static void random_numbers(uint64_t *state, int least, int greatest, double *x, size_t count) {
  for (size_t i = 0; i < count; i++)
    x[i] = ldexp((double)(random_bits(state) >> 11), random_between(state, least, greatest) - 53) * random_sign(state);
}

/* ---- The exact product, by GMP ---- */

enum { LEAST = -2 * 1074 }; /* every product of two doubles is a multiple of 2^LEAST */

static void add_product(mpz_t sum, double a, double b) {
  mpz_t x, y;
  int of_a, of_b;
  mpz_init_set_d(x, ldexp(frexp(a, &of_a), 53));
  mpz_init_set_d(y, ldexp(frexp(b, &of_b), 53));
  mpz_mul(x, x, y);
  if (of_a + of_b - 106 >= LEAST)
    mpz_mul_2exp(x, x, (mp_bitcnt_t)(of_a + of_b - 106 - LEAST));
  else
    mpz_tdiv_q_2exp(x, x, (mp_bitcnt_t)(LEAST - of_a - of_b + 106)); /* the bits shifted out are zero */
  mpz_add(sum, sum, x);
  mpz_clears(x, y, NULL);
}

/* Returns sum 2^LEAST to nearest even in FP64. */
static double rounded(const mpz_t sum) {
  mpz_t kept, rest, half;
  size_t length = mpz_sizeinbase(sum, 2), cut = length > 53 ? length - 53 : 0;
  double d;
  if (mpz_sgn(sum) == 0) return 0;
  if (cut < -1074 - LEAST) cut = -1074 - LEAST;
  mpz_inits(kept, rest, half, NULL);
  mpz_abs(kept, sum);
  mpz_fdiv_r_2exp(rest, kept, cut);
  mpz_fdiv_q_2exp(kept, kept, cut);
  mpz_setbit(half, cut - 1);
  if (mpz_cmp(rest, half) > 0 || (mpz_cmp(rest, half) == 0 && mpz_odd_p(kept))) mpz_add_ui(kept, kept, 1);
  d = ldexp(mpz_get_d(kept), (int)cut + LEAST) * mpz_sgn(sum);
  mpz_clears(kept, rest, half, NULL);
  return d;
}

static double exact_element(const operands *o, int i, int j) {
  mpz_t sum;
  double d;
  mpz_init(sum);
  for (int k = 0; k < K; k++) add_product(sum, o->a[i * K + k], o->b[k * N + j]);
  d = rounded(sum);
  mpz_clear(sum);
  return d;
}

/* ---- The published example (Mikaitis, slides of 2025): slices of three bits ---- */

static const double example_a[3] = {1.5625, 8, -3.6875}, example_b[3] = {1.3828125, -7.625, 3.625};
static const int8_t slices_a[4][3] = {{0, 4, -1}, {6, 0, -6}, {2, 0, -6}, {0, 0, 0}};
static const int8_t slices_b[4][3] = {{1, -7, 3}, {3, -5, 5}, {0, 0, 0}, {4, 0, 0}};
static const int example_products[4][4] = {{-31, -25, 0, 0}, {-12, -12, 0, 24}, {-16, -24, 0, 8}, {0, 0, 0, 0}};

static void test_example_slices(void **state) {
  (void)state;
  assert_int_equal(smma_slice_exponent(8), 4);
  assert_int_equal(smma_slice_exponent(7.625), 3);
  for (int s = 1; s <= 4; s++) {
    for (int k = 0; k < 3; k++) {
      assert_int_equal(smma_slice(example_a[k], 4, 3, s), slices_a[s - 1][k]);
      assert_int_equal(smma_slice(example_b[k], 3, 3, s), slices_b[s - 1][k]);
    }
  }
}

/* A_(i) B^(j) has the weight 2^(7 - 3 (i + j)). */
static void test_example_products(void **state) {
  const smma_instruction *unit = instruction_at(0);
  double sum = 0;
  (void)state;
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      int8_t a[16] = {0}, b[16] = {0};
      int32_t c = 0, d;
      memcpy(a, slices_a[i], 3), memcpy(b, slices_b[j], 3);
      assert_int_equal(smma_dot(unit, a, b, &c, NULL, NULL, &d), SMMA_OK);
      assert_int_equal(d, example_products[i][j]);
      sum += ldexp(d, 7 - 3 * (i + j + 2));
    }
  }
  assert_true(sum == ldexp(-9464256, -17)); /* -00100100000110100111000000 */
}

static void test_example(void **state) {
  smma_slices how = slices_of(4, 3, SMMA_PRODUCTS_ALL, SMMA_SLICES_F64);
  (void)state;
  for (int sum = 0; sum < 2; sum++) {
    double d;
    smma_f64_product g = product_of(example_a, example_b, &d, 1, 1, 3);
    how.sum = (smma_slices_sum)sum;
    assert_int_equal(smma_gemm_slices(instruction_at(0), &g, &how), SMMA_OK);
    assert_true(d == ldexp(-9464256, -17));
  }
}

/* ---- Slices ---- */

static void test_slices_add_up(void **unused) {
  static const double edges[] = {0, -0.0, 1, -1, DBL_MAX, -DBL_MAX, 0x1p-1074, 0x1.fffffffffffffp-1023, 0x1p-1022};
  uint64_t state = 1;
  (void)unused;
  for (size_t n = 0; n < 3000; n++) {
    int bits = n % 7 + 1, above = (int)random_below(&state, n % 3 ? 10 : 200), exponent, needed;
    double x, sum = 0;
    random_numbers(&state, -1074, 1023, &x, 1);
    if (n < sizeof edges / sizeof *edges) x = edges[n];
    exponent = smma_slice_exponent(fabs(x)) + above;
    assert_true(x == 0 || (fabs(ldexp(x, -exponent + above)) < 1 && fabs(ldexp(x, -exponent + above)) >= 0.5));
    needed = smma_slices_needed(x, exponent, bits);
    for (int s = needed + 9; s >= 1; s--) {
      int slice = smma_slice(x, exponent, bits, s);
      assert_true(abs(slice) < 1 << bits && (x < 0 ? slice <= 0 : slice >= 0));
      assert_true(s <= needed ? s < needed || slice : slice == 0);
      sum += ldexp(slice, -bits * s);
    }
    assert_true(ldexp(sum, exponent) == x);
  }
}

/* ---- Identities ---- */

/* With enough slices, all products and an exact sum, D is the exact product, rounded once. Exponents are equal, or as
   far apart as FP64 allows, down to subnormal results. */
static void test_enough_slices_are_exact(void **unused) {
  static const int ranges[][2] = {{0, 0}, {-20, 20}, {-300, 200}, {-1073, -1000}, {-540, -520}};
  uint64_t state = 2;
  operands o;
  double d[M * N], again[M * N];
  (void)unused;
  for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
    random_numbers(&state, ranges[r][0], ranges[r][1], o.a, M * K);
    random_numbers(&state, r == 3 ? 990 : ranges[r][0], r == 3 ? 1020 : ranges[r][1], o.b, K * N);
    for (int k = 0; k < K / 2; k++) o.a[K + K - 1 - k] = -o.a[K + k]; /* so that products cancel */
    for (int k = 0; k < K / 2; k++) o.b[(K - 1 - k) * N] = o.b[k * N];
    for (size_t i = 0; i < (r == 2 ? 1 : INSTRUCTION_COUNT); i++) {
      smma_slices how = exact;
      how.bits = 7 - (int)i;
      multiply(instruction_at(i), &o, how, d);
      for (int e = 0; e < M * N; e++) assert_true(d[e] == exact_element(&o, e / N, e % N));
    }
    if (r > 0) continue;
    multiply(instruction_at(0), &o, slices_of(0, 1, SMMA_PRODUCTS_ALL, SMMA_SLICES_EXACT), again);
    assert_memory_equal(again, d, sizeof d);
  }
}

/* A sum halfway between two doubles is rounded away from zero because of one more bit, 140 binades below. */
static void test_sticky_bit_far_below(void **unused) {
  operands o = {{0}, {0}};
  double d[M * N];
  (void)unused;
  o.a[0] = 1, o.a[1] = 0x1p-53, o.a[2] = 0x1p-70;
  o.b[0] = 1, o.b[N] = 1, o.b[2 * N] = 0x1p-70;
  o.b[1] = 1, o.b[N + 1] = 1;
  o.b[2] = -1, o.b[N + 2] = -1, o.b[2 * N + 2] = -0x1p-70;
  multiply(instruction_at(1), &o, exact, d);
  assert_true(d[0] == 1 + DBL_EPSILON && d[1] == 1 && d[2] == -1 - DBL_EPSILON);
}

/* The error of S slices is at most twice (S + 2) 2^(-bits S) for each product of numbers below one. */
static void test_error_bound(void **unused) {
  uint64_t state = 3;
  operands o;
  double d[M * N];
  (void)unused;
  random_numbers(&state, 0, 0, o.a, M * K);
  random_numbers(&state, 0, 0, o.b, K * N);
  for (int bits = 3; bits <= 7; bits++) {
    for (int slices = 1; slices <= 49 / bits; slices++) {
      smma_slices how = slices_of(slices, bits, SMMA_PRODUCTS_LEADING, SMMA_SLICES_EXACT);
      double bound = ldexp(2 * K * (slices + 2), -bits * slices), largest = 0;
      multiply(instruction_at(3), &o, how, d);
      for (int e = 0; e < M * N; e++) {
        double error = fabs(d[e] - exact_element(&o, e / N, e % N));
        assert_true(error <= bound);
        if (error > largest) largest = error;
      }
      assert_true(largest > bound / 1000); /* the bound distinguishes numbers of slices and kinds of products */
    }
  }
}

/* A sum of 140,000 products of 127 by 127 exceeds 32 bits without overflow. */
static void test_long_sums_do_not_overflow(void **unused) {
  enum { LENGTH = 140000 };
  double *x = malloc(LENGTH * sizeof *x), d;
  (void)unused;
  assert_non_null(x);
  for (int k = 0; k < LENGTH; k++) x[k] = 127;
  for (size_t i = 0; i < INSTRUCTION_COUNT; i++) {
    smma_f64_product g = product_of(x, x, &d, 1, 1, LENGTH);
    assert_int_equal(smma_gemm_slices(instruction_at(i), &g, &exact), SMMA_OK);
    assert_true(d == 127.0 * 127 * LENGTH);
  }
  free(x);
}

static void test_powers_of_two_change_nothing(void **unused) {
  uint64_t state = 4;
  operands o, scaled;
  double d[M * N], again[M * N];
  int row[M], column[N];
  (void)unused;
  random_numbers(&state, -10, 0, o.a, M * K);
  random_numbers(&state, -10, 0, o.b, K * N);
  for (int i = 0; i < M; i++) row[i] = random_between(&state, -200, 200);
  for (int j = 0; j < N; j++) column[j] = random_between(&state, -200, 200);
  for (int e = 0; e < M * K; e++) scaled.a[e] = ldexp(o.a[e], row[e / K]);
  for (int e = 0; e < K * N; e++) scaled.b[e] = ldexp(o.b[e], column[e % N]);
  for (int v = 0; v < 12; v++) {
    smma_slices how = slices_of(v / 4 * 3, 7, (smma_products)(v & 1), (smma_slices_sum)(v >> 1 & 1));
    multiply(instruction_at(2), &o, how, d);
    multiply(instruction_at(2), &scaled, how, again);
    for (int e = 0; e < M * N; e++) assert_true(isfinite(d[e]) && again[e] == ldexp(d[e], row[e / N] + column[e % N]));
  }
}

/* Products have two slices. The expected result adds the leading products in FP64, step by step. */
static void test_sum_step_by_step(void **unused) {
  uint64_t state = 5;
  operands o;
  double d[M * N];
  (void)unused;
  random_numbers(&state, 0, 0, o.a, M * K);
  random_numbers(&state, 0, 0, o.b, K * N);
  for (int i = 0; i < M; i++) o.a[i * K] = 0.75;
  for (int j = 0; j < N; j++) o.b[j] = 0.75;
  multiply(instruction_at(4), &o, slices_of(2, 7, SMMA_PRODUCTS_LEADING, SMMA_SLICES_F64), d);
  for (int e = 0; e < M * N; e++) {
    static const int pairs[3][2] = {{1, 2}, {2, 1}, {1, 1}};
    double sum = 0;
    for (int p = 0; p < 3; p++) {
      int product = 0;
      for (int k = 0; k < K; k++)
        product +=
            smma_slice(o.a[e / N * K + k], 0, 7, pairs[p][0]) * smma_slice(o.b[k * N + e % N], 0, 7, pairs[p][1]);
      sum += ldexp(product, -7 * (pairs[p][0] + pairs[p][1]));
    }
    assert_true(d[e] == sum);
  }
}

/* Sums in FP64 have the weights of their elements, so integers of low levels do not underflow before the end. */
static void test_far_exponents(void **unused) {
  static const double exponents[][2] = {{1000, -1000}, {100, -1000}, {1000, -60}, {-500, -520}, {0, -1074}};
  (void)unused;
  for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
    const double a[] = {ldexp(1, (int)exponents[i][0]), ldexp(1, (int)exponents[i][1])}, b[] = {0, 1};
    smma_slices how = slices_of(0, 7, SMMA_PRODUCTS_ALL, SMMA_SLICES_F64);
    double d = 7;
    smma_f64_product g = product_of(a, b, &d, 1, 1, 2);
    assert_int_equal(smma_gemm_slices(instruction_at(0), &g, &how), SMMA_OK);
    assert_true(d == a[1]);
  }
}

/* ---- Zero, infinity, NaN ---- */

static void test_special_numbers(void **unused) {
  uint64_t state = 6;
  operands o, x;
  double finite[M * N], d[M * N];
  (void)unused;
  random_numbers(&state, -3, 0, o.a, M * K);
  random_numbers(&state, -3, 0, o.b, K * N);
  multiply(instruction_at(0), &o, exact, finite);
  x = o;
  x.a[K + 3] = INFINITY, x.a[2 * K + 3] = NAN;
  x.b[3 * N] = 0.5, x.b[3 * N + 1] = -0x1p-500, x.b[3 * N + 2] = 0;
  multiply(instruction_at(0), &x, exact, d);
  assert_true(d[N] == INFINITY && d[N + 1] == -INFINITY && isnan(d[N + 2]));
  for (int j = 0; j < N; j++) assert_true(isnan(d[2 * N + j]));
  assert_true(d[3] == finite[3]);
  memset(&x, 0, sizeof x);
  multiply(instruction_at(0), &x, exact, d);
  for (int e = 0; e < M * N; e++) assert_true(d[e] == 0 && !signbit(d[e]));
  for (int e = 0; e < M * K; e++) x.a[e] = DBL_MAX;
  for (int e = 0; e < K * N; e++) x.b[e] = e % N ? -DBL_MAX : DBL_MAX;
  multiply(instruction_at(0), &x, exact, d);
  for (int e = 0; e < M * N; e++) assert_true(d[e] == (e % N ? -INFINITY : INFINITY));
}

/* ---- Arguments ---- */

static void test_layouts(void **unused) {
  uint64_t state = 7;
  operands o;
  double a[K * (M + 2)], b[N * (K + 1)], d[N * (M + 3)], expected[M * N];
  smma_f64_product g = product_of(a, b, d, M, N, K);
  (void)unused;
  random_numbers(&state, -9, 9, o.a, M * K);
  random_numbers(&state, -9, 9, o.b, K * N);
  multiply(instruction_at(0), &o, exact, expected);
  for (int e = 0; e < M * K; e++) a[e / K + e % K * (M + 2)] = o.a[e];
  for (int e = 0; e < K * N; e++) b[e / N + e % N * (K + 1)] = o.b[e];
  for (int e = 0; e < N * (M + 3); e++) d[e] = 77;
  g.order_a = g.order_b = g.order_d = SMMA_COLUMN_MAJOR;
  g.lda = M + 2, g.ldb = K + 1, g.ldd = M + 3;
  assert_int_equal(smma_gemm_slices(instruction_at(0), &g, &exact), SMMA_OK);
  for (int e = 0; e < N * (M + 3); e++)
    assert_true(d[e] == (e % (M + 3) < M ? expected[e % (M + 3) * N + e / (M + 3)] : 77));
}

static void test_rounding_mode(void **unused) {
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  smma_slices f64 = slices_of(4, 7, SMMA_PRODUCTS_LEADING, SMMA_SLICES_F64);
  uint64_t state = 8;
  operands o;
  double expected[M * N], d[M * N];
  (void)unused;
  random_numbers(&state, -9, 9, o.a, M * K);
  random_numbers(&state, -9, 9, o.b, K * N);
  for (int s = 0; s < 2; s++) {
    multiply(instruction_at(0), &o, s ? exact : f64, expected);
    for (int m = 0; m < 3; m++) {
      int mode;
      fesetround(modes[m]);
      multiply(instruction_at(0), &o, s ? exact : f64, d);
      mode = fegetround();
      fesetround(FE_TONEAREST);
      assert_int_equal(mode, modes[m]);
      assert_memory_equal(d, expected, sizeof d);
    }
  }
}

static void test_empty(void **unused) {
  double d[4] = {1, 1, 1, 1};
  smma_f64_product g = product_of(NULL, NULL, d, 2, 2, 0);
  (void)unused;
  assert_int_equal(smma_gemm_slices(instruction_at(0), &g, &exact), SMMA_OK);
  for (int e = 0; e < 4; e++) assert_true(d[e] == 0);
  g = product_of(NULL, NULL, NULL, 0, 2, 3);
  assert_int_equal(smma_gemm_slices(instruction_at(0), &g, &exact), SMMA_OK);
}

static void test_progress(void **unused) {
  smma_slices how = slices_of(2, 7, SMMA_PRODUCTS_LEADING, SMMA_SLICES_F64);
  uint64_t state = 9;
  operands o;
  double d[M * N] = {77};
  progress_log log = {3 * M, 0, 0, 1};
  smma_f64_product g = product_of(o.a, o.b, d, M, N, K);
  (void)unused;
  random_numbers(&state, 0, 0, o.a, M * K);
  random_numbers(&state, 0, 0, o.b, K * N);
  g.progress = log_progress, g.progress_context = &log;
  assert_int_equal(smma_gemm_slices(instruction_at(0), &g, &how), SMMA_STOPPED);
  assert_true(d[0] == 77);
  log = (progress_log){3 * M, 0, 0, 1000};
  assert_int_equal(smma_gemm_slices(instruction_at(0), &g, &how), SMMA_OK);
  assert_int_equal(log.last, 3 * M);
}

/* The defaults compute the exact product, rounded once. */
static void test_defaults(void **unused) {
  uint64_t state = 10;
  operands o;
  double d[M * N];
  smma_slices how;
  (void)unused;
  memset(&how, 0xff, sizeof how);
  smma_slices_defaults(&how, sizeof how);
  smma_slices_defaults(NULL, sizeof *NULL);
  random_numbers(&state, -90, 90, o.a, M * K);
  random_numbers(&state, -90, 90, o.b, K * N);
  multiply(instruction_at(0), &o, how, d);
  for (int e = 0; e < M * N; e++) assert_true(d[e] == exact_element(&o, e / N, e % N));
}

/* Checks that arguments are refused after `change`, a statement on g and how; without it they are valid. */
#define REFUSED(status, instruction, change)                           \
  do {                                                                 \
    smma_f64_product g = product_of(o.a, o.b, d, M, N, K);             \
    smma_slices how = exact;                                           \
    change;                                                            \
    assert_int_equal(smma_gemm_slices(instruction, &g, &how), status); \
    assert_true(d[0] == 77);                                           \
  } while (0)

static void test_refusals(void **unused) {
  const smma_instruction *unit = instruction_at(0);
  operands o = {{1}, {1}};
  double d[M * N] = {77};
  (void)unused;
  REFUSED(SMMA_INVALID_ARGUMENT, NULL, );
  REFUSED(SMMA_INVALID_ARGUMENT, find("A100", "mma.m16n8k16.f32.f16.f16.f32"), );
  REFUSED(SMMA_INVALID_ARGUMENT, find("A100", "mma.m16n8k32.s32.u8.s8.s32"), );
  REFUSED(SMMA_INVALID_ARGUMENT, find("A100", "mma.m16n8k32.s32.s8.u8.s32"), );
  REFUSED(SMMA_INVALID_ARGUMENT, unit, g.size = 0);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, how.size = 0);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, how.slices = -1);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, how.slices = SMMA_MOST_SLICES + 1);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, how.bits = 0);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, how.bits = 8);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, how.products = (smma_products)2);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, how.sum = (smma_slices_sum)2);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, g.a = NULL);
  REFUSED(SMMA_INVALID_ARGUMENT, unit, g.a = d);
  assert_int_equal(smma_gemm_slices(unit, NULL, &exact), SMMA_INVALID_ARGUMENT);
  REFUSED(SMMA_INVALID_DIMENSION, unit, g.lda = K - 1);
  REFUSED(SMMA_NO_KERNEL, unit, g.kernel = "none");
  o.a[0] = 0; /* no slice has a number */
  REFUSED(SMMA_NO_KERNEL, unit, g.kernel = "none");
  REFUSED(SMMA_INVALID_ARGUMENT, unit, g.threads = -1);
  REFUSED(SMMA_INVALID_SPARSITY, find("H100", "wgmma.sp.m64n16k64.s32.s8.s8"), );
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_example_slices),
      cmocka_unit_test(test_example_products),
      cmocka_unit_test(test_example),
      cmocka_unit_test(test_slices_add_up),
      cmocka_unit_test(test_enough_slices_are_exact),
      cmocka_unit_test(test_sticky_bit_far_below),
      cmocka_unit_test(test_error_bound),
      cmocka_unit_test(test_long_sums_do_not_overflow),
      cmocka_unit_test(test_powers_of_two_change_nothing),
      cmocka_unit_test(test_sum_step_by_step),
      cmocka_unit_test(test_far_exponents),
      cmocka_unit_test(test_special_numbers),
      cmocka_unit_test(test_layouts),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_rounding_mode),
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_progress),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests_name("slices", tests, NULL, NULL);
}
