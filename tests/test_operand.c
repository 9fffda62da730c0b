/* Tensors as operands: the two layouts compared with each other, and each element with the formula of its block.
   Python's tests compare recipes on any numbers, and stochastic rounding, with formulas (test_recipes.py). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/bits.h"
#include "numerics/blocks.h"
#include "numerics/operand.h"
#include "random.h"
#include "softmma/scales.h"
#include "support.h"

enum { MOST = 3 * 70 * 70 };

typedef struct {
  unsigned char values[4 * MOST], scales[4 * MOST];
  float factor[MOST];
  int32_t zero_points[MOST];
  smma_operand_statistics statistics;
} made;

static void fill(float *x, size_t count, uint64_t *seed) {
  static const float specials[] = {0, -0.f, INFINITY, -INFINITY, NAN, 448, 464, 6, 7, 1e-45f, 3.4e38f};
  const unsigned kind = random_below(seed, 5);
  for (size_t i = 0; i < count; i++) {
    const uint32_t bits = (uint32_t)random_bits(seed);
    memcpy(&x[i], &bits, sizeof bits);
    if (kind < 3) x[i] = ldexpf((float)((int)(bits >> 8) - (1 << 23)), (int)(bits & 15) - 30 - 40 * (int)kind);
    if (kind == 3 || !random_below(seed, 300)) x[i] = specials[random_below(seed, 11)];
  }
}

static void make(const smma_operand_rule *rule, smma_operand o, bool blocks, made *m) {
  memset(m, 0, sizeof *m);
  o.values = m->values, o.measure = true, o.threads = 2;
  if (rule->compute == SMMA_NO_FORMAT && rule->factor != SMMA_NO_FORMAT) {
    o.scales = blocks ? m->scales : NULL;
    o.factor = !blocks || rule->factor == SMMA_UE4M3 ? m->factor : NULL;
    o.zero_points = rule->zero_points ? m->zero_points : NULL;
  }
  assert_int_equal(smma_make_operand(rule, &o), SMMA_OK);
  m->statistics = o.statistics;
}

/* Checks rows that lie along K, and the same numbers as columns. */
static void check_layouts(const smma_operand_rule *rule, const void *x, bool f64, size_t batch, size_t lines,
                          size_t k) {
  const size_t size = f64 ? sizeof(double) : sizeof(float);
  const size_t bytes =
      rule->compute == SMMA_BF16 || (rule->compute == SMMA_NO_FORMAT && rule->format == SMMA_F16) ? 2 : 1;
  const bool blocks = rule->rows && rule->columns;
  unsigned char *turned = malloc(batch * lines * k * size + 1);
  made *one = malloc(sizeof *one), *other = malloc(sizeof *other);
  assert_true(turned && one && other);
  for (size_t b = 0; b < batch; b++)
    for (size_t i = 0; i < lines; i++)
      for (size_t j = 0; j < k; j++)
        memcpy(turned + ((b * k + j) * lines + i) * size, (const char *)x + ((b * lines + i) * k + j) * size, size);
  make(rule, (smma_operand){.x = x, .f64 = f64, .batch = batch, .outer = lines, .inner = k, .k_inner = true}, blocks,
       one);
  make(rule, (smma_operand){.x = turned, .f64 = f64, .batch = batch, .outer = k, .inner = lines}, blocks, other);
  for (size_t b = 0; b < batch; b++)
    for (size_t i = 0; i < lines; i++)
      for (size_t j = 0; j < k; j++)
        assert_memory_equal(one->values + ((b * lines + i) * k + j) * bytes,
                            other->values + ((b * k + j) * lines + i) * bytes, bytes);
  assert_memory_equal(one->scales, other->scales, sizeof one->scales);
  assert_memory_equal(one->factor, other->factor, sizeof one->factor);
  assert_memory_equal(one->zero_points, other->zero_points, sizeof one->zero_points);
  assert_int_equal(one->statistics.zeros, other->statistics.zeros);
  assert_int_equal(one->statistics.saturated, other->statistics.saturated);
  assert_int_equal(one->statistics.infinite, other->statistics.infinite);
  assert_int_equal(one->statistics.nan, other->statistics.nan);
  free(turned);
  free(one);
  free(other);
}

