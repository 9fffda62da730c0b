#ifdef __x86_64__
#define SMMA_WORDS "gemm/simd/avx512.h"
#include "gemm/families.h"

static bool usable(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}

const smma_kernel smma_kernel_avx512 = {"avx512",       usable,        families,   few_families,
                                        small_families, compute_lanes, compute_row};
#endif
