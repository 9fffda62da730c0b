/* Test vectors on a device equal those of smma_generate_rows and smma_dot_rows. Uses the driver that SOFTMMA_ENGINES
   names, also with little memory. */
#include <stdlib.h>

#include "device/rows.h"
#include "random_unit.h"
#include "rows/generate.h"
#include "softmma/device.h"
#include "support.h"

enum { ROWS = 3000, CUSTOM_UNITS = 60 };

static void check_equal(const smma_instruction *i, const smma_rows *expected, const smma_rows *got, const char *what) {
  for (size_t n = 0; n < ROWS; n++) {
    smma_row x, y;
    smma_rows_get(expected, n, &x);
    smma_rows_get(got, n, &y);
    if (!smma_same_operands_in(&expected->layout, &x, &y) || x.d != y.d)
      fail_msg("%s: %s: row %zu differs", i->name, what, n);
  }
}

static void check(const smma_device *on, const smma_instruction *i) {
  const smma_operation o = smma_operation_of(i);
  const smma_row_selection selection = {UINT64_C(0x123456789), UINT64_C(0xfffffe00), SMMA_ROWS_KINDS, 0};
  char message[SMMA_DEVICE_MESSAGE];
  smma_rows expected, got;
  smma_batch cpu, device;
  assert_true(smma_rows_allocate(i, ROWS, &expected) && smma_rows_allocate(i, ROWS, &got));
  cpu = smma_rows_batch(&expected, 0, ROWS, NULL), device = smma_rows_batch(&got, 0, ROWS, NULL);
  smma_generate_rows(&expected, selection.seed, selection.first, ROWS, selection.kinds, SMMA_ROWS_RANDOM);
  assert_int_equal(smma_dot_rows(i, &cpu, 1), SMMA_OK);
  assert_true(smma_device_rows(on, &o, &selection, &device, message));
  check_equal(i, &expected, &got, "generated");
  memset(device.d, 0, ROWS * smma_part_stride(&got.layout.part[SMMA_PART_D]));
  assert_true(smma_device_rows(on, &o, NULL, &device, message));
  check_equal(i, &expected, &got, "computed");
  cpu.c = device.c = NULL;
  assert_int_equal(smma_dot_rows(i, &cpu, 1), SMMA_OK);
  assert_true(smma_device_rows(on, &o, NULL, &device, message));
  check_equal(i, &expected, &got, "without c");
  smma_rows_free(&expected);
  smma_rows_free(&got);
}

static void test_rows(void **state) {
  static const char *const known[][2] = {
#define SMMA_BENCH(title, gpu, instruction) {gpu, instruction},
#include "../bench/bench.def"
#undef SMMA_BENCH
  };
  char message[SMMA_DEVICE_MESSAGE];
  const smma_device *device;
  (void)state;
  device = smma_device_open("opencl", message);
  if (!device) fail_msg("%s", message);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) check(device, find(known[i][0], known[i][1]));
}

/* ---- Compared on the device ---- */

/* Finds the differences on the host. */
static smma_device_difference difference_of(const smma_operation o[2], const smma_row_selection *s, bool any_nan) {
  const smma_encoding d = smma_encoding_of(o[0].d);
  smma_device_difference found = {0, 0};
  for (uint32_t n = ROWS; n-- > 0;) {
    uint64_t x, y;
    smma_row row;
    smma_generate_row(&o[0], s->seed, s->first + n, smma_kind_of_row(s, s->first + n), &row);
    x = smma_row_compute(&o[0], &row), y = smma_row_compute(&o[1], &row);
    if (x == y || (any_nan && smma_decode(d, x).kind == SMMA_NAN && smma_decode(d, y).kind == SMMA_NAN)) continue;
    found.rows++, found.first = n;
  }
  return found;
}

static void test_compare(void **state) {
  const smma_row_selection selections[] = {{7, UINT64_C(0xffffff00), SMMA_ROWS_KINDS, 0},
                                           {8, 3, 0, SMMA_ROWS_NETWORK}, /* few of them differ, and none early */
                                           {9, 0, 0, SMMA_ROWS_RANDOM}};
  const smma_operation hopper = smma_operation_of(find("H100", "mma.m16n8k16.f32.f16.f16.f32"));
  smma_operation other = hopper, with_nan = hopper;
  char message[SMMA_DEVICE_MESSAGE];
  const smma_device *device = smma_device_open("opencl", message);
  (void)state;
  if (!device) fail_msg("%s", message);
  other.rule.with.t_fdpa.rounding = SMMA_ROUND_NEAREST_EVEN;
  with_nan.rule.nan = SMMA_NAN_QUIET;
  for (size_t n = 0; n < 6 * sizeof selections / sizeof *selections; n++) {
    const smma_operation pairs[][2] = {{hopper, other}, {hopper, hopper}, {hopper, with_nan}}, *pair = pairs[n / 2 % 3];
    const smma_row_selection *s = &selections[n / 6];
    const smma_device_difference expected = difference_of(pair, s, n % 2);
    smma_device_difference found;
    assert_true(smma_device_compare(device, pair, n % 2, s, ROWS, &found, message));
    assert_int_equal(found.rows, expected.rows);
    if (found.rows) assert_int_equal(found.first, expected.first);
    assert_true(pair[1].rule.with.t_fdpa.rounding == SMMA_ROUND_TOWARD_ZERO || found.rows > 0);
  }
}

