/* Compares every kernel of this CPU with the core: random products of every operation, digests that are the same on
   every machine, and memory that a kernel must not change.

   SOFTMMA_KERNEL_ROUNDS=10 multiplies the number of random products. A mismatch prints the command of
   bin/kernel_program that repeats it. After a change of the core or of the operands, this command rewrites the digests,
   computed by the core:

       bin/kernel_program digests > tests/kernel_digests.txt */
#include <fenv.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "amount.h"
#include "kernel_check.h"
#include "support.h"
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

/* OUTPUTS: number of outputs of each family that are compared, and least number for each kernel, unless the environment
   variable SOFTMMA_KERNEL_OUTPUTS sets it. */
enum { OUTPUTS = 1500000, SHARE_AIMED = 10 /* additional aimed products: 1 / SHARE_AIMED of the outputs */ };

#define F16 "wgmma.m64n8k16.f32.f16.f16" /* of Hopper */

/* ---- The kernel of each operation ---- */

static void test_names(void **state) {
  size_t count = 0;
  (void)state;
  for (; smma_kernel_name(count); count++)
    for (size_t i = 0; i < count; i++) assert_string_not_equal(smma_kernel_name(i), smma_kernel_name(count));
  assert_true(count >= 1 && count <= MOST_KERNELS);
  assert_string_equal(smma_kernel_name(count - 1), "core");
  assert_null(smma_kernel_name(count + 1));
  assert_null(smma_kernel_name(SIZE_MAX));
}

static void test_kernel_for(void **state) {
  const smma_instruction *i = find("H100", F16);
  (void)state;
  for (size_t k = 0; smma_kernel_name(k); k++)
    assert_string_equal(smma_kernel_for(i, smma_kernel_name(k), NULL), smma_kernel_name(k));
  assert_string_equal(smma_kernel_for(i, NULL, NULL), smma_kernel_name(0));
  assert_null(smma_kernel_for(i, "sse9", NULL));
  assert_null(smma_kernel_for(NULL, NULL, NULL));
}

/* A unit whose NaN is not known has the kernels of an instruction with the same bits, and they compute it. */
static void test_other_name_of_nan(void **state) {
  static const smma_instruction *list[MOST_OPERATIONS];
  const size_t operations = kernel_operations(list);
  size_t units = 0;
  (void)state;
  for (size_t i = 0; i < operations; i++) {
    const smma_nan_policy nan = list[i]->rule->rule.nan;
    smma_named_rule rule = *list[i]->rule;
    smma_instruction unit = *list[i];
    if (nan != SMMA_NAN_QUIET && nan != SMMA_NAN_DEFAULT) continue;
    rule.rule.nan = nan == SMMA_NAN_QUIET ? SMMA_NAN_DEFAULT : SMMA_NAN_QUIET;
    unit.rule = &rule, unit.origin = "unit.json", units++;
    for (size_t k = 0; smma_kernel_name(k); k++) {
      const char *name = smma_kernel_name(k);
      assert_string_equal(smma_kernel_for(&unit, name, NULL), smma_kernel_for(list[i], name, NULL));
    }
    for (uint64_t seed = 0; seed < 2; seed++) {
      size_t outputs;
      assert_true(kernel_check_product(&unit, seed, NULL, &outputs));
    }
    rule.rule.nan = SMMA_NAN_BY_SOURCE;
    assert_string_equal(smma_kernel_for(&unit, NULL, NULL), "core");
  }
  assert_true(units > 20);
}

static void test_unknown_kernel(void **state) {
  static const char *const names[] = {"", "Core", "avx", "core ", "sse9"};
  float a[16] = {1}, b[16] = {1}, d = 7;
  smma_gemm_arguments g;
  (void)state;
  smma_gemm_defaults(&g, sizeof g);
  g.m = g.n = 1, g.k = 16, g.a = a, g.b = b, g.d = &d;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    g.kernel = names[i];
    assert_int_equal(smma_gemm(find("H100", F16), &g), SMMA_NO_KERNEL);
    assert_true(d == 7);
  }
  g.kernel = "core";
  assert_int_equal(smma_gemm(find("H100", F16), &g), SMMA_OK);
}

/* No operation of the catalogue is left to the core. */
static void test_every_operation_has_kernels(void **state) {
  size_t missing = 0;
  (void)state;
  for (size_t i = 0; i < smma_instruction_count(); i++)
    for (size_t k = 0; strcmp(smma_kernel_name(k), "core") != 0; k++) {
      const smma_instruction *x = smma_instruction_at(i);
      const char *name = smma_kernel_name(k);
      if (strcmp(smma_kernel_for(x, name, NULL), name) == 0) continue;
      if (missing++ == 0)
        print_error("%s %s, kernel %s: is left to the core\n", describe(x).arch, describe(x).name, name);
    }
  assert_int_equal(missing, 0);
}

