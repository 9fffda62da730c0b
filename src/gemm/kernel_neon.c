#ifdef __aarch64__
#define SMMA_WORDS "gemm/simd/neon.h"
#include "gemm/families.h"
#include "host/cpu.h"

static bool usable(void) { return smma_cpu_has(SMMA_CPU_NEON); }

const smma_kernel smma_kernel_neon = {"neon",         usable,        families,   few_families,
                                      small_families, compute_lanes, compute_row};
#endif
