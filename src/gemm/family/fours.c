#include "gemm/family/fours.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(fours) = {
    fours_takes,        FOURS_COLUMNS, fours_bytes,     fours_bytes, fours_pack_rows,
    fours_pack_columns, fours_run,     SMMA_MODE_FLUSH, false,       false};
