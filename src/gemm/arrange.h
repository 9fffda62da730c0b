/* Operands in the order in which a plan takes k. */
#ifndef SMMA_GEMM_ARRANGE_H
#define SMMA_GEMM_ARRANGE_H

#include "gemm/gemm.h"

/* A copy of what a view of the whole K shows, element k of it the schedule's k-th product; NULL without memory. `*x`
   becomes a view of the copy, which the caller frees. */
void *smma_arrange(const smma_schedule *schedule, smma_view *x);

#endif
