/* Single elements: of D between formats, of A and B along K, in encodings of the core. */
#ifndef SMMA_GEMM_ELEMENT_H
#define SMMA_GEMM_ELEMENT_H

#include "gemm/gemm.h"

static inline size_t smma_index_of(smma_order order, size_t leading, size_t i, size_t j) {
  return order == SMMA_ROW_MAJOR ? i * leading + j : i + j * leading;
}

/* An accumulator in D's format from one in the outer format, and back. */
uint64_t smma_narrow(const smma_multiplier *multiplier, uint64_t accumulator);
uint64_t smma_widen(const smma_multiplier *multiplier, uint64_t accumulator);

/* factor * x, rounded once to x's format. */
uint64_t smma_scaled(smma_format format, uint64_t encoding, double factor);

/* A double as the instruction holds an integer, in a thread that rounds to nearest. */
uint64_t smma_integer_of(const smma_integer *integer, double x);

/* The encoding of element k of row i of A or column i of B, scaled by alpha where that acts before; behind them +0.
   Scale factor number `index` of the same line; behind them one. */
uint64_t smma_code_at(const smma_multiplier *multiplier, bool of_a, size_t i, size_t k);
uint64_t smma_scale_code_at(const smma_multiplier *multiplier, bool of_a, size_t i, size_t index);

/* Decodes `count` elements along K of row i of A or column i of B, from k on, scaled by alpha where that acts before,
   padded with +0; and the scale factors of the same range, padded with one. */
void smma_decode_vector(const smma_multiplier *multiplier, bool of_a, size_t i, size_t k, size_t count,
                        smma_number *out);
void smma_decode_scales(const smma_multiplier *multiplier, bool of_a, size_t i, size_t k, size_t count,
                        smma_number *out);

#endif
