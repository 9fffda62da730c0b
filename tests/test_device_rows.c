/* Rows on a device equal those of smma_generate_rows and smma_dot_rows; by the driver that SOFTMMA_ENGINES names, in
   little memory, too. */
#include <stdlib.h>

#include "device/rows.h"
#include "rows/generate.h"
#include "support.h"

enum { ROWS = 3000 };

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
#include "cli/bench.def"
#undef SMMA_BENCH
  };
  char message[SMMA_DEVICE_MESSAGE];
  const smma_device *device;
  (void)state;
  device = smma_device_open("opencl", message);
  if (!device) fail_msg("%s", message);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) check(device, find(known[i][0], known[i][1]));
}

/* ---- The library's function ---- */

static void test_on_a_device(void **state) {
  const smma_instruction *i = find("A100", "mma.m16n8k16.f32.f16.f16.f32"),
                         *scaled = find("B200", "tcgen05.m128n256k32.block32.f32.e3m2.e2m3.ue8m0");
  char message[SMMA_DEVICE_MESSAGE] = "";
  smma_rows expected, got;
  smma_batch cpu, device;
  (void)state;
  assert_true(smma_rows_allocate(i, ROWS, &expected));
  smma_generate_rows(&expected, 7, 0, ROWS, SMMA_ROWS_KINDS, SMMA_ROWS_RANDOM);
  assert_true(smma_rows_allocate(i, ROWS, &got));
  smma_rows_copy(&got, 0, &expected, 0, ROWS);
  cpu = smma_rows_batch(&expected, 0, ROWS, NULL), device = smma_rows_batch(&got, 0, ROWS, NULL);
  assert_int_equal(smma_dot_rows(i, &cpu, 0), SMMA_OK);
  assert_int_equal(smma_dot_rows_on(NULL, i, &device, NULL, 0), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_dot_rows_on("opencl", scaled, &device, NULL, 0), SMMA_MISSING_SCALE);
  assert_int_equal(smma_dot_rows_on("avx2", i, &device, message, sizeof message), SMMA_NO_KERNEL);
  assert_non_null(strstr(message, "'avx2' is no device"));
  assert_int_equal(smma_dot_rows_on("opencl", i, &device, message, sizeof message), SMMA_OK);
  check_equal(i, &expected, &got, "smma_dot_rows_on");
  assert_int_equal(setenv("SOFTMMA_HOST_BUFFER", "1000", 1), 0);
  assert_int_equal(smma_dot_rows_on("opencl", i, &device, message, sizeof message), SMMA_DEVICE_FAILED);
  assert_string_equal(message, "too little memory");
  smma_rows_free(&expected);
  smma_rows_free(&got);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_on_a_device)};
  return cmocka_run_group_tests_name("rows on devices", tests, NULL, NULL);
}
