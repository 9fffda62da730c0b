#include "gemm/family/c_fdpa.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(c_fdpa) = {c_fdpa_takes,
                                                   PANEL,
                                                   deficit_row_bytes,
                                                   deficit_column_bytes,
                                                   c_fdpa_pack_rows,
                                                   tr_pack_columns,
                                                   c_fdpa_run,
                                                   SMMA_MODE_NEAREST_EVEN,
                                                   false,
                                                   false};
