/* Detects products whose D overlaps an operand. */
#ifndef SMMA_GEMM_OVERLAP_H
#define SMMA_GEMM_OVERLAP_H

#include "gemm/gemm.h"

/* Returns SMMA_INVALID_ARGUMENT if D overlaps an operand; the arguments' error names the operand ("D overlaps scale_b
   ..."). D may be C with the same layout and format, and it may overlap operands that are not read. The dimensions must
   have been checked. */
smma_status smma_check_overlap(const smma_multiplier *multiplier);

/* Reports whether D overlaps `bytes` bytes at `data`. */
bool smma_overlaps_bytes(const smma_multiplier *multiplier, const void *data, size_t bytes);

#endif
