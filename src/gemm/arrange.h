/* Copies operands in a plan's order of k. */
#ifndef SMMA_GEMM_ARRANGE_H
#define SMMA_GEMM_ARRANGE_H

#include "gemm/gemm.h"

/* Copies all lines of a view in the schedule's order: element k of a line in the copy belongs to the schedule's k-th
   product, and is +0 if the schedule has no product there. `*x` becomes a view of the copy. Returns the copy, which the
   caller frees, or NULL if there is no memory. */
void *smma_arrange(const smma_schedule *schedule, smma_view *x);

#endif
