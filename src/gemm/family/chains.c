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
