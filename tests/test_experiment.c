/* Parts of experiments: random numbers are the same on every machine and have the right distribution; references are
   exact. */
#include <math.h>

#include "core/wide.h"
#include "experiment/random.h"
#include "experiment/random_product.h"
#include "host/philox.h"
#include "numerics/exact.h"
#include "support.h"

enum { COUNT = 100000 };

static uint64_t bits_of(double x) {
  return smma_format_encode(SMMA_F64, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

/* The known answers that the generator's authors published. */
static void test_philox(void **state) {
  static const struct {
    smma_philox_block counter;
    uint64_t key;
    smma_philox_block answer;
  } known[] = {
      {{{0, 0, 0, 0}}, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      {{{~0u, ~0u, ~0u, ~0u}}, ~UINT64_C(0), {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      {{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       UINT64_C(0x299f31d0a4093822),
       {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
  };
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    smma_philox_block x = smma_philox(known[i].counter, known[i].key);
    assert_memory_equal(&x, &known[i].answer, sizeof x);
  }
}

/* Many blocks at once equal single blocks, in the vectors of every CPU, also where word 2 wraps. */
static void check_philox_function(smma_philox_function *function) {
  enum { MOST = 80, KEYS = 20 };
  for (uint64_t key = 1; key < KEYS; key++)
    for (size_t blocks = SMMA_PHILOX_STEP; blocks <= MOST; blocks += SMMA_PHILOX_STEP) {
      const uint64_t seed = key * UINT64_C(0x9e3779b97f4a7c15);
      const smma_philox_block first = {{(uint32_t)blocks, (uint32_t)seed, 0u - (uint32_t)(5 * key), (uint32_t)key}};
      const smma_philox_keys keys = smma_philox_keys_of(seed);
      uint32_t words[4 * MOST];
      uint64_t sums[MOST];
      function(&keys, first, blocks, words, NULL);
      function(&keys, first, blocks, NULL, sums);
      for (size_t i = 0; i < blocks; i++) {
        smma_philox_block x = first;
        x.word[2] += (uint32_t)i;
        x = smma_philox(x, seed);
        assert_memory_equal(words + 4 * i, x.word, sizeof x.word);
        assert_int_equal(sums[i], (uint64_t)x.word[0] + x.word[1] + x.word[2] + x.word[3]);
      }
    }
}

static void test_philox_functions(void **state) {
  (void)state;
  check_philox_function(smma_philox_portable);
  check_philox_function(smma_philox_function_for_cpu());
#ifdef __x86_64__
  if (smma_cpu_has(SMMA_CPU_AVX2)) check_philox_function(smma_philox_avx2);
#endif
}

/* Different seeds, streams and positions give different numbers. Stored results depend on these bits, so they must not
   change. */
static void test_bits(void **state) {
  (void)state;
  assert_true(smma_random_bits(1, 2, 3) == smma_random_bits(1, 2, 3));
  assert_true(smma_random_bits(1, 2, 3) != smma_random_bits(0, 2, 3));
  assert_true(smma_random_bits(1, 2, 3) != smma_random_bits(1, 0, 3));
  assert_true(smma_random_bits(1, 2, 3) != smma_random_bits(1, 2, 0));
  assert_true(smma_random_bits(1, 2, 3) != smma_random_bits((uint64_t)1 << 32 | 1, 2, 3));
  assert_true(smma_random_bits(1, 2, 3) != smma_random_bits(1, 2, (uint64_t)1 << 32 | 3));
  assert_true(smma_random_bits(0, 0, 0) == UINT64_C(0xe169c58d6627e8d5));
  assert_true(smma_random_normal(0, 0, 0) == 0x1.a4e33a196ea94p-3);
  assert_true(smma_random_decades(0, 0, 0, 10) == 0x1.371880e2690c3p+25);
}

/* The share of numbers below x is that of the normal distribution, to within five standard deviations. */
static void test_normal(void **state) {
  static const double x[] = {-3, -2, -1, -0.5, 0, 0.25, 1, 1.5, 2.5};
  (void)state;
  for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
    double share = 0, p = 0.5 * erfc(-x[i] / sqrt(2));
    for (uint64_t n = 0; n < COUNT; n++) share += (smma_random_normal(1, 0, n) < x[i]) / (double)COUNT;
    assert_true(fabs(share - p) < 5 * sqrt(p * (1 - p) / COUNT));
  }
}

/* Half of the numbers are negative, and the logarithms of their magnitudes are uniform. */
static void test_decades(void **state) {
  double negative = 0, low = 0;
  (void)state;
  for (uint64_t n = 0; n < COUNT; n++) {
    double r = smma_random_uniform(2, 5, n), x = smma_random_decades(2, 5, n, 10);
    assert_true(fabs(x) >= 1e-10 && fabs(x) < 1e10 * (1 + 1e-15));
    assert_true(fabs(fabs(x) / pow(10, (2 * r - 1) * 10) - 1) < 1e-14);
    negative += x < 0;
    low += fabs(x) < 1e-5;
  }
  assert_true(fabs(negative / COUNT - 0.5) < 5 * sqrt(0.25 / COUNT));
  assert_true(fabs(low / COUNT - 0.25) < 5 * sqrt(0.1875 / COUNT));
}

/* The exact dot product equals the exact accumulator, also for sums that cancel. */
static void test_exact_dot(void **state) {
  enum { LENGTH = 1000 };
  static double a[LENGTH], b[LENGTH];
  smma_encoding f64 = smma_encoding_of(SMMA_F64);
  (void)state;
  for (uint32_t trial = 0; trial < 50; trial++) {
    smma_double_double sum;
    smma_wide w;
    double magnitude = 0;
    smma_wide_clear(&w);
    for (size_t k = 0; k < LENGTH; k++) {
      a[k] = smma_random_decades(3, trial, k, 8), b[k] = smma_random_decades(4, trial, k, 8);
      magnitude += fabs(a[k] * b[k]);
    }
    sum = smma_exact_dot(a, b, LENGTH);
    for (size_t k = 0; k < LENGTH; k++)
      smma_wide_add_product(&w, smma_decode(f64, bits_of(a[k])), smma_decode(f64, bits_of(b[k])));
    smma_wide_add_product(&w, smma_decode(f64, bits_of(-sum.high)), smma_decode(f64, bits_of(1)));
    smma_wide_add_product(&w, smma_decode(f64, bits_of(-sum.low)), smma_decode(f64, bits_of(1)));
    assert_true(fabs(smma_format_decode(SMMA_F64, smma_wide_round(&w, f64))) <= 1e-26 * magnitude);
  }
}

/* The lengths equal MATLAB's floor(logspace(1, 6, 20)). */
static void test_lengths(void **state) {
  static const size_t lengths[] = {10,   18,   33,    61,    112,   206,   379,    695,    1274,   2335,
                                   4281, 7847, 14384, 26366, 48329, 88586, 162377, 297635, 545559, 1000000};
  (void)state;
  for (size_t i = 0; i < 20; i++) assert_int_equal(smma_random_product_length(i, 20, 1000000), lengths[i]);
  assert_int_equal(smma_random_product_length(0, 1, 1000), 1000);
}

/* Errors of a known product: with a wrong first element of C, and with a correct C. */
static void test_product_error(void **state) {
  smma_random_product p;
  smma_error error;
  double c[SMMA_RANDOM_PRODUCT_SIZE];
  (void)state;
  assert_true(smma_random_product_make(&p, 0, 12, 10, &error));
  for (size_t e = 0; e < SMMA_RANDOM_PRODUCT_SIZE; e++) c[e] = p.exact[e].high + p.exact[e].low;
  assert_true(smma_random_product_error(&p, c) < 1e-16);
  c[0] += p.norms, c[1] -= 2 * p.norms, c[99] += p.norms;
  assert_true(fabs(smma_random_product_error(&p, c) - 3) < 1e-12);
  for (size_t e = 0; e < SMMA_RANDOM_PRODUCT_SIZE; e++) c[e] = (e % 4 ? 2 : 0.5) * p.exact[e].high;
  assert_true(smma_random_product_toward_zero(&p, c) == 0.25);
  smma_random_product_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_philox),  cmocka_unit_test(test_philox_functions),
                                     cmocka_unit_test(test_bits),    cmocka_unit_test(test_normal),
                                     cmocka_unit_test(test_decades), cmocka_unit_test(test_exact_dot),
                                     cmocka_unit_test(test_lengths), cmocka_unit_test(test_product_error)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
