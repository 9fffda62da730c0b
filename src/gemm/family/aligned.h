/* Recognises compositions whose first step aligns all products to one exponent and adds them. */
#ifndef SMMA_GEMM_FAMILY_ALIGNED_H
#define SMMA_GEMM_FAMILY_ALIGNED_H

#include "core/rule.h"

/* Reports whether a composition multiplies factors as they are: not cut into slices or widened, with subnormals. */
static inline bool aligned_has_plain_products(const smma_composition *p) {
  return p->subnormal_a == SMMA_SUBNORMALS_KEPT && p->subnormal_b == SMMA_SUBNORMALS_KEPT &&
         p->widen == SMMA_NO_FORMAT && p->product_limit == SMMA_NONE && p->product == SMMA_PRODUCT_MULTIPLIED &&
         smma_has_whole_products(p);
}

/* Reports whether a step adds all k products, each first rounded, by `rounding`, to a multiple of a power of two that
   is a fixed number of bits below the exponent `reference`, or below their greatest exponent if `reference` is
   SMMA_NONE. The sum must not be limited to a width. The caller must check the number of bits and the rounding of the
   sum. */
static inline bool aligned_is_sum(const smma_step *s, int k, int reference, smma_rounding rounding) {
  const smma_cut *cut = &s->term;
  return s->take == k && s->turn == k && s->join == SMMA_JOIN_APART && s->chains == 1 && s->stride == 1 &&
         s->reference == reference && s->reference_multiple == 1 && s->least_reference == SMMA_NONE &&
         !s->cancelled_is_zero && cut->brings == SMMA_BRINGS_OWN && cut->offset == 0 && cut->least == SMMA_NONE &&
         cut->zero_exponent == SMMA_NO_EXPONENT && cut->rounding == rounding && cut->drop == SMMA_NONE &&
         cut->again == 0 && s->opposing == SMMA_OPPOSING_EXACT && s->minus_one_shift == 0 && s->width == SMMA_NONE &&
         s->narrow_bits == SMMA_NONE;
}

#endif
