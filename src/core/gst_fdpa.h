/* GST-FDPA: groups of FP4 products summed exactly, then scaled, then fused (MXFP4, NVFP4).
   Source: docs/algorithms/gst-fdpa.md; GDFS in MMA-Sim, section IV-E. */
#ifndef SMMA_CORE_GST_FDPA_H
#define SMMA_CORE_GST_FDPA_H

#include "t_fdpa.h"

typedef struct {
  int group;         /* G: products in one exact sum */
  smma_t_fdpa fused; /* addition of the scaled group sums and c; fused.block is the number of groups */
} smma_gst_fdpa;

/* Returns the exact sum of `count` products times both scale factors, as a term with the exponent of the scale
   factors. The term is zero if all its products are zero or a scale factor is zero; a group that cancels is not a
   zero term. Bound: 64 products of two E2M1 numbers are below 2^14 quarters; two UE4M3 significands are below 2^8. */
SMMA_CORE smma_number smma_gst_fdpa_group(const smma_number *a, const smma_number *b, int count, smma_number scale_a,
                                          smma_number scale_b) {
  smma_number scale = smma_product(scale_a, scale_b), group;
  int64_t sum = 0;
  int fraction = a[0].fraction_bits + b[0].fraction_bits, i;
  bool all_zero = true;
  for (i = 0; i < count; i++) {
    smma_number product = smma_product(a[i], b[i]);
    /* The least exponent of an E2M1 product is zero, so the shift is exact. */
    sum += smma_align(product, 0, fraction);
    all_zero = all_zero && product.kind == SMMA_ZERO;
  }
  group.significand = smma_magnitude(sum) * scale.significand;
  group.exponent = scale.exponent;
  group.fraction_bits = (int16_t)(fraction + scale.fraction_bits);
  group.negative = sum < 0;
  group.kind = scale.kind;
  if (all_zero && scale.kind == SMMA_FINITE) group.kind = SMMA_ZERO;
  return group;
}

#endif
