/* What happens to one element of D before, between and after instruction steps, in encodings of the core. */
#ifndef SMMA_GEMM_ELEMENT_H
#define SMMA_GEMM_ELEMENT_H

#include "gemm/gemm.h"

static inline size_t smma_index_of(smma_order order, size_t leading, size_t i, size_t j) {
  return order == SMMA_ROW_MAJOR ? i * leading + j : i + j * leading;
}

/* An accumulator in D's format from one in the outer format, and back. */
uint64_t smma_narrow(const smma_plan *plan, uint64_t accumulator);
uint64_t smma_widen(const smma_plan *plan, uint64_t accumulator);

/* factor * x, rounded once to x's format. */
uint64_t smma_scaled(smma_format format, uint64_t encoding, double factor);

/* What the accumulators of elements (i, j) .. (i, j + count - 1) start from, in the outer format. */
void smma_start_row(const smma_plan *plan, size_t i, size_t j, size_t count, void *start);

/* Stores the same elements of D from their sums over K, which are in the outer format. This and smma_outer_add use
   native arithmetic, which is IEEE's: the thread must round to nearest and keep subnormals. */
void smma_finish_row(const smma_plan *plan, const void *total, size_t i, size_t j, size_t count);

/* sum = sum + x in the outer format: RNE and the rule's NaN, or the rule's overflow of integers. */
void smma_outer_add(const smma_plan *plan, void *sum, const void *x, size_t count);

/* Every NaN becomes the rule's; encodings of the outer format. */
void smma_unify_nan(const smma_plan *plan, void *encodings, size_t count);

/* The encoding of element k of row i of A or column i of B, scaled by alpha where that acts before; behind them +0. Scale
   factor number `index` of the same line; behind them one. */
uint64_t smma_code_at(const smma_plan *plan, bool of_a, size_t i, size_t k);
uint64_t smma_scale_code_at(const smma_plan *plan, bool of_a, size_t i, size_t index);

/* Decodes `count` elements along K of row i of A or column i of B, from k on, scaled by alpha where that acts before,
   padded with +0; and the scale factors of the same range, padded with one. */
void smma_decode_vector(const smma_plan *plan, bool of_a, size_t i, size_t k, size_t count, smma_number *out);
void smma_decode_scales(const smma_plan *plan, bool of_a, size_t i, size_t k, size_t count, smma_number *out);

#endif
