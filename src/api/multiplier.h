#ifndef SMMA_API_MULTIPLIER_H
#define SMMA_API_MULTIPLIER_H

#include "gemm/gemm.h"

/* Copies a caller's arguments, of whatever size, and clears their error; either may be NULL. */
smma_status smma_take_arguments(const smma_gemm_arguments *given, smma_gemm_arguments *own);

/* Fills in the multiplier of one product, or says what is wrong with the arguments; either may be NULL. Custom units
   that compute as no instruction of the catalogue go to the core. */
smma_status smma_multiplier_for(const smma_instruction *instruction, const smma_gemm_arguments *arguments,
                                smma_multiplier *multiplier);

#endif
