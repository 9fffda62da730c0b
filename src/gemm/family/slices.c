#include "gemm/family/slices.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(slices) = {
    slices_takes,        PANEL,      slices_bytes,           slices_bytes, slices_pack_rows,
    slices_pack_columns, slices_run, SMMA_MODE_NEAREST_EVEN, false,        false};
