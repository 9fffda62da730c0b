/* Rows on a device: the kernels as C, behind a driver of its own, equal smma_generate_rows and smma_dot_rows. */
#include <stdlib.h>

#include "device/kernels/rows.h"
#include "device/rows.h"
#include "rows/generate.h"
#include "support.h"

/* ---- A driver that calls kernels in a loop, and has little memory ---- */

static size_t memory_left;

static void *allocate(void *device, size_t bytes, char *message) {
  (void)device;
  if (bytes > memory_left) return strcpy(message, "no memory"), NULL;
  return malloc(bytes);
}

static void release(void *device, void *buffer) {
  (void)device;
  free(buffer);
}

static bool write_buffer(void *device, void *buffer, const void *from, size_t bytes, char *message) {
  (void)device, (void)message;
  memcpy(buffer, from, bytes);
  return true;
}

static bool read_buffer(void *device, void *to, void *buffer, size_t bytes, char *message) {
  return write_buffer(device, to, buffer, bytes, message);
}

static void *program(void *device, const smma_operation *operation, char *message) {
  (void)device, (void)message;
  return (void *)operation;
}

static bool launch(void *device, void *of, const char *kernel, const size_t items[2], size_t group,
                   const smma_kernel_argument *x, size_t count, char *message) {
  const smma_operation *o = x[0].value;
  (void)device, (void)of, (void)message;
  assert_int_equal(items[0] % group, 0);
  assert_string_equal(kernel, "smma_kernel_rows");
  assert_int_equal(count, 10);
  for (smma_items_here[0] = 0; smma_items_here[0] < (int)items[0]; smma_items_here[0]++)
    smma_kernel_rows(*o, *(const int *)x[1].value, *(const smma_row_selection *)x[2].value, *(const int *)x[3].value,
                     x[4].buffer, x[5].buffer, x[6].buffer, x[7].buffer, x[8].buffer, x[9].buffer);
  return true;
}

static const smma_driver here = {.abi = SMMA_DRIVER_ABI,
                                 .name = "here",
                                 .allocate = allocate,
                                 .release = release,
                                 .write = write_buffer,
                                 .read = read_buffer,
                                 .program = program,
                                 .launch = launch};
static const smma_device host = {.driver = &here};

/* ---- Rows ---- */

enum { ROWS = 3000, PLENTY = 1 << 30 };

static void check_equal(const smma_instruction *i, const smma_rows *expected, const smma_rows *got, const char *what) {
  for (size_t n = 0; n < ROWS; n++) {
    smma_row x, y;
    smma_rows_get(expected, n, &x);
    smma_rows_get(got, n, &y);
    if (!smma_same_operands_in(&expected->layout, &x, &y) || x.d != y.d)
      fail_msg("%s: %s: row %zu differs", i->name, what, n);
  }
}

static void check(const smma_instruction *i, size_t memory) {
  const smma_operation o = smma_operation_of(i);
  const smma_row_selection selection = {UINT64_C(0x123456789), UINT64_C(0xfffffe00), SMMA_ROWS_KINDS, 0};
  char message[SMMA_DEVICE_MESSAGE];
  smma_rows expected, got;
  smma_batch cpu, device;
  assert_true(smma_rows_allocate(i, ROWS, &expected) && smma_rows_allocate(i, ROWS, &got));
  cpu = smma_rows_batch(&expected, 0, ROWS, NULL), device = smma_rows_batch(&got, 0, ROWS, NULL);
  smma_generate_rows(&expected, selection.seed, selection.first, ROWS, selection.kinds, SMMA_ROWS_RANDOM);
  assert_int_equal(smma_dot_rows(i, &cpu, 1), SMMA_OK);
  memory_left = memory;
  assert_true(smma_device_rows(&host, &o, &selection, &device, message));
  check_equal(i, &expected, &got, "generated");
  memset(device.d, 0, ROWS * smma_part_stride(&got.layout.part[SMMA_PART_D]));
  assert_true(smma_device_rows(&host, &o, NULL, &device, message));
  check_equal(i, &expected, &got, "computed");
  cpu.c = device.c = NULL;
  assert_int_equal(smma_dot_rows(i, &cpu, 1), SMMA_OK);
  assert_true(smma_device_rows(&host, &o, NULL, &device, message));
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
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) check(find(known[i][0], known[i][1]), PLENTY);
}

/* In parts where there is no room for all rows, and not at all where there is none for a few. */
static void test_little_memory(void **state) {
  const smma_instruction *i = find("H100", "wgmma.m64n256k16.f32.f16.f16");
  const smma_operation o = smma_operation_of(i);
  char message[SMMA_DEVICE_MESSAGE] = "";
  smma_batch batch;
  smma_rows rows;
  (void)state;
  check(i, 1 << 16);
  assert_true(smma_rows_allocate(i, ROWS, &rows));
  batch = smma_rows_batch(&rows, 0, ROWS, NULL);
  memory_left = 1 << 8;
  assert_false(smma_device_rows(&host, &o, NULL, &batch, message));
  assert_string_equal(message, "no memory");
  smma_rows_free(&rows);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_little_memory)};
  return cmocka_run_group_tests_name("rows on devices", tests, NULL, NULL);
}
