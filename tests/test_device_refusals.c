/* Errors of devices, and of operands in devices' memory: invalid arguments, and lost devices. Each error gives one line
   and leaves D unchanged. kernel_check.c and test_plan.c compare products. SOFTMMA_ENGINES names the tests' drivers
   that replace those of OpenCL and CUDA. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_gemm.h"
#include "isa/custom.h"
#include "softmma/device.h"
#include "support.h"

enum { M = 3, N = 5, K = 16 };

static smma_error error;

static void refuses(const smma_gemm_arguments *g, smma_status expected, const char *line) {
  const smma_instruction *i = find("A100", "mma.m16n8k16.f32.f16.f16.f32");
  error.text[0] = 0;
  assert_int_equal(smma_gemm(i, g), expected);
  assert_string_equal(error.text, line);
}

static void *allocate(size_t bytes) {
  void *memory;
  assert_int_equal(smma_device_allocate("cuda", bytes, &memory, &error), SMMA_OK);
  return memory;
}

static void test_refused(void **state) {
  unsigned char host[M * N * 4] = {0};
  unsigned char *a = allocate(M * K * 2 + 1), *b = allocate(K * N * 2), *d = allocate(M * N * 4),
                *less = allocate(M * N * 4 - 1);
  smma_multiplier *multiplier;
  smma_gemm_arguments g;
  (void)state;
  smma_gemm_defaults(&g, sizeof g);
  g.m = M, g.n = N, g.k = K, g.a = a, g.b = b, g.d = d;
  g.on_device = true, g.kernel = "cuda", g.error = &error;
  assert_int_equal(smma_device_write("cuda", a, host, M * N, &error), SMMA_OK);
  g.a = host;
  refuses(&g, SMMA_INVALID_ARGUMENT, "A is not in the memory of this CPU: it is in the host's memory");
  g.a = a + 1;
  refuses(&g, SMMA_INVALID_ARGUMENT, "A is not aligned to its elements of 2 bytes, as a device needs it");
  g.a = a, g.d = less;
  refuses(&g, SMMA_INVALID_ARGUMENT, "D is not in the memory of this CPU: it is in nobody's memory");
  g.d = d, g.kernel = "core";
  refuses(&g, SMMA_INVALID_ARGUMENT, "operands are in a device's memory, and the kernel is core, not a device");
  g.kernel = NULL;
  refuses(&g, SMMA_INVALID_ARGUMENT, "operands are in a device's memory, and the kernel is this CPU's, not a device");
  g.kernel = "cuda";
  assert_int_equal(smma_multiplier_create(find("A100", "mma.m16n8k16.f32.f16.f16.f32"), &g, &multiplier),
                   SMMA_INVALID_ARGUMENT);
  assert_string_equal(error.text, "a multiplier keeps B in the host's memory; smma_gemm takes operands on devices");
  smma_device_release("cuda", a), smma_device_release("cuda", b);
  smma_device_release("cuda", d), smma_device_release("cuda", less);
}

static void test_memory(void **state) {
  unsigned char from[10], to[10] = {0};
  unsigned char *memory = allocate(sizeof from);
  void *none = &none;
  (void)state;
  for (size_t i = 0; i < sizeof from; i++) from[i] = (unsigned char)(i + 1);
  assert_int_equal(smma_device_write("cuda:0", memory, from, sizeof from, NULL), SMMA_OK);
  assert_int_equal(smma_device_read("cuda", to, memory + 2, sizeof to - 2, NULL), SMMA_OK);
  assert_memory_equal(to, from + 2, sizeof to - 2);
  assert_int_equal(smma_device_read("cuda", to, from, sizeof to, &error), SMMA_INVALID_ARGUMENT);
  assert_string_equal(error.text, "the memory to copy is not on the device: it is in the host's memory");
  assert_int_equal(smma_device_write("cuda", NULL, from, 1, NULL), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_device_allocate("avx2", 1, &none, &error), SMMA_NO_KERNEL);
  assert_null(none);
  assert_non_null(strstr(error.text, "'avx2' is no device"));
  assert_int_equal(smma_device_allocate("cuda", 1, NULL, NULL), SMMA_INVALID_ARGUMENT);
  smma_device_release("cuda", memory), smma_device_release("cuda", NULL);
}

/* ---- Lost devices ---- */

enum { LINES = 100, COLUMNS = 70, DEPTH = 3 * K, D_BYTES = LINES * COLUMNS * 4, MOST_CALLS = 1000 };

/* Copies D's bytes, wherever D is. */
static void take_d(const smma_gemm_arguments *g, unsigned char *to) {
  if (g->on_device)
    assert_int_equal(smma_device_read(g->kernel, to, g->d, D_BYTES, NULL), SMMA_OK);
  else
    memcpy(to, g->d, D_BYTES);
}

