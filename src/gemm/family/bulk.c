#include "gemm/family/bulk.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(bulk) = {bulk_takes,
                                                 PANEL,
                                                 deficit_row_bytes,
                                                 deficit_column_bytes,
                                                 bulk_pack_rows,
                                                 bulk_pack_columns,
                                                 bulk_run,
                                                 SMMA_MODE_DOWN,
                                                 false,
                                                 false};
