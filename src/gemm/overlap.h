/* Whether a product writes over what it still has to read. */
#ifndef SMMA_GEMM_OVERLAP_H
#define SMMA_GEMM_OVERLAP_H

#include "gemm/gemm.h"

/* The operand whose elements D overlaps ("A", "scale_b"), or NULL. C where it is D element by element, or is not read,
   is none. The dimensions must have been checked. */
const char *smma_overlapped(const smma_multiplier *multiplier);

#endif
