/* This CPU's vdpbf16ps: real hardware that is nearly everywhere. */
#include <stdio.h>
#include <string.h>

#include "unit/unit.h"

#if defined(__x86_64__) && (defined(__clang__) || __GNUC__ >= 10)

#include <cpuid.h>
#include <immintrin.h>

enum { LANES = 4 };

static const char *why_not(void) {
  if (!__builtin_cpu_supports("avx512bf16")) return "this CPU has no AVX512_BF16";
  if (!__builtin_cpu_supports("avx512vl")) return "this CPU has no AVX512VL";
  return NULL;
}

/* d of up to LANES rows: a and b hold two bf16 a row, element 0 in the low half. */
__attribute__((target("avx512bf16,avx512vl"))) static void run_lanes(const uint16_t *a, const uint16_t *b,
                                                                     const uint32_t *c, uint32_t *d, size_t rows) {
  uint32_t x[3][LANES] = {{0}}, result[LANES];
  __m128i xa, xb, xc;
  memcpy(x[0], a, rows * 4), memcpy(x[1], b, rows * 4), memcpy(x[2], c, rows * 4);
  memcpy(&xa, x[0], sizeof xa), memcpy(&xb, x[1], sizeof xb), memcpy(&xc, x[2], sizeof xc);
  __m128 sum = _mm_dpbf16_ps(_mm_castsi128_ps(xc), (__m128bh)xa, (__m128bh)xb);
  memcpy(result, &sum, sizeof result);
  memcpy(d, result, rows * 4);
}

/* "AMD EPYC, family 25, model 17": names alone do not tell generations apart. */
static void describe_cpu(char *text, size_t size) {
  unsigned name[13] = {0}, version = 0, others[3], family, model;
  size_t length;
  for (unsigned i = 0; i < 3; i++)
    __get_cpuid(0x80000002 + i, &name[4 * i], &name[4 * i + 1], &name[4 * i + 2], &name[4 * i + 3]);
  for (length = strlen((const char *)name); length > 0 && ((const char *)name)[length - 1] == ' ';) length--;
  __get_cpuid(1, &version, &others[0], &others[1], &others[2]);
  family = (version >> 8 & 15) + ((version >> 8 & 15) == 15 ? version >> 20 & 255 : 0);
  model = (version >> 4 & 15) | (version >> 16 & 15) << 4;
  snprintf(text, size, "%.*s, family %u, model %u", (int)length, (const char *)name, family, model);
}

#else

static const char *why_not(void) { return "this is no x86-64, or its compiler does not know AVX512_BF16"; }
static void describe_cpu(char *text, size_t size) { snprintf(text, size, "unknown"); }

enum { LANES = 4 };

static void run_lanes(const uint16_t *a, const uint16_t *b, const uint32_t *c, uint32_t *d, size_t rows) {
  (void)a, (void)b, (void)c, (void)d, (void)rows;
}

#endif

static int x86_open(const char *arguments, void **unit, char *message, size_t size) {
  const char *why = why_not();
  (void)arguments;
  *unit = NULL;
  if (why) snprintf(message, size, "%s", why);
  return why != NULL;
}

static void x86_close(void *unit) { (void)unit; }

static void x86_describe(void *unit, smma_unit_description *description) {
  (void)unit;
  describe_cpu(description->device, sizeof description->device);
}

static int x86_computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  (void)unit;
  if (strcmp(i->arch, "x86") == 0 && strcmp(i->name, "vdpbf16ps") == 0) return 0;
  snprintf(message, size, "the CPU has only vdpbf16ps");
  return 1;
}

static int x86_run(void *unit, const smma_instruction_info *i, const smma_batch *batch, char *message, size_t size) {
  const uint16_t *a = batch->a, *b = batch->b;
  const uint32_t *c = batch->c;
  uint32_t *d = batch->d;
  (void)unit, (void)i, (void)message, (void)size;
  for (size_t row = 0; row < batch->rows; row += LANES) {
    size_t rows = batch->rows - row < LANES ? batch->rows - row : LANES;
    run_lanes(a + 2 * row, b + 2 * row, c + row, d + row, rows);
  }
  return 0;
}

const smma_unit_methods smma_unit_x86 = {SMMA_UNIT_ABI, x86_open, x86_close, x86_describe, x86_computes, x86_run};
