#include "gemm/family/t_fdpa.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(t_fdpa) = {t_fdpa_takes,
                                                   PANEL,
                                                   deficit_row_bytes,
                                                   deficit_column_bytes,
                                                   t_fdpa_pack_rows,
                                                   t_fdpa_pack_columns,
                                                   t_fdpa_run,
                                                   SMMA_MODE_TOWARD_ZERO,
                                                   false,
                                                   false};
