/* Whether a product writes over what it still has to read. */
#ifndef SMMA_GEMM_OVERLAP_H
#define SMMA_GEMM_OVERLAP_H

#include "gemm/gemm.h"

/* Refuses a D that overlaps an operand, which the arguments' error then names ("D overlaps scale_b ..."). C is none
   where it is D element by element, or is not read. The dimensions must have been checked. */
smma_status smma_check_overlap(const smma_multiplier *multiplier);

/* Whether D overlaps other memory. */
bool smma_overlaps_bytes(const smma_multiplier *multiplier, const void *data, size_t bytes);

#endif
