/* Detects products that would overwrite their own operands. */
#ifndef SMMA_GEMM_OVERLAP_H
#define SMMA_GEMM_OVERLAP_H

#include "gemm/gemm.h"

/* Refuses a D that overlaps an operand; the arguments' error names the operand ("D overlaps scale_b ..."). C may
   share D's memory element by element, or overlap it if it is not read. The dimensions must have been checked. */
smma_status smma_check_overlap(const smma_multiplier *multiplier);

/* Reports whether D overlaps `bytes` bytes at `data`. */
bool smma_overlaps_bytes(const smma_multiplier *multiplier, const void *data, size_t bytes);

#endif