static void test_layouts(void **state) {
  static const smma_format formats[] = {SMMA_E4M3, SMMA_E5M2, SMMA_E2M1, SMMA_E4M3FNUZ, SMMA_S8, SMMA_S4};
  static const struct {
    smma_format factor;
    size_t rows, columns;
  } shared[] = {{SMMA_NO_FORMAT, 0, 0}, {SMMA_F32, 0, 0},    {SMMA_F32, 1, 0},
                {SMMA_F32, 1, 128},     {SMMA_F32, 32, 48},  {SMMA_UE8M0, 1, 32},
                {SMMA_UE8M0, 32, 32},   {SMMA_UE4M3, 1, 16}, {SMMA_UE4M3, 16, 16}};
  static const size_t shapes[][3] = {{1, 35, 70}, {3, 2, 33}, {1, 1, 1}, {2, 0, 5}, {1, 5, 0}, {1, 70, 3}, {0, 4, 4}};
  static float x[MOST];
  static double wide[MOST], random[MOST];
  uint64_t seed = 3;
  (void)state;
  for (size_t i = 0; i < MOST; i++) random[i] = (double)random_below(&seed, 1 << 20) / (1 << 20);
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++)
    for (size_t s = 0; s < sizeof shared / sizeof *shared; s++)
      for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        const unsigned ways = random_below(&seed, 64);
        const smma_operand_rule rule = {
            .format = formats[f],
            .factor = shared[s].factor,
            .rows = shared[s].rows,
            .columns = shared[s].columns,
            .power_of_two = ways & 1,
            .formula = (smma_scale_formula)random_below(&seed, 14),
            .scale_rounding = (smma_scale_rounding)random_below(&seed, 4),
            .zero_points = ways & 2 && shared[s].factor == SMMA_F32,
            .line_factors = ways & 2 && shared[s].factor == SMMA_UE4M3 && shared[s].rows == 1,
            .tensor = ways & 32 ? SMMA_BF16 : SMMA_F32,
            .compute = ways & 4 ? SMMA_BF16 : SMMA_NO_FORMAT,
            .random = ways & 8 ? random : NULL};
        fill(x, MOST, &seed);
        for (size_t i = 0; i < MOST; i++) wide[i] = x[i];
        check_layouts(&rule, ways & 16 ? (const void *)wide : x, ways & 16, shapes[n][0], shapes[n][1], shapes[n][2]);
      }
}

/* FP32 factors of rows equal the formula's, computed one element at a time. */
static void test_rows(void **state) {
  static float x[40 * 70], factor[40];
  static unsigned char values[40 * 70];
  const smma_operand_rule rule = {.format = SMMA_E4M3, .factor = SMMA_F32, .rows = 1, .compute = SMMA_NO_FORMAT};
  uint64_t seed = 5;
  (void)state;
  for (int round = 0; round < 20; round++) {
    smma_operand o = {
        .x = x, .batch = 1, .outer = 40, .inner = 70, .k_inner = true, .values = values, .factor = factor};
    fill(x, 40 * 70, &seed);
    assert_int_equal(smma_make_operand(&rule, &o), SMMA_OK);
    for (size_t i = 0; i < 40; i++) {
      float amax = 0, scale;
      for (size_t j = 0; j < 70; j++)
        if (fabsf(x[i * 70 + j]) > amax) amax = fabsf(x[i * 70 + j]); /* ignores NaN */
      scale = smma_operand_scale(amax, SMMA_E4M3, false);
      assert_true(factor[i] == 1 / scale);
      for (size_t j = 0; j < 70; j++)
        assert_int_equal(values[i * 70 + j], smma_format_encode(SMMA_E4M3, (double)(x[i * 70 + j] * scale),
                                                                SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT));
    }
  }
  assert_true(smma_operand_scale(0, SMMA_E4M3, false) == 1 && smma_operand_scale(NAN, SMMA_E4M3, false) == 1);
  assert_true(smma_operand_scale(3, SMMA_E4M3, true) == 128 && smma_operand_scale(INFINITY, SMMA_E4M3, true) == 1);
}

/* Checks that the transform's first result is a quarter of the sum, in the order of its steps, rounded once to BF16. */
static void check_hadamard_in_bf16(void) {
  static const double ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  uint64_t seed = 9;
  for (int round = 0; round < 5000; round++) {
    const uint32_t mask = round % 2 ? UINT32_MAX : 0xbfff8000; /* few bits, so that ties occur */
    float x[16] = {0}, y[16], expected;
    for (int i = 0; i < 3; i++) {
      const uint32_t bits = (uint32_t)random_bits(&seed) & mask;
      memcpy(&x[i], &bits, sizeof bits);
    }
    smma_hadamard(x, 1, 16, ones, SMMA_BF16, y);
    expected = (float)smma_format_decode(SMMA_BF16,
                                         smma_format_encode(SMMA_BF16, ((double)x[0] + (double)x[2] + (double)x[1]) / 4,
                                                            SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT));
    assert_true(isnan(expected) ? isnan(y[0]) : y[0] == expected);
  }
}

