#include "gemm/family/pairs.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(pairs_odd) = {
    pairs_odd_takes,    PAIRS_COLUMNS, fma_f32_bytes,        fma_f32_bytes, pairs_pack_rows,
    pairs_pack_columns, pairs_run,     SMMA_MODE_FLUSH_DOWN, true,          false};

const smma_kernel_family SMMA_OF_KERNEL(pairs_flushed) = {
    pairs_flushed_takes, PAIRS_COLUMNS, fma_f32_bytes,   fma_f32_bytes, pairs_pack_rows,
    pairs_pack_columns,  pairs_run,     SMMA_MODE_FLUSH, true,          false};

const smma_kernel_family SMMA_OF_KERNEL(pairs) = {
    pairs_takes,        PAIRS_COLUMNS, fma_f32_bytes,          fma_f32_bytes, pairs_pack_rows,
    pairs_pack_columns, pairs_run,     SMMA_MODE_NEAREST_EVEN, true,          false};

const smma_kernel_family SMMA_OF_KERNEL(pairs_f64) = {
    pairs_f64_takes,        PAIRS_F64_COLUMNS, fma_f64_bytes,          fma_f64_bytes, pairs_f64_pack_rows,
    pairs_f64_pack_columns, pairs_f64_run,     SMMA_MODE_NEAREST_EVEN, true,          false};
