#ifdef __aarch64__
#include "gemm/simd/neon.h"
/* On the words that this defines: */
#include "gemm/families.h"

static bool usable(void) { return true; }

const smma_kernel smma_kernel_neon = {"neon", usable, families};
#endif
