#ifdef __aarch64__
#define SMMA_WORDS "gemm/simd/neon.h"
#include "gemm/families.h"

static bool usable(void) { return true; }

const smma_kernel smma_kernel_neon = {"neon",         usable,        families,   few_families,
                                      small_families, compute_lanes, compute_row};
#endif
