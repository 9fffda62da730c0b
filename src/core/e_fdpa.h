/* E-FDPA: an exact fused dot-product-add, rounded once (CDNA1). Source: docs/algorithms/e-fdpa.md. */
#ifndef SMMA_CORE_E_FDPA_H
#define SMMA_CORE_E_FDPA_H

#include "wide.h"

typedef struct {
  int block; /* L: products in one exact sum */
} smma_e_fdpa;

/* Computes one block: the exact sum of the terms (products and c), rounded once to FP32, to nearest even. */
SMMA_CORE uint64_t smma_e_fdpa_sum(smma_nan_policy nan, const smma_number *term, int count) {
  smma_encoding f32 = smma_encoding_of(SMMA_F32);
  smma_number special = smma_special_sum(term, count);
  smma_wide sum;
  int i;
  if (special.kind != SMMA_FINITE) return smma_encode_special(f32, special, nan);
  smma_wide_clear(&sum);
  for (i = 0; i < count; i++)
    if (term[i].kind != SMMA_ZERO)
      smma_wide_add(&sum, term[i].negative, term[i].significand, term[i].exponent - term[i].fraction_bits);
  return smma_wide_encode(&sum, f32, SMMA_ROUND_NEAREST_EVEN);
}

#endif
