/* The kernel for Arm CPUs with Advanced SIMD (NEON): all families, compiled for its vectors. */
#include "gemm/families.h"
#include "host/cpu.h"

static bool usable(void) { return smma_cpu_has(SMMA_CPU_NEON); }

const smma_kernel smma_kernel_neon = {
    "neon", usable, families, few_families, small_families, SMMA_OF_KERNEL(lanes), SMMA_OF_KERNEL(row)};
