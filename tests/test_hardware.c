/* Compares vdpbf16ps of this CPU with its model, bit for bit, including NaN. */
#include <stdio.h>

#include "host/cpu.h"
#include "isa/instruction.h"
#include "operands.h"
#include "support.h"

#define ROWS 1000000
#define MOST_REPORTS 5

static int skipped(const char *why) {
  print_error(
      "**********************************************************************\n"
      "SKIPPED: %s;\n"
      "the model of vdpbf16ps was NOT compared with hardware.\n"
      "**********************************************************************\n",
      why);
  return SKIPPED;
}

#if defined(__x86_64__) && (defined(__clang__) || __GNUC__ >= 10)

#include <immintrin.h>

/* Returns lane 0 of the instruction's result. a and b hold two elements each, element 0 in the low half. */
__attribute__((target("avx512bf16,avx512vl"))) static uint32_t run_instruction(const uint64_t *a, const uint64_t *b,
                                                                               uint32_t c) {
  __m128i x = _mm_cvtsi32_si128((int)(uint32_t)(a[1] << 16 | a[0]));
  __m128i y = _mm_cvtsi32_si128((int)(uint32_t)(b[1] << 16 | b[0]));
  __m128 d = _mm_dpbf16_ps(_mm_castsi128_ps(_mm_cvtsi32_si128((int)c)), (__m128bh)x, (__m128bh)y);
  return (uint32_t)_mm_cvtsi128_si32(_mm_castps_si128(d));
}

typedef void row_source(const smma_operation *o, uint64_t row, smma_row *x);

static void random_row(const smma_operation *o, uint64_t row, smma_row *x) {
  uint64_t state = row, bits = random_bits(&state);
  (void)o;
  for (int k = 0; k < 2; k++) {
    x->a[k] = bits >> (32 * k) & 0xffff;
    x->b[k] = bits >> (32 * k + 16) & 0xffff;
  }
  x->c = random_bits(&state) & 0xffffffff;
}

static void adversarial_row(const smma_operation *o, uint64_t row, smma_row *x) {
  smma_row r;
  operands_generate(o, 1, row, &r);
  for (int k = 0; k < 2; k++) x->a[k] = r.a[k], x->b[k] = r.b[k];
  x->c = r.c;
}

/* Returns a NaN with a payload, an infinity, a zero, a subnormal number, which becomes zero, or any other number. */
static uint64_t nearly_nan(uint64_t *state, int fraction_bits) {
  const uint64_t bits = random_bits(state), infinity = UINT64_C(0xff) << fraction_bits;
  const uint64_t sign = (bits >> 8 & 1) << (8 + fraction_bits), fraction = bits >> 32 & ((1 << fraction_bits) - 1);
  switch (bits % 8) {
    case 0: return sign | infinity;
    case 1:
    case 2: return sign | infinity | fraction;
    case 3: return sign;
    case 4: return sign | fraction;
    default: return sign | (bits >> 16 & 0xff) << fraction_bits | fraction;
  }
}

static void nan_row(const smma_operation *o, uint64_t row, smma_row *x) {
  uint64_t state = row;
  (void)o;
  for (int k = 0; k < 2; k++) {
    x->a[k] = nearly_nan(&state, 7);
    x->b[k] = nearly_nan(&state, 7);
  }
  x->c = nearly_nan(&state, 23);
}

static void compare(row_source *source) {
  const smma_instruction *i = find("x86", "vdpbf16ps");
  smma_operation o = smma_operation_of(i);
  long different = 0;
  for (uint64_t row = 0; row < ROWS; row++) {
    smma_row x;
    uint64_t expected, got;
    source(&o, row, &x);
    expected = run_instruction(x.a, x.b, (uint32_t)x.c);
    got = dot(i, &x);
    if (expected == got) continue;
    if (different++ < MOST_REPORTS) print_dot(i, &x, expected, got);
  }
  assert_int_equal(different, 0);
}

static void test_random(void **state) { (void)state, compare(random_row); }
static void test_adversarial(void **state) { (void)state, compare(adversarial_row); }
static void test_nans(void **state) { (void)state, compare(nan_row); }

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_adversarial),
                                     cmocka_unit_test(test_nans)};
  if (!smma_cpu_has(SMMA_CPU_AVX512) || !__builtin_cpu_supports("avx512bf16"))
    return skipped("this CPU has no AVX512_BF16");
  return cmocka_run_group_tests_name("hardware", tests, NULL, NULL);
}

#else

int main(void) { return skipped("this is no x86-64, or its compiler does not know AVX512_BF16"); }

#endif
