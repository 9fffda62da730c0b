/* Processes a row of D before, between and after instruction steps, in encodings. */
#ifndef SMMA_GEMM_ROW_H
#define SMMA_GEMM_ROW_H

#include "gemm/gemm.h"

/* Reports whether accumulators start from C rather than from zero. */
static inline bool smma_starts_from_c(const smma_multiplier *multiplier) {
  return multiplier->with.c && multiplier->with.beta != 0 && multiplier->starts_from_c;
}

/* Stores the initial accumulators of elements (i, j) .. (i, j + count - 1), in the outer format. This and the
   following functions use native IEEE arithmetic: the thread must round to nearest and must not flush subnormals. */
void smma_start_row(const smma_multiplier *multiplier, size_t i, size_t j, size_t count, void *start);

/* Reports whether all of these binary32 numbers are finite. */
bool smma_is_finite_row(const float *x, size_t count);

/* Computes and stores these elements of D from their sums over K, which are in the outer format. */
void smma_finish_row(const smma_multiplier *multiplier, size_t i, size_t j, size_t count, void *total);

/* Rounds binary32 sums to a format, to nearest even. Overflow becomes infinity; a NaN becomes the rule's. */
void smma_round_sums(const smma_multiplier *multiplier, smma_format format, float *sums, size_t count);

/* Replaces every NaN of sums in the outer format by the rule's NaN. */
void smma_unify_nan(const smma_multiplier *multiplier, void *sums, size_t count);

/* Adds x to sum in the outer format: rounded to nearest even, with the rule's NaN; for integers with the rule's
   overflow. */
void smma_outer_add(const smma_multiplier *multiplier, void *sum, const void *x, size_t count);

#endif
