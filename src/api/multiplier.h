#ifndef SMMA_API_MULTIPLIER_H
#define SMMA_API_MULTIPLIER_H

#include "gemm/gemm.h"

/* Copies a caller's arguments, whose struct may be of an older or newer version, and clears their error. Returns an
   error if `given` is NULL. */
smma_status smma_take_arguments(const smma_gemm_arguments *given, smma_gemm_arguments *own);

/* Fills in the multiplier of one product. Returns an error if the arguments are invalid, or if one of the first two
   pointers is NULL. `is_kept` is as in smma_multiplier_make. A custom unit uses the core unless it computes the same
   bits as an instruction of the catalogue. */
smma_status smma_multiplier_for(const smma_instruction *instruction, const smma_gemm_arguments *arguments, bool is_kept,
                                smma_multiplier *multiplier);

#endif
