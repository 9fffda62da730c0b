/* Sums in two chains: the compositions of AMX's instructions. Fused multiply-adds sum the products with even k in
   one chain and those with odd k in another, both starting from zero. The two sums are added, then c. All operations
   flush subnormals as FTZ-FMA does. Source: Intel SDM, volume 2, TDPBF16PS and TDPFP16PS; docs/algorithms/chains.md. */
#ifndef SMMA_CORE_CHAINS_H
#define SMMA_CORE_CHAINS_H

#include "pairs.h"

/* Reports whether a step rounds to FP32, to nearest even, and flushes subnormals to zeros of the same sign. */
SMMA_CORE bool smma_is_flushed_f32(const smma_step *s) {
  return s->output == SMMA_F32 && s->rounding == SMMA_ROUND_NEAREST_EVEN &&
         s->subnormal_outputs == SMMA_SUBNORMALS_TO_SIGNED_ZERO;
}

/* Reports whether a composition is a sum in two chains. If so, stores in `of_factors` how subnormal factors are
   treated. Bound: it reads three steps. */
SMMA_CORE bool smma_is_sum_of_chains(const smma_composition *p, smma_subnormal_policy *of_factors) {
  smma_step chain = p->step[0];
  int i;
  if (p->steps != 3 || p->product != SMMA_PRODUCT_MULTIPLIED || p->widen != SMMA_NO_FORMAT ||
      p->product_limit != SMMA_NONE || p->scaled_step != 0 || !smma_has_whole_products(p) ||
      p->subnormal_a != p->subnormal_b || p->subnormal_c != SMMA_SUBNORMALS_TO_SIGNED_ZERO)
    return false;
  for (i = 0; i < 3; i++)
    if (!smma_is_flushed_f32(&p->step[i])) return false;
  if (chain.chains != 2 || chain.start != SMMA_START_ZERO || chain.narrow_bits != 23 || chain.narrow_subnormals ||
      chain.narrow_rounding != SMMA_ROUND_NEAREST_EVEN || !chain.early_underflow)
    return false;
  chain.chains = 1;
  chain.narrow_bits = SMMA_NONE;
  chain.early_underflow = 0;
  *of_factors = p->subnormal_a;
  return smma_is_exact_step(&chain, 1, SMMA_JOIN_CHAIN) && smma_is_exact_step(&p->step[1], 2, SMMA_JOIN_APART) &&
         smma_is_exact_step(&p->step[2], 1, SMMA_JOIN_CHAIN) && p->step[2].start == SMMA_START_C;
}

#endif
