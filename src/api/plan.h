#ifndef SMMA_API_PLAN_H
#define SMMA_API_PLAN_H

#include "gemm/gemm.h"

/* Fills in the plan of one product, or says what is wrong with the arguments; either may be NULL. Custom units that
   compute as no instruction of the catalogue go to the core. */
smma_status smma_plan_for(const smma_instruction *instruction, const smma_gemm_arguments *arguments, smma_plan *plan);

#endif
