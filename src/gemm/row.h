/* What happens to a row of D before, between and after instruction steps, in encodings. */
#ifndef SMMA_GEMM_ROW_H
#define SMMA_GEMM_ROW_H

#include "gemm/gemm.h"

/* Whether accumulators start from C, not from zero. */
static inline bool smma_starts_from_c(const smma_multiplier *multiplier) {
  return multiplier->with.c && multiplier->with.beta != 0 && multiplier->starts_from_c;
}

/* What the accumulators of elements (i, j) .. (i, j + count - 1) start from, in the outer format. This and the
   following use native arithmetic, which is IEEE's: the thread must round to nearest and keep subnormals. */
void smma_start_row(const smma_multiplier *multiplier, size_t i, size_t j, size_t count, void *start);

/* Whether all of these binary32 numbers are finite. */
bool smma_is_finite_row(const float *x, size_t count);

/* Stores the same elements of D from their sums over K, which are in the outer format. */
void smma_finish_row(const smma_multiplier *multiplier, size_t i, size_t j, size_t count, void *total);

/* Rounds sums in binary32 to a format, RNE, beyond its range to infinity, and the rule's NaN. */
void smma_round_sums(const smma_multiplier *multiplier, smma_format format, float *sums, size_t count);

/* Every NaN becomes the rule's; sums in the outer format. */
void smma_unify_nan(const smma_multiplier *multiplier, void *sums, size_t count);

/* sum = sum + x in the outer format: RNE and the rule's NaN, or the rule's overflow of integers. */
void smma_outer_add(const smma_multiplier *multiplier, void *sum, const void *x, size_t count);

#endif
