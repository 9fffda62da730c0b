/* Exception flags of IEEE 754: the flags of a sum that is rounded once, and a test for compositions of such sums, the
   only rules that have flags. Source: IEEE 754-2019, section 7. A file that includes this header computes with its own
   copy of the evaluator, and observes each sum (SMMA_WATCH_SUM). */
#ifndef SMMA_CORE_FLAGS_H
#define SMMA_CORE_FLAGS_H

#include "rule.h"

enum { SMMA_RAISES_INEXACT = 1, SMMA_RAISES_UNDERFLOW = 2, SMMA_RAISES_OVERFLOW = 4, SMMA_RAISES_INVALID = 16 };

/* ---- Rules that have flags ---- */

/* Reports whether each sum of a step is rounded once, as IEEE 754 specifies for an operation. The step's width is not
   read, because exact sums have none. The sum may first be rounded to a format of fewer bits and any exponent (Power's
   xvbf16ger2). */
SMMA_CORE bool smma_is_ieee_step(const smma_step *s) {
  const bool exact = s->term.bits == SMMA_EXACT_ALIGNMENT && s->term.drop == SMMA_NONE &&
                     s->accumulator.bits == SMMA_EXACT_ALIGNMENT && s->accumulator.drop == SMMA_NONE &&
                     s->opposing == SMMA_OPPOSING_EXACT;
  const bool narrowed = s->narrow_bits != SMMA_NONE;
  if (!exact || s->output == SMMA_NO_FORMAT || smma_encoding_of(s->output).specials != SMMA_SPECIALS_IEEE) return false;
  if (narrowed && (s->narrow_subnormals || s->narrow_bits > smma_encoding_of(s->output).fraction_bits)) return false;
  if (s->overflow != (smma_is_directed(s->rounding) ? SMMA_SUM_BY_DIRECTION : SMMA_SUM_TO_INFINITY)) return false;
  return s->rounding != SMMA_ROUND_TO_ODD && s->subnormal_outputs == SMMA_SUBNORMALS_KEPT && !s->early_underflow &&
         s->zero_sign == SMMA_ZERO_IEEE;
}

/* Reports whether a composition reads its operands unchanged, and smma_is_ieee_step holds for all its steps. */
SMMA_CORE bool smma_is_ieee_composition(const smma_composition *p) {
  int i;
  for (i = 0; i < p->steps; i++)
    if (!smma_is_ieee_step(&p->step[i])) return false;
  return p->subnormal_a == SMMA_SUBNORMALS_KEPT && p->subnormal_b == SMMA_SUBNORMALS_KEPT &&
         p->subnormal_c == SMMA_SUBNORMALS_KEPT && p->widen == SMMA_NO_FORMAT && p->product_limit == SMMA_NONE &&
         p->product == SMMA_PRODUCT_MULTIPLIED && smma_has_whole_products(p);
}

/* ---- Flags ---- */

SMMA_CORE bool smma_is_signaling(smma_encoding f, smma_number x) {
  return x.kind == SMMA_NAN && f.specials == SMMA_SPECIALS_IEEE && !(x.significand >> (f.fraction_bits - 1) & 1);
}

/* Reports whether a sum has a term 0 times infinity, or adds infinities of both signs. The caller must check for
   operands that are signaling NaN. */
SMMA_CORE bool smma_is_invalid_sum(const smma_node *term, int count) {
  bool nan = false, infinite[2] = {false, false};
  int i;
  for (i = 0; i < count; i++) {
    if (term[i].invalid) return true;
    nan = nan || term[i].kind == SMMA_NAN;
    if (term[i].kind == SMMA_INFINITE) infinite[term[i].negative] = true;
  }
  return !nan && infinite[0] && infinite[1];
}

/* Reports whether a rounded sum has exactly the magnitude x. */
SMMA_CORE bool smma_has_magnitude(smma_node sum, smma_leading x) {
  const smma_leading d = smma_leading_of(sum);
  if (x.sticky || sum.kind != SMMA_FINITE) return false;
  return smma_leading_exponent(d) == smma_leading_exponent(x) &&
         d.significand << smma_leading_zeros(d.significand) == x.significand << smma_leading_zeros(x.significand);
}

/* Returns x rounded to the precision of a step's output, with an unbounded exponent. */
SMMA_CORE smma_leading smma_rounded_without_ends(const smma_step *s, smma_leading x) {
  if (s->narrow_bits != SMMA_NONE) x = smma_narrowed(x, s->narrow_bits, SMMA_NONE, s->narrow_rounding);
  return smma_narrowed(x, smma_encoding_of(s->output).fraction_bits, SMMA_NONE, s->rounding);
}

/* Returns the flags of a step's sum of `count` terms, whose result is `sum`. `early`: tininess is detected before
   rounding. */
SMMA_CORE int smma_flags_of_sum(const smma_step *s, const smma_node *term, int count, smma_node sum, bool early) {
  const smma_encoding f = smma_encoding_of(s->output);
  const int greatest = (int)(smma_largest_fields(f) >> f.fraction_bits) - f.bias;
  smma_leading x, rounded;
  int i;
  for (i = 0; i < count; i++)
    if (term[i].kind > SMMA_FINITE) return smma_is_invalid_sum(term, count) ? SMMA_RAISES_INVALID : 0;
  x = smma_uncut_sum(s, term, count);
  if (x.significand == 0) return 0;
  rounded = smma_rounded_without_ends(s, x);
  if (smma_leading_exponent(rounded) > greatest) return SMMA_RAISES_OVERFLOW | SMMA_RAISES_INEXACT;
  if (smma_has_magnitude(sum, x)) return 0;
  if (smma_leading_exponent(early ? x : rounded) >= smma_minimum_exponent(f)) return SMMA_RAISES_INEXACT;
  return SMMA_RAISES_INEXACT | SMMA_RAISES_UNDERFLOW;
}

#endif
