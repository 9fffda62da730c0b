/* Access to single elements: converts accumulators between formats, reads elements and scale factors of A and B. All
   values are encodings. */
#ifndef SMMA_GEMM_ELEMENT_H
#define SMMA_GEMM_ELEMENT_H

#include "gemm/gemm.h"

/* Returns the index of element (i, j) of a matrix. */
static inline size_t smma_index_of(smma_order order, size_t leading, size_t i, size_t j) {
  return order == SMMA_ROW_MAJOR ? i * leading + j : i + j * leading;
}

/* smma_narrow converts an accumulator from the multiplier's outer format to the instruction's format of D. smma_widen
   converts it back. */
uint64_t smma_narrow(const smma_multiplier *multiplier, uint64_t accumulator);
uint64_t smma_widen(const smma_multiplier *multiplier, uint64_t accumulator);

/* Returns factor times the number with this encoding, rounded once to its format. */
uint64_t smma_scaled(smma_format format, uint64_t encoding, double factor);

/* Constants for decoding an integer format. */
typedef struct {
  uint32_t mask; /* the bits of the format in its container */
  uint32_t sign; /* the sign bit; 0 if the format is unsigned */
} smma_integer_code;

static inline smma_integer_code smma_integer_code_of(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  smma_integer_code code;
  code.mask = ((uint32_t)1 << f.bits) - 1;
  code.sign = (uint32_t)f.sign_bits << f.bits >> 1;
  return code;
}

static inline int32_t smma_integer_value(smma_integer_code f, uint32_t code) {
  return (int32_t)((code & f.mask) ^ f.sign) - (int32_t)f.sign;
}

/* Returns x rounded to an integer, to nearest even, and then clamped or wrapped as the instruction does. The thread
   must round to nearest. */
uint64_t smma_integer_of(smma_integer_overflow overflow, double x);

/* smma_code_at returns the encoding of element k of row i of A or column i of B, scaled by alpha if alpha applies to
   operands. Beyond K it returns +0. smma_scale_code_at returns the encoding of scale factor `index` of that row or
   column. After the last one it returns the encoding of 1. */
uint64_t smma_code_at(const smma_multiplier *multiplier, bool of_a, size_t i, size_t k);
uint64_t smma_scale_code_at(const smma_multiplier *multiplier, bool of_a, size_t i, size_t index);

/* smma_decode_vector decodes `count` elements along K of row i of A or column i of B, from index k on, scaled by alpha
   if alpha applies to operands. Elements beyond K are +0. smma_decode_scales decodes the scale factors of the same
   range of k. Those beyond K are 1. */
void smma_decode_vector(const smma_multiplier *multiplier, bool of_a, size_t i, size_t k, size_t count,
                        smma_number *out);
void smma_decode_scales(const smma_multiplier *multiplier, bool of_a, size_t i, size_t k, size_t count,
                        smma_number *out);

#endif
