#include "gemm/family/small.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(small_t) = {small_t_takes,   LANES,
                                                    small_row_bytes, small_column_bytes,
                                                    small_pack_rows, small_pack_columns,
                                                    small_t_run,     SMMA_MODE_TOWARD_ZERO,
                                                    false,           true};

const smma_kernel_family SMMA_OF_KERNEL(small_tr) = {tr_fdpa_takes,   LANES,
                                                     small_row_bytes, small_column_bytes,
                                                     small_pack_rows, small_pack_columns,
                                                     small_tr_run,    SMMA_MODE_NEAREST_EVEN,
                                                     false,           true};
