#ifdef __x86_64__
#include <cpuid.h>

#define SMMA_WORDS "gemm/simd/avx2.h"
#include "gemm/families.h"

/* clang 14's __builtin_cpu_supports does not know F16C; what it says of AVX2 tells that the system saves registers. */
static bool has_f16c(void) {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool usable(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c(); }

const smma_kernel smma_kernel_avx2 = {"avx2",         usable,        families,   few_families,
                                      small_families, compute_lanes, compute_row};
#endif
