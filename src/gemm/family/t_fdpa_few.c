#include "gemm/family/t_fdpa_few.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(t_fdpa_few) = {few_takes,     PANEL, few_row_bytes, few_column_bytes,
                                                       few_pack_rows, NULL,  few_run,       SMMA_MODE_TOWARD_ZERO,
                                                       false,         false};