/* The matrix is orthogonal: without random signs, applying it twice gives the block again. */
static void test_hadamard(void **state) {
  static const double ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  float x[2 * 20], y[2 * 32], z[2 * 32];
  (void)state;
  check_hadamard_in_bf16();
  for (int i = 0; i < 40; i++) x[i] = (float)(i % 7 - 3);
  smma_hadamard(x, 2, 20, ones, SMMA_F32, y);
  smma_hadamard(y, 2, 32, ones, SMMA_F32, z);
  for (int i = 0; i < 64; i++) assert_true(z[i] == (i % 32 < 20 ? x[i / 32 * 20 + i % 32] : 0));
}

/* Checks NVFP4 with two levels of factors, along either axis. The tensor's factor is passed or computed, and the same
   numbers are tested at several scales. */
static void test_two_levels(void **state) {
  static const smma_block_format nvfp4 = {"nvfp4", SMMA_E2M1, SMMA_UE4M3, 16};
  enum { LINES = 3, K = 40, BLOCKS = 3, COUNT = LINES * K };
  double x[COUNT], turned[COUNT];
  unsigned char values[4][COUNT], scales[4][LINES * BLOCKS];
  float factor[4] = {0};
  (void)state;
  for (int line = 0; line < LINES; line++)
    for (int k = 0; k < K; k++) {
      x[line * K + k] = ldexp((line * K + k) * 29 % 97 - 48, -17 - line);
      turned[k * LINES + line] = x[line * K + k];
    }
  assert_int_equal(smma_quantize(&nvfp4, x, LINES, K, true, &factor[0], values[0], scales[0]), SMMA_OK);
  assert_true(factor[0] == (float)ldexp(48, -17) / 2688);
  assert_int_equal(smma_quantize(&nvfp4, turned, K, LINES, false, &factor[1], values[1], scales[1]), SMMA_OK);
  assert_true(factor[1] == factor[0]);
  assert_memory_equal(scales[0], scales[1], sizeof scales[0]);
  for (int i = 0; i < COUNT; i++) assert_int_equal(values[1][i % K * LINES + i / K], values[0][i]);
  factor[2] = factor[0]; /* of the whole tensor, for one of its lines */
  assert_int_equal(smma_quantize(&nvfp4, x + K, 1, K, true, &factor[2], values[2], scales[2]), SMMA_OK);
  assert_true(factor[2] == factor[0]);
  assert_memory_equal(scales[2], scales[0] + BLOCKS, BLOCKS);
  assert_memory_equal(values[2], values[0] + K, K);
  for (int i = 0; i < COUNT; i++) x[i] = ldexp(x[i], 30);
  assert_int_equal(smma_quantize(&nvfp4, x, LINES, K, true, &factor[3], values[3], scales[3]), SMMA_OK);
  assert_true(factor[3] == ldexpf(factor[0], 30));
  assert_memory_equal(values[3], values[0], COUNT);
}

