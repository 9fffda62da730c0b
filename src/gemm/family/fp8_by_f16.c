#include "gemm/family/fp8_by_f16.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(fp8_by_f16) = {fp8_by_f16_takes,
                                                       PANEL,
                                                       deficit_row_bytes,
                                                       deficit_column_bytes,
                                                       t_fdpa_pack_rows,
                                                       t_fdpa_pack_columns,
                                                       fp8_by_f16_run,
                                                       SMMA_MODE_TOWARD_ZERO,
                                                       false,
                                                       false};
