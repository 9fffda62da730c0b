#include "gemm/family/chains.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(chains) = {chains_takes,
                                                   CHAINS_COLUMNS,
                                                   fma_f32_bytes,
                                                   fma_f32_bytes,
                                                   chains_pack_rows,
                                                   chains_pack_columns,
                                                   chains_run,
                                                   FLUSHES_AFTER_ROUNDING ? SMMA_MODE_FLUSH : SMMA_MODE_NEAREST_EVEN,
                                                   true,
                                                   false};

const smma_kernel_family SMMA_OF_KERNEL(chains_fp8) = {
    chains_fp8_takes,        CHAINS_COLUMNS, fma_f32_bytes,          fma_f32_bytes, chains_fp8_pack_rows,
    chains_fp8_pack_columns, chains_fp8_run, SMMA_MODE_NEAREST_EVEN, true,          false};
