/* Sums of pairs: the compositions of Arm's and Power's instructions. d becomes d + (p + q) for each pair of products
   p and q in turn. Each addition is rounded; unless `fused`, each product is rounded, too. Source: Arm's A64
   instruction set (DDI 0602), BFMMLA, FMMLA, FMOPA; Power ISA 3.1, xvf16ger2 and xvbf16ger2;
   docs/algorithms/pairs.md. */
#ifndef SMMA_CORE_PAIRS_H
#define SMMA_CORE_PAIRS_H

#include "composition.h"

typedef struct {
  int fused;
  smma_rounding rounding;
  smma_subnormal_policy subnormals; /* treatment of subnormal operands and results */
  smma_format output;
  smma_format range; /* a pair's sum is rounded to the precision of `output`, with the exponent range of this format */
} smma_pairs;

/* Reports whether each group of a step is a sum of `take` consecutive nodes that is rounded as IEEE 754 specifies,
   in any direction and with any treatment of subnormals. */
SMMA_CORE bool smma_is_exact_step(const smma_step *s, int take, smma_join join) {
  return s->take == take && s->turn == take && s->join == join && s->chains == 1 && s->stride == 1 && !s->descending &&
         s->term.bits == SMMA_EXACT_ALIGNMENT && s->term.drop == SMMA_NONE &&
         s->accumulator.bits == SMMA_EXACT_ALIGNMENT && s->accumulator.drop == SMMA_NONE && s->width == SMMA_NONE &&
         s->opposing == SMMA_OPPOSING_EXACT && s->narrow_bits == SMMA_NONE && s->overflow == SMMA_SUM_TO_INFINITY &&
         !s->early_underflow && s->zero_sign == SMMA_ZERO_IEEE;
}

/* Reports whether a composition is a sum of pairs, and stores its parameters in `pairs`. Bound: it reads two or
   three steps. */
SMMA_CORE bool smma_is_sum_of_pairs(const smma_composition *p, smma_pairs *pairs) {
  const int fused = p->steps == 2;
  const smma_step *last = &p->step[fused ? 1 : 2];
  smma_step pair = last[-1];
  int i;
  if ((!fused && p->steps != 3) || p->product != SMMA_PRODUCT_MULTIPLIED || p->widen != SMMA_NO_FORMAT ||
      p->product_limit != SMMA_NONE || p->scaled_step != 0 || !smma_has_whole_products(p))
    return false;
  pairs->range = pair.output;
  if (fused && pair.output == SMMA_F64 && last->output == SMMA_F32 && !pair.narrow_subnormals &&
      pair.narrow_bits == 23 && pair.narrow_rounding == pair.rounding) {
    pair.output = SMMA_F32;
    pair.narrow_bits = SMMA_NONE;
  }
  if (!smma_is_exact_step(&pair, 2, SMMA_JOIN_APART) || !smma_is_exact_step(last, 1, SMMA_JOIN_CHAIN) ||
      last->start != SMMA_START_C || (!fused && !smma_is_exact_step(&p->step[0], 1, SMMA_JOIN_APART)))
    return false;
  pairs->fused = fused;
  pairs->rounding = last->rounding;
  pairs->subnormals = last->subnormal_outputs;
  pairs->output = last->output;
  for (i = 0; i < p->steps; i++)
    if (p->step[i].rounding != pairs->rounding || p->step[i].subnormal_outputs != pairs->subnormals ||
        (i != p->steps - 2 && p->step[i].output != pairs->output))
      return false;
  if (pair.output != pairs->output) return false;
  return p->subnormal_a == pairs->subnormals && p->subnormal_b == pairs->subnormals &&
         p->subnormal_c == pairs->subnormals;
}

#endif
