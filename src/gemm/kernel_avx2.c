/* The kernel for CPUs with AVX2: all families, compiled for its vectors. */
#include "gemm/families.h"
#include "host/cpu.h"

static bool usable(void) { return smma_cpu_has(SMMA_CPU_AVX2); }

const smma_kernel smma_kernel_avx2 = {
    "avx2", usable, families, few_families, small_families, SMMA_OF_KERNEL(lanes), SMMA_OF_KERNEL(row)};
