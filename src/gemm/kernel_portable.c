/* The kernel for every other CPU: all families, compiled for the compiler's own vector types. */
#include <float.h>

#include "gemm/families.h"

/* Requires little-endian lanes, and binary32 arithmetic without excess precision. */
static bool usable(void) { return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && FLT_EVAL_METHOD == 0; }

const smma_kernel smma_kernel_portable = {
    "portable", usable, families, few_families, small_families, SMMA_OF_KERNEL(lanes), SMMA_OF_KERNEL(row)};
