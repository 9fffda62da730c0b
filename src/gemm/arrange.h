/* Copies operands to a plan's order of k. */
#ifndef SMMA_GEMM_ARRANGE_H
#define SMMA_GEMM_ARRANGE_H

#include "gemm/gemm.h"

/* Copies a view of the whole K: element k of the copy is the schedule's k-th product. Returns NULL if there is no
   memory. `*x` becomes a view of the copy, which the caller frees. */
void *smma_arrange(const smma_schedule *schedule, smma_view *x);

#endif
