#include "gemm/family/ftz.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(ftz_addmul) = {
    ftz_addmul_takes,        FTZ_COLUMNS,    fma_f32_bytes,   fma_f32_bytes, ftz_addmul_pack_rows,
    ftz_addmul_pack_columns, ftz_addmul_run, SMMA_MODE_FLUSH, true,          false};

const smma_kernel_family SMMA_OF_KERNEL(ftz_fma) = {ftz_fma_takes,
                                                    FMA_F32_COLUMNS,
                                                    fma_f32_bytes,
                                                    fma_f32_bytes,
                                                    ftz_fma_pack_rows,
                                                    ftz_fma_pack_columns,
                                                    ftz_fma_run,
                                                    FLUSHES_AFTER_ROUNDING ? SMMA_MODE_FLUSH : SMMA_MODE_NEAREST_EVEN,
                                                    true,
                                                    false};