/* Computes the product repeatedly, losing the device at every call of its driver in turn, until the product succeeds.
   Returns the number of calls. */
static int lose(const smma_gemm_arguments *g, const unsigned char *expected, bool d_stays) {
  const smma_instruction *i = find("A100", "mma.m16n8k16.f32.f16.f16.f32");
  unsigned char before[D_BYTES], after[D_BYTES];
  int calls;
  assert_int_equal(smma_gemm(i, g), SMMA_OK); /* only the first product checks the operation */
  take_d(g, after);
  assert_memory_equal(after, expected, D_BYTES);
  memset(before, 0x5a, sizeof before);
  for (calls = 1; calls < MOST_CALLS; calls++) {
    char number[20];
    smma_status status;
    if (g->on_device)
      assert_int_equal(smma_device_write(g->kernel, g->d, before, D_BYTES, NULL), SMMA_OK);
    else
      memcpy(g->d, before, D_BYTES);
    snprintf(number, sizeof number, "%d", calls);
    setenv("SOFTMMA_HOST_LOST", number, 1);
    error.text[0] = 0;
    status = smma_gemm(i, g);
    unsetenv("SOFTMMA_HOST_LOST");
    take_d(g, after);
    if (status == SMMA_OK) break;
    assert_int_equal(status, SMMA_DEVICE_FAILED);
    assert_string_equal(error.text, "the device is not available any more");
    if (d_stays) assert_memory_equal(after, before, D_BYTES);
  }
  assert_memory_equal(after, expected, D_BYTES);
  return calls - 1;
}

static void test_lost(void **state) {
  static unsigned char a[LINES * DEPTH * 2], b[DEPTH * COLUMNS * 2], d[D_BYTES], expected[D_BYTES];
  smma_gemm_arguments g;
  int at_once, in_parts, there;
  (void)state;
  for (size_t i = 0; i < sizeof a; i++) a[i] = (unsigned char)(37 * i % 101);
  for (size_t i = 0; i < sizeof b; i++) b[i] = (unsigned char)(53 * i % 103);
  smma_gemm_defaults(&g, sizeof g);
  g.m = LINES, g.n = COLUMNS, g.k = DEPTH, g.a = a, g.b = b, g.d = expected, g.kernel = "core";
  g.error = &error;
  assert_int_equal(smma_gemm(find("A100", "mma.m16n8k16.f32.f16.f16.f32"), &g), SMMA_OK);

  g.kernel = "opencl", g.d = d;
  at_once = lose(&g, expected, true);
  setenv("SOFTMMA_HOST_LEFT", "150000", 1);
  in_parts = lose(&g, expected, true);
  unsetenv("SOFTMMA_HOST_LEFT");
  assert_true(at_once >= 8); /* operands, the conversion of scale factors, both kernels, D */
  assert_true(in_parts >= 2 * at_once);

  g.kernel = "cuda", g.on_device = true;
  g.a = allocate(sizeof a), g.b = allocate(sizeof b), g.d = allocate(D_BYTES);
  assert_int_equal(smma_device_write("cuda", (void *)g.a, a, sizeof a, NULL), SMMA_OK);
  assert_int_equal(smma_device_write("cuda", (void *)g.b, b, sizeof b, NULL), SMMA_OK);
  there = lose(&g, expected, true);
  assert_true(there >= 8);
  setenv("SOFTMMA_HOST_LEFT", "200000", 1);
  assert_true(lose(&g, expected, false) >= 2 * there); /* part of D may be written */
  unsetenv("SOFTMMA_HOST_LEFT");
  smma_device_release("cuda", (void *)g.a), smma_device_release("cuda", (void *)g.b), smma_device_release("cuda", g.d);
}

/* Fills the part of the stack that the next call uses. */
static __attribute__((noinline)) void dirty_stack(int value) {
  volatile unsigned char dirt[1 << 14];
  for (size_t i = 0; i < sizeof dirt; i++) dirt[i] = (unsigned char)value;
}

/* Kernels are compiled once for an operation, and only its first product is compared with the core's, even though
   callers leave the bytes that a rule does not use as they are. */
