#include "gemm/family/gst_fdpa.h"

#include "gemm/families.h"

const smma_kernel_family SMMA_OF_KERNEL(gst_fdpa) = {
    gst_takes, PANEL, gst_bytes, gst_bytes, gst_pack_rows, gst_pack_columns, gst_run, SMMA_MODE_TOWARD_ZERO,
    false,     false};
