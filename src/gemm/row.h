/* Processes rows of D outside instruction steps: initial accumulators from C, additions and roundings between chains,
   and the epilogue. */
#ifndef SMMA_GEMM_ROW_H
#define SMMA_GEMM_ROW_H

#include "gemm/gemm.h"

/* Reports whether accumulators start from C rather than from zero. */
static inline bool smma_starts_from_c(const smma_multiplier *multiplier) {
  return multiplier->with.c && multiplier->with.beta != 0 && multiplier->starts_from_c;
}

/* Stores the initial accumulators of elements (i, j) .. (i, j + count - 1) in `start`, in the outer format. This and
   the following functions use native IEEE arithmetic: the thread must round to nearest and not flush subnormals. */
void smma_start_row(const smma_multiplier *multiplier, size_t i, size_t j, size_t count, void *start);

/* Reports whether `count` binary32 numbers are all finite. */
bool smma_is_finite_row(const float *x, size_t count);

/* Computes elements (i, j) .. (i, j + count - 1) of D from `total`, their sums over K in the outer format, and stores
   them in D. */
void smma_finish_row(const smma_multiplier *multiplier, size_t i, size_t j, size_t count, void *total);

/* Rounds binary32 sums to a format, to nearest even, and converts them back. Overflow becomes infinity; every NaN
   becomes the rule's NaN. */
void smma_round_sums(const smma_multiplier *multiplier, smma_format format, float *sums, size_t count);

/* Replaces every NaN of sums in the outer format by the rule's NaN. */
void smma_unify_nan(const smma_multiplier *multiplier, void *sums, size_t count);

/* Adds `count` numbers x to sums, in the outer format. Floating-point sums are rounded to nearest even, with the rule's
   NaN; integers are clamped or wrapped as the rule does. */
void smma_outer_add(const smma_multiplier *multiplier, void *sum, const void *x, size_t count);

#endif