/* ---- Equal bits ---- */

static void test_against_core(void **state) {
  const size_t outputs = amount_of("SOFTMMA_KERNEL_OUTPUTS", OUTPUTS);
  const kernel_amount amount = {.outputs = outputs, .aimed = outputs / SHARE_AIMED, .first = seed_of(0) >> 12};
  kernel_counts counts;
  (void)state;
  kernel_check(&amount, &counts);
  kernel_print_counts(&counts);
  assert_int_equal(counts.wrong_products, 0);
  assert_true(counts.kernels > 0 && counts.families > 0);
  for (size_t f = 0; f < counts.families; f++)
    for (size_t k = 0; k < counts.kernels; k++)
      assert_true(counts.outputs[f][k] >= amount.outputs && counts.outputs[f][k] > 0);
}

/* Cases that random operands hardly ever reach: the first factors of all rows and columns, in BF16, and D of all
   elements. */
static const struct {
  const char *arch, *instruction;
  uint16_t a[4], b[4];
  uint32_t d;
} rare[] = {
    /* The sum is 2^-126 - 1.5 * 2^-151. Rounded to 24 bits it is below 2^-126, and is therefore flushed to zero. If it
       were rounded as a subnormal, it would be 2^-126. */
    {"x86", "tdpbf16ps", {0x2000, 0, 0x9a40}, {0x2000, 0, 0x1980}, 0},
    /* -1 - 2^-200 is rounded down at 24 bits, and 1 is added. */
    {"rdna4", "v_wmma_f32_16x16x16_bf16.w64", {0xbf80, 0x8d80, 0x3f80}, {0x3f80, 0x0d80, 0x3f80}, 0xb3800000},
    /* 2^20, -0.25, and minus the subnormal 2^-131, rounded down at the exponent of 2^20. */
    {"rdna4", "v_wmma_f32_16x16x16_bf16", {0, 0x4900, 0x3e00, 2}, {0, 0x4000, 0xc000, 0xc000}, 0x497ffffb}};

static void test_rare_sums(void **state) {
  enum { M = 9, N = 80, GREATEST_K = 32 };
  static uint16_t a[M][GREATEST_K], b[GREATEST_K][N];
  (void)state;
  for (size_t i = 0; i < sizeof rare / sizeof rare[0]; i++) {
    const smma_instruction *x = smma_find(rare[i].arch, rare[i].instruction, NULL);
    for (int k = 0; k < 4; k++) {
      for (int row = 0; row < M; row++) a[row][k] = rare[i].a[k];
      for (int column = 0; column < N; column++) b[k][column] = rare[i].b[k];
    }
    for (size_t k = 0; smma_kernel_name(k); k++) {
      uint32_t d[M * N];
      smma_gemm_arguments g;
      smma_gemm_defaults(&g, sizeof g);
      g.m = M, g.n = N, g.k = (size_t)describe(x).k;
      g.a = a, g.b = b, g.d = d;
      g.lda = GREATEST_K;
      g.kernel = smma_kernel_name(k);
      assert_int_equal(smma_gemm(x, &g), SMMA_OK);
      for (size_t e = 0; e < M * N; e++) assert_int_equal(d[e], rare[i].d);
    }
  }
}

/* Lists each kernel with one thread and with two. */
static size_t runs_of_all(kernel_run runs[2 * MOST_KERNELS]) {
  size_t count = 0;
  for (size_t k = 0; smma_kernel_name(k); k++)
    for (int threads = 1; threads <= 2; threads++) runs[count++] = (kernel_run){smma_kernel_name(k), threads};
  return count;
}

static void test_digests(void **state) {
  kernel_run runs[2 * MOST_KERNELS];
  (void)state;
  assert_true(kernel_check_digests(KERNEL_DIGESTS, runs, runs_of_all(runs), 1));
}

static void test_products(void **state) {
  (void)state;
  assert_true(kernel_check_products(KERNEL_PRODUCTS, NULL));
}

/* ---- The floating-point environment ---- */

/* Returns the control state of the floating-point environment, without the exception flags, which any arithmetic may
   set. */
static int float_environment(void) {
#ifdef __x86_64__
  return (int)(_mm_getcsr() & ~0x3fu);
#else
  return fegetround();
#endif
}

