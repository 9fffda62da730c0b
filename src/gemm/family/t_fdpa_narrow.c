#include "gemm/family/t_fdpa_narrow.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(t_fdpa_narrow) = {t_fdpa_narrow_takes,
                                                          PANEL,
                                                          t_fdpa_narrow_row_bytes,
                                                          t_fdpa_narrow_column_bytes,
                                                          t_fdpa_narrow_pack_rows,
                                                          t_fdpa_narrow_pack_columns,
                                                          t_fdpa_narrow_run,
                                                          SMMA_MODE_TOWARD_ZERO,
                                                          false,
                                                          false};
