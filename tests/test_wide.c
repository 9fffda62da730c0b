/* Compares the exact accumulator with GMP: long sums, cancellation, and ties decided by a bit far below. */
#include <gmp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
/* clang-format off */
#include <cmocka.h>
/* clang-format on */

#include "core/wide.h"

static uint64_t state = 1;

/* SplitMix64. */
static uint64_t draw(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/* Adds one term to both accumulators. */
static void add(smma_wide *w, mpz_t sum, bool negative, uint64_t significand, int exponent) {
  mpz_t term;
  smma_wide_add(w, negative, significand, exponent);
  mpz_init_set_ui(term, significand);
  mpz_mul_2exp(term, term, (mp_bitcnt_t)(exponent - SMMA_WIDE_LEAST));
  (negative ? mpz_sub : mpz_add)(sum, sum, term);
  mpz_clear(term);
}

/* Returns sum * 2^SMMA_WIDE_LEAST to nearest even in FP64, for sums that are normal and in range. */
static uint64_t rounded(const mpz_t sum) {
  mpz_t kept, rest, half;
  bool negative = mpz_sgn(sum) < 0;
  size_t length = mpz_sizeinbase(sum, 2), cut = length > 53 ? length - 53 : 0;
  uint64_t fields;
  if (mpz_sgn(sum) == 0) return 0;
  mpz_inits(kept, rest, half, NULL);
  mpz_abs(kept, sum);
  mpz_fdiv_r_2exp(rest, kept, cut);
  mpz_fdiv_q_2exp(kept, kept, cut);
  mpz_setbit(half, cut ? cut - 1 : 0);
  if (cut && (mpz_cmp(rest, half) > 0 || (mpz_cmp(rest, half) == 0 && mpz_odd_p(kept)))) mpz_add_ui(kept, kept, 1);
  fields = mpz_get_ui(kept) << (length < 53 ? 53 - length : 0);
  fields += ((uint64_t)((int)length - 1 + SMMA_WIDE_LEAST + 1022)) << 52;
  mpz_clears(kept, rest, half, NULL);
  return fields | (uint64_t)negative << 63;
}

static void compare(const smma_wide *w, const mpz_t sum, const char *what) {
  uint64_t expected = rounded(sum), got = smma_wide_round(w, smma_encoding_of(SMMA_F64));
  if (expected != got)
    fail_msg("%s: expected %016llx, got %016llx", what, (unsigned long long)expected, (unsigned long long)got);
}

/* Sums random terms within `spread` powers of two around one. Every second sum also contains the negatives of its first
   terms. */
static void test_random_sums(void **unused) {
  static const int spreads[] = {1, 40, 64, 100, 700};
  (void)unused;
  for (int round = 0; round < 20000; round++) {
    int spread = spreads[round % 5], count = 1 + (int)(draw() % (round % 100 == 0 ? 5000 : 12));
    smma_wide w;
    mpz_t sum;
    smma_wide_clear(&w);
    mpz_init(sum);
    for (int i = 0; i < count; i++) {
      uint64_t significand = draw() >> (draw() % 64);
      int exponent = (int)(draw() % (uint64_t)spread) - spread / 2;
      bool negative = draw() & 1;
      add(&w, sum, negative, significand, exponent);
      if (round % 2 && draw() % 2) add(&w, sum, !negative, significand + (draw() % 8 == 0), exponent);
    }
    compare(&w, sum, "random sum");
    mpz_clear(sum);
  }
}

/* The sum is 1 + half an ulp and one more bit, at every distance below. That bit alone decides the rounding. */
static void test_ties(void **unused) {
  (void)unused;
  for (int distance = 54; distance < 900; distance++)
    for (int sign = 0; sign < 2; sign++) {
      smma_wide w;
      mpz_t sum;
      smma_wide_clear(&w);
      mpz_init(sum);
      add(&w, sum, false, ((uint64_t)1 << 53) + 1, -53);
      add(&w, sum, sign, 1, -distance);
      compare(&w, sum, "tie");
      mpz_clear(sum);
    }
}

/* Sums of terms with one sign carry through many limbs. */
static void test_carries(void **unused) {
  smma_wide w;
  mpz_t sum;
  (void)unused;
  smma_wide_clear(&w);
  mpz_init(sum);
  for (int i = 0; i < 200000; i++) {
    add(&w, sum, i % 1000 == 999, ~(uint64_t)0, 31 - i % 97);
    if (i % 1009 == 0) compare(&w, sum, "carries");
  }
  mpz_clear(sum);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_sums), cmocka_unit_test(test_ties),
                                     cmocka_unit_test(test_carries)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
