#ifndef SMMA_API_MULTIPLIER_H
#define SMMA_API_MULTIPLIER_H

#include "gemm/gemm.h"

/* Copies a caller's arguments and clears their error. The caller's struct may be that of an older or newer version.
   Returns an error if `given` is NULL. */
smma_status smma_take_arguments(const smma_gemm_arguments *given, smma_gemm_arguments *own);

/* Fills in the multiplier of one product, or returns an error if the arguments are invalid. Both pointers to inputs may
   be NULL, which is an error. A custom unit that computes as no instruction of the catalogue uses the core. */
smma_status smma_multiplier_for(const smma_instruction *instruction, const smma_gemm_arguments *arguments,
                                smma_multiplier *multiplier);

#endif
