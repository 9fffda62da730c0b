#include "host/cpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

/* Reports whether the CPU has F16C, which clang 14's __builtin_cpu_supports does not know. */
static bool has_f16c(void) {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

/* Reports whether the CPU has the set. For AVX, __builtin_cpu_supports also checks that the system saves the registers.
 */
static bool is_there(smma_cpu_set set) {
  switch (set) {
    case SMMA_CPU_PORTABLE: return true;
    case SMMA_CPU_SSE42: return __builtin_cpu_supports("sse4.2");
    case SMMA_CPU_AVX2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    case SMMA_CPU_AVX512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    default: return false;
  }
}
#elif defined(__aarch64__)
static bool is_there(smma_cpu_set set) { return set == SMMA_CPU_PORTABLE || set == SMMA_CPU_NEON; }
#else
static bool is_there(smma_cpu_set set) { return set == SMMA_CPU_PORTABLE; }
#endif

/* Returns the highest set that SOFTMMA_CPU allows, which is the highest of all if it is not set, or -1 if its value
   names no set. */
static int greatest_left(void) {
  static const struct {
    const char *name;
    smma_cpu_set set;
  } names[] = {
      {"portable", SMMA_CPU_PORTABLE},
#ifdef __aarch64__
      {"neon", SMMA_CPU_NEON},
#else
      {"avx2", SMMA_CPU_AVX2},
      {"avx512", SMMA_CPU_AVX512},
#endif
  };
  const char *value = getenv("SOFTMMA_CPU");
  if (!value || !*value) return SMMA_CPU_AVX512;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(value, names[i].name) == 0) return names[i].set;
  return -1;
}

/* Returns the value of greatest_left(), which is called only once. If several threads make the first call at the same
   time, all get the same value. */
static int left_here(void) {
  enum { NOT_READ = -2 };
  static atomic_int left = NOT_READ;
  int set = atomic_load_explicit(&left, memory_order_relaxed);
  if (set == NOT_READ) atomic_store_explicit(&left, set = greatest_left(), memory_order_relaxed);
  return set;
}

bool smma_cpu_hides(smma_cpu_set set) { return set != SMMA_CPU_PORTABLE && (int)set > left_here(); }

/* Returns a bit for each set that the CPU has and SOFTMMA_CPU allows. The result is cached: functions that compute test
   vectors need it for each vector, and CPUID takes microseconds on a virtual machine. The bit of portable code is
   always set. */
static int sets_here(void) {
  static atomic_int sets;
  int found = atomic_load_explicit(&sets, memory_order_relaxed);
  if (found) return found;
  for (smma_cpu_set set = SMMA_CPU_PORTABLE; set <= SMMA_CPU_AVX512; set++)
    if (is_there(set) && !smma_cpu_hides(set)) found |= 1 << set;
  atomic_store_explicit(&sets, found, memory_order_relaxed);
  return found;
}

bool smma_cpu_has(smma_cpu_set set) { return sets_here() >> set & 1; }

const char *smma_cpu_complaint(void) {
  static char complaint[120];
#ifdef __aarch64__
  const char *allowed = "portable or neon";
#else
  const char *allowed = "portable, avx2 or avx512";
#endif
  if (left_here() >= 0) return NULL;
  snprintf(complaint, sizeof complaint, "SOFTMMA_CPU: '%.40s' is not %s", getenv("SOFTMMA_CPU"), allowed);
  return complaint;
}
