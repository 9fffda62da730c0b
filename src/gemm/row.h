/* What happens to a row of D before, between and after instruction steps, in encodings. */
#ifndef SMMA_GEMM_ROW_H
#define SMMA_GEMM_ROW_H

#include "gemm/gemm.h"

/* Whether accumulators start from C, not from zero. */
static inline bool smma_starts_from_c(const smma_plan *plan) {
  return plan->with.c && plan->with.beta != 0 && plan->with.scaling == SMMA_SCALING_OPERANDS;
}

/* What the accumulators of elements (i, j) .. (i, j + count - 1) start from, in the outer format. This and the
   following use native arithmetic, which is IEEE's: the thread must round to nearest and keep subnormals. */
void smma_start_row(const smma_plan *plan, size_t i, size_t j, size_t count, void *start);

/* Whether all of these binary32 numbers are finite. */
bool smma_is_finite_row(const float *x, size_t count);

/* Stores the same elements of D from their sums over K, which are in the outer format. */
void smma_finish_row(const smma_plan *plan, const void *total, size_t i, size_t j, size_t count);

/* sum = sum + x in the outer format: RNE and the rule's NaN, or the rule's overflow of integers. */
void smma_outer_add(const smma_plan *plan, void *sum, const void *x, size_t count);

#endif