/* Sets rounding up, and flushes subnormals if the machine can. */
static void spoil_float_environment(void) {
  fesetround(FE_UPWARD);
#ifdef __x86_64__
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

/* The floating-point environment does not affect a product, and a product does not change the environment. */
static void test_float_environment(void **state) {
  kernel_run runs[2 * MOST_KERNELS];
  size_t count = runs_of_all(runs);
  int before, after;
  fenv_t environment;
  bool same;
  (void)state;
  fegetenv(&environment);
  spoil_float_environment();
  before = float_environment();
  same = kernel_check_digests(KERNEL_DIGESTS, runs, count, MOST_OPERATIONS);
  after = float_environment();
  fesetenv(&environment);
  assert_true(same);
  assert_int_equal(before, after);
}

/* ---- Memory and stopping ---- */

static bool stop_at_once(size_t done, size_t rows, void *context) {
  (void)done, (void)rows, (void)context;
  return 1;
}

static void test_stopping(void **state) {
  static uint16_t a[100 * 16], b[16 * 70];
  static float d[100 * 70];
  smma_gemm_arguments g;
  (void)state;
  smma_gemm_defaults(&g, sizeof g);
  g.m = 100, g.n = 70, g.k = 16, g.a = a, g.b = b, g.d = d;
  g.progress = stop_at_once;
  for (size_t k = 0; smma_kernel_name(k); k++)
    for (g.threads = 1; g.threads <= 2; g.threads++) {
      g.kernel = smma_kernel_name(k);
      assert_int_equal(smma_gemm(find("H100", F16), &g), SMMA_STOPPED);
    }
}

#if defined(__SANITIZE_ADDRESS__)
#define LIMITED_MEMORY 0
#elif defined(__has_feature)
#define LIMITED_MEMORY !__has_feature(address_sanitizer)
#else
#define LIMITED_MEMORY 1
#endif

/* Returns the address space of this process in bytes; 0 if unknown. */
static size_t address_space(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  size_t pages = 0;
  if (!file) return 0;
  if (fscanf(file, "%zu", &pages) != 1) pages = 0;
  fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Reports whether a child process can compute the product with at most `bytes` more memory. */
static bool fits(const smma_gemm_arguments *g, size_t bytes) {
  const smma_instruction *i = find("H100", F16);
  struct rlimit limit;
  int status;
  pid_t child = fork();
  if (child == 0) {
    limit.rlim_cur = limit.rlim_max = address_space() + bytes;
    _exit(setrlimit(RLIMIT_AS, &limit) == 0 && smma_gemm(i, g) == SMMA_OK ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The memory of one thread does not grow with the product. Products are long in each direction in turn. */
static void test_memory(void **state) {
  enum { LONG = 200000, SHORT = 16, MEBIBYTES = 16 };
  static const size_t sizes[][3] = {{SHORT, SHORT, LONG}, {LONG, SHORT, SHORT}, {SHORT, LONG, SHORT}};
  uint16_t *a, *b;
  float *d;
  smma_gemm_arguments g;
  (void)state;
  if (!LIMITED_MEMORY || address_space() == 0) skip();
  a = calloc((size_t)LONG * SHORT, sizeof *a), b = calloc((size_t)LONG * SHORT, sizeof *b);
  d = calloc((size_t)LONG * SHORT, sizeof *d);
  assert_true(a && b && d);
  smma_gemm_defaults(&g, sizeof g);
  g.a = a, g.b = b, g.d = d, g.threads = 1;
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
    for (size_t k = 0; strcmp(smma_kernel_name(k), "core") != 0; k++) {
      g.m = sizes[s][0], g.n = sizes[s][1], g.k = sizes[s][2], g.kernel = smma_kernel_name(k);
      if (!fits(&g, (size_t)MEBIBYTES << 20))
        fail_msg("kernel %s: %zu x %zu x %zu needs more than %d MiB", g.kernel, g.m, g.n, g.k, (int)MEBIBYTES);
    }
  free(a), free(b), free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_kernel_for),
      cmocka_unit_test(test_other_name_of_nan),
      cmocka_unit_test(test_unknown_kernel),
      cmocka_unit_test(test_every_operation_has_kernels),
      cmocka_unit_test(test_rare_sums),
      cmocka_unit_test(test_against_core),
      cmocka_unit_test(test_digests),
      cmocka_unit_test(test_products),
      cmocka_unit_test(test_float_environment),
      cmocka_unit_test(test_stopping),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
