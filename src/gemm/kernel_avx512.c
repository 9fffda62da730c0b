/* The kernel for CPUs with AVX-512 and VNNI: all families, compiled for its vectors. */
#include "gemm/families.h"
#include "host/cpu.h"

static bool usable(void) { return smma_cpu_has(SMMA_CPU_AVX512) && __builtin_cpu_supports("avx512vnni"); }

const smma_kernel smma_kernel_avx512 = {
    "avx512", usable, families, few_families, small_families, SMMA_OF_KERNEL(lanes), SMMA_OF_KERNEL(row)};