static void test_repeated(void **state) {
  const smma_instruction *i = find("V100", "mma.m8n8k4.f32.f16.f16.f32");
  uint16_t a[M * K], b[K * N];
  float d[M * N];
  int calls[3];
  smma_gemm_arguments g;
  (void)state;
  memset(a, 0x3c, sizeof a), memset(b, 0x38, sizeof b);
  smma_gemm_defaults(&g, sizeof g);
  g.m = M, g.n = N, g.k = K, g.a = a, g.b = b, g.d = d, g.kernel = "opencl", g.error = &error;
  setenv("SOFTMMA_HOST_PROGRAMS", "1", 1);
  for (int product = 0; product < 3; product++) {
    smma_status status = SMMA_DEVICE_FAILED;
    for (calls[product] = 0; status == SMMA_DEVICE_FAILED && calls[product] < MOST_CALLS; calls[product]++) {
      char number[20];
      snprintf(number, sizeof number, "%d", calls[product] + 1);
      setenv("SOFTMMA_HOST_LOST", number, 1);
      dirty_stack(11 * calls[product] + product);
      status = smma_gemm(i, &g);
      unsetenv("SOFTMMA_HOST_LOST");
    }
    if (status != SMMA_OK) fail_msg("%s", error.text);
  }
  unsetenv("SOFTMMA_HOST_PROGRAMS");
  assert_true(calls[0] > calls[1]); /* it computes two products */
  assert_int_equal(calls[1], calls[2]);
}

/* A K whose lines of 64 elements do not fit in a buffer at once is uploaded in parts. */
static void test_deep(void **state) {
  enum { SIDE = 4, DEEP = 637 };
  const smma_instruction *i = find("A100", "mma.m8n8k4.f64.f64.f64.f64");
  static double a[SIDE * DEEP], b[DEEP * SIDE];
  double d[SIDE * SIDE], expected[SIDE * SIDE];
  smma_gemm_arguments g;
  (void)state;
  for (int n = 0; n < SIDE * DEEP; n++) a[n] = 37 * n % 101 / 64., b[n] = 53 * n % 103 / 48.;
  smma_gemm_defaults(&g, sizeof g);
  g.m = SIDE, g.n = SIDE, g.k = DEEP, g.a = a, g.b = b, g.d = expected, g.kernel = "core", g.error = &error;
  assert_int_equal(smma_gemm(i, &g), SMMA_OK);
  g.kernel = "opencl", g.d = d;
  setenv("SOFTMMA_HOST_BUFFER", "40000", 1);
  assert_int_equal(smma_gemm(i, &g), SMMA_OK);
  assert_memory_equal(d, expected, sizeof d);
  setenv("SOFTMMA_HOST_BUFFER", "4000", 1);
  assert_int_equal(smma_gemm(i, &g), SMMA_DEVICE_FAILED);
  assert_string_equal(error.text, "too little memory");
  unsetenv("SOFTMMA_HOST_BUFFER");
}

/* Units of every K up to their block length are computed on devices, whether or not K is a power of two. */
static void test_short_blocks(void **state) {
  enum { SIDE = 3, MOST = 64 };
  static const int blocks[] = {32, 64, 64}, bits[] = {25, 25, 24};
  static uint16_t a[SIDE * 2 * MOST], b[2 * MOST * SIDE];
  (void)state;
  for (int n = 0; n < SIDE * 2 * MOST; n++)
    a[n] = (uint16_t)(0x3000 + 397 * n % 0x1000), b[n] = (uint16_t)(0x3000 + 811 * n % 0x1000);
  for (int n = 0; n < 3; n++)
    for (int k = 12; k <= blocks[n]; k += 5) {
      char text[400];
      float d[SIDE * SIDE], expected[SIDE * SIDE];
      smma_gemm_arguments g;
      const smma_instruction *unit;
      snprintf(
          text, sizeof text,
          "{\"softmma-unit\": 1, \"name\": \"short\", \"algorithm\": \"T-FDPA\", \"k\": %d, \"a\": \"f16\", \"b\": "
          "\"f16\", \"d\": \"f32\", \"alignment_bits\": %d, \"block\": %d, \"rounding\": \"toward-zero\", "
          "\"zero_exponent\": -133}",
          k, bits[n], blocks[n]);
      unit = smma_custom_read("custom", text, strlen(text), &error);
      if (!unit) fail_msg("%s", error.text);
      smma_gemm_defaults(&g, sizeof g);
      g.m = g.n = SIDE, g.k = 2 * (size_t)k, g.a = a, g.b = b, g.d = expected, g.kernel = "core", g.error = &error;
      assert_int_equal(smma_gemm(unit, &g), SMMA_OK);
      g.kernel = "opencl", g.d = d;
      if (smma_gemm(unit, &g) != SMMA_OK) fail_msg("K = %d: %s", k, error.text);
      assert_memory_equal(d, expected, sizeof d);
      smma_custom_release(unit);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused), cmocka_unit_test(test_memory),
                                     cmocka_unit_test(test_lost),    cmocka_unit_test(test_repeated),
                                     cmocka_unit_test(test_deep),    cmocka_unit_test(test_short_blocks)};
  return cmocka_run_group_tests_name("what devices refuse", tests, NULL, NULL);
}
