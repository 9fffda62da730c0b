#include "gemm/family/tr_fdpa.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(tr_fdpa) = {tr_fdpa_takes,
                                                    PANEL,
                                                    deficit_row_bytes,
                                                    deficit_column_bytes,
                                                    tr_pack_rows,
                                                    tr_pack_columns,
                                                    tr_fdpa_run,
                                                    SMMA_MODE_NEAREST_EVEN,
                                                    false,
                                                    false};
