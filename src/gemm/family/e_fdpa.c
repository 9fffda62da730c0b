#include "gemm/family/e_fdpa.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(e_fdpa) = {
    e_fdpa_takes,        PANEL,      e_fdpa_bytes,           e_fdpa_bytes, e_fdpa_pack_rows,
    e_fdpa_pack_columns, e_fdpa_run, SMMA_MODE_NEAREST_EVEN, false,        false};
