/* Operands in a device's memory: what is refused, in one line, and leaves D as it is. Products are compared in
   kernel_check.c and test_plan.c. SOFTMMA_ENGINES names the tests' driver that plays CUDA's. */
#include <string.h>

#include "device_gemm.h"
#include "support.h"

enum { M = 3, N = 5, K = 16 };

static char message[256];

static void refuses(const smma_gemm_arguments *g, smma_status expected, const char *line) {
  const smma_instruction *i = find("A100", "mma.m16n8k16.f32.f16.f16.f32");
  message[0] = 0;
  assert_int_equal(smma_gemm(i, g), expected);
  assert_string_equal(message, line);
}

static void *allocate(size_t bytes) {
  void *memory;
  assert_int_equal(smma_device_allocate("cuda", bytes, &memory, message, sizeof message), SMMA_OK);
  return memory;
}

static void test_refused(void **state) {
  unsigned char host[M * N * 4] = {0};
  unsigned char *a = allocate(M * K * 2 + 1), *b = allocate(K * N * 2), *d = allocate(M * N * 4),
                *less = allocate(M * N * 4 - 1);
  smma_multiplier *multiplier;
  smma_gemm_arguments g;
  (void)state;
  smma_gemm_defaults(&g);
  g.m = M, g.n = N, g.k = K, g.a = a, g.b = b, g.d = d;
  g.on_device = 1, g.kernel = "cuda", g.message = message, g.message_size = sizeof message;
  assert_int_equal(smma_device_write("cuda", a, host, M * N, message, sizeof message), SMMA_OK);
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
  assert_string_equal(message, "a multiplier keeps B in the host's memory; smma_gemm takes operands on devices");
  smma_device_release("cuda", a), smma_device_release("cuda", b);
  smma_device_release("cuda", d), smma_device_release("cuda", less);
}

static void test_memory(void **state) {
  unsigned char from[10], to[10] = {0};
  unsigned char *memory = allocate(sizeof from);
  void *none = &none;
  (void)state;
  for (size_t i = 0; i < sizeof from; i++) from[i] = (unsigned char)(i + 1);
  assert_int_equal(smma_device_write("cuda:0", memory, from, sizeof from, NULL, 0), SMMA_OK);
  assert_int_equal(smma_device_read("cuda", to, memory + 2, sizeof to - 2, NULL, 0), SMMA_OK);
  assert_memory_equal(to, from + 2, sizeof to - 2);
  assert_int_equal(smma_device_read("cuda", to, from, sizeof to, message, sizeof message), SMMA_INVALID_ARGUMENT);
  assert_string_equal(message, "what is copied is not on the device: it is in the host's memory");
  assert_int_equal(smma_device_write("cuda", NULL, from, 1, NULL, 0), SMMA_INVALID_ARGUMENT);
  assert_int_equal(smma_device_allocate("avx2", 1, &none, message, sizeof message), SMMA_NO_KERNEL);
  assert_null(none);
  assert_non_null(strstr(message, "'avx2' is no device"));
  assert_int_equal(smma_device_allocate("cuda", 1, NULL, NULL, 0), SMMA_INVALID_ARGUMENT);
  smma_device_release("cuda", memory), smma_device_release("cuda", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused), cmocka_unit_test(test_memory)};
  return cmocka_run_group_tests_name("memory of devices", tests, NULL, NULL);
}