/* ---- Custom units ---- */

/* Computes a product. Before the first product of an operation, the device must compute a product of generated operands
   with the core's bits. */
static void check_product(const smma_instruction *i) {
  enum { MOST_BYTES = MOST_K * sizeof(double) };
  const unsigned char zeros[MOST_BYTES] = {0};
  unsigned char d[sizeof(double)];
  smma_error error = {SMMA_OK, ""};
  smma_gemm_arguments g = {.size = sizeof g, .m = 1, .n = 1, .alpha = 1, .beta = 1, .threads = 1, .kernel = "opencl"};
  g.k = (size_t)i->k, g.a = g.b = zeros, g.d = d, g.order_b = SMMA_COLUMN_MAJOR;
  if (i->scale_block) g.scale_a = g.scale_b = zeros;
  g.error = &error;
  if (smma_gemm(i, &g) != SMMA_OK) {
    char text[4096];
    smma_custom_text(i, text, sizeof text);
    fail_msg("%s\n%s", error.text, text);
  }
}

/* Returns a unit that sums like the catalogue's instructions, in other formats and blocks, so that fast kernels compute
   it. */
static smma_custom familiar_unit(uint64_t seed) {
  static const int aligned[] = {13, 23, 24, 25};
  smma_custom c = random_catalogue_unit(seed);
  smma_rule *r = &c.named.rule;
  switch (r->algorithm) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_FP8_BY_FP16:
      r->with.t_fdpa.alignment_bits = aligned[seed / SMMA_COMPOSITION % 4];
      r->with.t_fdpa.zero_exponent = -20 - (int)(seed % 114);
      r->with.t_fdpa.rounding = c.instruction.d == SMMA_F16 ? SMMA_ROUND_NEAREST_EVEN : SMMA_ROUND_TOWARD_ZERO;
      break;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: r->with.tr_fdpa.alignment_bits = 24, r->with.tr_fdpa.sum_bits = 31; break;
    default: break;
  }
  return c;
}

static void test_custom_units(void **state) {
  char message[SMMA_DEVICE_MESSAGE];
  const smma_device *device = smma_device_open("opencl", message);
  (void)state;
  if (!device) fail_msg("%s", message);
  for (uint64_t u = 0; u < CUSTOM_UNITS; u++) {
    const smma_custom c = u % 4 == 0 ? random_unit(u) : u % 4 == 1 ? random_catalogue_unit(u) : familiar_unit(u);
    const smma_instruction *i = smma_custom_make(&c);
    assert_non_null(i);
    check_product(i);
    if (u < 12) check(device, i);
    smma_custom_release(i);
  }
}

/* ---- The library's function ---- */

static void test_on_a_device(void **state) {
  const smma_instruction *i = find("A100", "mma.m16n8k16.f32.f16.f16.f32"),
                         *scaled = find("B200", "tcgen05.m128n256k32.block32.f32.e3m2.e2m3.ue8m0");
  smma_error error = {SMMA_OK, ""};
  smma_rows expected, got;
  smma_batch cpu, device;
  (void)state;
  assert_true(smma_rows_allocate(i, ROWS, &expected));
  smma_generate_rows(&expected, 7, 0, ROWS, SMMA_ROWS_KINDS, SMMA_ROWS_RANDOM);
  assert_true(smma_rows_allocate(i, ROWS, &got));
  smma_rows_copy(&got, 0, &expected, 0, ROWS);
  cpu = smma_rows_batch(&expected, 0, ROWS, NULL), device = smma_rows_batch(&got, 0, ROWS, NULL);
  assert_int_equal(smma_dot_rows(i, &cpu, 0), SMMA_OK);
  assert_int_equal(smma_dot_rows_on(NULL, i, &device, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_dot_rows_on("opencl", scaled, &device, NULL), SMMA_MISSING_SCALE);
  assert_int_equal(smma_dot_rows_on("avx2", i, &device, &error), SMMA_NO_KERNEL);
  assert_non_null(strstr(error.text, "'avx2' is no device"));
  assert_int_equal(smma_dot_rows_on("opencl", i, &device, &error), SMMA_OK);
  check_equal(i, &expected, &got, "smma_dot_rows_on");
  assert_int_equal(setenv("SOFTMMA_HOST_BUFFER", "1000", 1), 0);
  assert_int_equal(smma_dot_rows_on("opencl", i, &device, &error), SMMA_DEVICE_FAILED);
  assert_string_equal(error.text, "too little memory");
  smma_rows_free(&expected);
  smma_rows_free(&got);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_compare),
                                     cmocka_unit_test(test_custom_units), cmocka_unit_test(test_on_a_device)};
  return cmocka_run_group_tests_name("rows on devices", tests, NULL, NULL);
}
