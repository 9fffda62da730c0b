#include "gemm/family/integer.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(integer) = {
    integer_takes,        INTEGER_COLUMNS, integer_bytes,          integer_bytes, integer_pack_rows,
    integer_pack_columns, integer_run,     SMMA_MODE_NEAREST_EVEN, false,         false};