static uint64_t nearest(smma_format format, double x) {
  return smma_format_encode(format, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
}

/* Returns a number of any exponent; in half of the cases it is near a tie of the format, times a power of two. */
static double any_double(uint64_t *seed, smma_format format, int power) {
  static const double specials[] = {0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-1074, 0x1.fffffffffffffp1023, 1};
  const unsigned kind = random_below(seed, 64);
  if (kind == 0) return specials[random_below(seed, 8)];
  if (kind < 32) return smma_f64_of_bits(random_bits(seed));
  const double x = smma_format_decode(format, random_bits(seed) & 127);
  const double tie = x + (nextafter(x, INFINITY) - x) * (random_below(seed, 3) - 1.0) + x / 32 * random_below(seed, 5);
  return ldexp(random_below(seed, 2) ? tie : -tie, power);
}

/* Checks a block of `count` numbers, `stride` apart, by the definition in blocks.h. */
static void check_powers(smma_format element, const double *x, size_t stride, size_t count, const unsigned char *values,
                         unsigned scale) {
  const double of_format = smma_format_decode(element, nearest(element, INFINITY));
  double greatest = 0, factor;
  for (size_t i = 0; i < count; i++)
    greatest = isfinite(x[i * stride]) && !isnan(greatest) ? fmax(greatest, fabs(x[i * stride])) : NAN;
  if (greatest > 0) greatest = ldexp(1, ilogb(greatest) - ilogb(of_format));
  assert_int_equal(scale, nearest(SMMA_UE8M0, greatest));
  factor = smma_format_decode(SMMA_UE8M0, scale);
  for (size_t i = 0; i < count; i++) assert_int_equal(values[i * stride], nearest(element, x[i * stride] / factor));
}

/* Checks blocks with factors in UE8M0, along either axis. */
static void test_powers(void **state) {
  static const smma_format elements[] = {SMMA_E4M3, SMMA_E5M2, SMMA_E3M2, SMMA_E2M3, SMMA_E2M1, SMMA_OCP_INT8};
  static const size_t lengths[] = {1, 31, 32, 33, 100};
  enum { LINES = 5, K = 100, BLOCK = 32, BLOCKS = 4 };
  uint64_t seed = 20261129;
  (void)state;
  for (unsigned round = 0; round < 2000; round++) {
    const smma_block_format f = {"", elements[round % 6], SMMA_UE8M0, BLOCK};
    const size_t k = lengths[random_below(&seed, 5)], blocks = (k + BLOCK - 1) / BLOCK;
    const bool along_rows = random_below(&seed, 2);
    const size_t stride = along_rows ? 1 : LINES;
    const int power = (int)random_below(&seed, 2200) - 1100;
    double x[LINES * K];
    unsigned char values[LINES * K], scales[LINES * BLOCKS];
    float factor = 0;
    for (size_t i = 0; i < LINES * k; i++) {
      x[i] = any_double(&seed, f.element, power);
      if (round % 3 == 0 && !isfinite(x[i])) x[i] = 1; /* otherwise most blocks are NaN */
      if (round % 2) x[i] = ldexp(copysign(1, x[i]), power) * (1 + (int)(i % 7));
    }
    assert_int_equal(
        smma_quantize(&f, x, along_rows ? LINES : k, along_rows ? k : LINES, along_rows, &factor, values, scales),
        SMMA_OK);
    assert_true(factor == 1);
    for (size_t line = 0; line < LINES; line++)
      for (size_t block = 0; block < blocks; block++) {
        const size_t at = along_rows ? line * k + block * BLOCK : line + block * BLOCK * LINES;
        const size_t count = k - block * BLOCK < BLOCK ? k - block * BLOCK : BLOCK;
        check_powers(f.element, x + at, stride, count, values + at, scales[line * blocks + block]);
      }
  }
}

/* Checks that swizzled scale factors have cuBLAS's layout: tiles of 128 lines x 4 factors, in which lines at a distance
   of 32 are adjacent. */
static void test_swizzled_scales(void **state) {
  enum { LINES = 200, FACTORS = 7, TILES = 4 };
  unsigned char plain[LINES * FACTORS], swizzled[TILES * 512], back[LINES * FACTORS];
  size_t at = 0;
  (void)state;
  for (int i = 0; i < LINES * FACTORS; i++) plain[i] = (unsigned char)(i % 251 + 1);
  assert_int_equal(smma_swizzled_bytes(LINES, FACTORS), sizeof swizzled);
  assert_int_equal(smma_swizzle_scales(plain, LINES, FACTORS, swizzled), SMMA_OK);
  for (int top = 0; top < 256; top += 128)
    for (int left = 0; left < 8; left += 4)
      for (int line = top; line < top + 32; line++)
        for (int quarter = line; quarter < line + 128; quarter += 32)
          for (int factor = left; factor < left + 4; factor++, at++)
            assert_int_equal(swizzled[at], quarter < LINES && factor < FACTORS ? plain[quarter * FACTORS + factor] : 0);
  assert_int_equal(smma_unswizzle_scales(swizzled, LINES, FACTORS, back), SMMA_OK);
  assert_memory_equal(back, plain, sizeof plain);
  assert_int_equal(smma_swizzled_bytes(0, 5), 0);
  assert_int_equal(smma_swizzled_bytes(SIZE_MAX, 5), SIZE_MAX);
  assert_int_equal(smma_swizzle_scales(plain, SIZE_MAX, 5, swizzled), SMMA_INVALID_DIMENSION);
  assert_int_equal(smma_unswizzle_scales(swizzled, SIZE_MAX / 4, 600, back), SMMA_INVALID_DIMENSION);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_layouts),    cmocka_unit_test(test_rows),   cmocka_unit_test(test_hadamard),
      cmocka_unit_test(test_two_levels), cmocka_unit_test(test_powers), cmocka_unit_test(test_swizzled_scales),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
