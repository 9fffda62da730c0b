/* G-FDPA: compositions that are a single chain of fused sums. Each sum aligns all its terms alike. T-, ST- and
   E-FDPA, FMA and the custom model of Khattak and Mikaitis are such chains. The sum below is faster than the general
   evaluator of steps; tests compare the two. Source: docs/algorithms/g-fdpa.md. */
#ifndef SMMA_CORE_G_FDPA_H
#define SMMA_CORE_G_FDPA_H

#include "composition.h"

/* The exponent of a product in the alignment. */
typedef enum {
  SMMA_EXPONENT_OF_FACTORS, /* the sum of its factors' exponents */
  SMMA_EXPONENT_NORMALIZED  /* the exponent of its leading bit */
} smma_product_exponent;

typedef enum {
  SMMA_C_JOINS_FIRST, /* c is a term of the first block */
  SMMA_C_JOINS_LAST   /* c is added to the result of the last block; the first block starts from +0 */
} smma_c_joins;

typedef struct {
  int block;          /* L: products in one fused sum; a divisor of K */
  int interleave;     /* number of consecutive k that a block takes before the next block takes as many; L: blocks are
                         contiguous */
  int alignment_bits; /* F: fraction bits below the greatest exponent */
  smma_rounding alignment_rounding; /* rounding of each term in the alignment */
  int sticky_bit; /* 1: aligned terms have one more bit, the OR of the bits that alignment drops; 0: they do not */
  smma_product_exponent product_exponent;
  int zero_exponent; /* e_zero: exponent of a zero term in the alignment; SMMA_NO_EXPONENT: zeros have none */
  smma_c_joins c_joins;
  smma_rounding c_rounding; /* rounding of the addition of c, if c joins last */
  smma_format output;       /* format of each block's result */
  smma_rounding rounding;   /* rounding of each block's sum to `output` */
  smma_sum_overflow overflow;
  smma_subnormal_policy subnormal_inputs; /* treatment of subnormal a, b and c */
  smma_subnormal_policy subnormal_outputs;
  smma_zero_sign zero_sign;
} smma_g_fdpa;

/* Reports whether a rounding is one of IEEE 754's five. */
SMMA_CORE bool smma_is_ieee_rounding(smma_rounding direction) { return direction <= SMMA_ROUND_NEAREST_AWAY; }

/* Reports whether a step is one chain of groups in order that rounds each sum once, to a format. */
SMMA_CORE bool smma_is_plain_chain(const smma_step *s) {
  return s->join == SMMA_JOIN_CHAIN && s->chains == 1 && s->stride == 1 && !s->descending &&
         s->reference == SMMA_NONE && s->reference_multiple == 1 && s->least_reference == SMMA_NONE &&
         s->minus_one_shift == 0 && s->opposing == SMMA_OPPOSING_EXACT && s->width == SMMA_NONE &&
         s->narrow_bits == SMMA_NONE && s->output != SMMA_NO_FORMAT && smma_is_ieee_rounding(s->rounding) &&
         !s->early_underflow;
}

/* Reports whether every term enters the alignment with its own (or normalised) exponent: no offset, no minimum, no
   dropped terms and no second rounding. */
SMMA_CORE bool smma_is_plain_alignment(const smma_cut *c) {
  return c->brings != SMMA_BRINGS_NOTHING && c->offset == 0 && c->least == SMMA_NONE &&
         c->zero_exponent != SMMA_OWN_EXPONENT && c->drop == SMMA_NONE && c->again == 0;
}

/* Reports whether a step aligns its terms and the accumulator alike; only products may be normalised. */
SMMA_CORE bool smma_aligns_alike(const smma_step *s) {
  const smma_cut *term = &s->term, *sum = &s->accumulator;
  return smma_is_plain_alignment(term) && smma_is_plain_alignment(sum) && sum->brings == SMMA_BRINGS_OWN &&
         term->bits == sum->bits && term->rounding == sum->rounding && term->zero_exponent == sum->zero_exponent &&
         (smma_is_ieee_rounding(term->rounding) || (term->rounding == SMMA_ROUND_TO_ODD && term->bits > 0));
}

/* Reports whether a step adds its terms and the accumulator exactly. */
SMMA_CORE bool smma_is_exact_alignment(const smma_step *s) {
  return s->term.bits == SMMA_EXACT_ALIGNMENT && s->accumulator.bits == SMMA_EXACT_ALIGNMENT &&
         s->term.drop == SMMA_NONE && s->accumulator.drop == SMMA_NONE;
}

/* Reports whether every encoding that a sum rounded to `output` can have encodes the same number in d's format. */
SMMA_CORE bool smma_is_read_alike(smma_format output, smma_format d) {
  return output == d || (d == SMMA_F32 && (output == SMMA_E8M13 || output == SMMA_TF32));
}

/* Reports whether the second step only adds c to the sum of the first step and rounds to d. The sum below decodes all
   its accumulators in d's format. */
SMMA_CORE bool smma_c_joins_last(const smma_composition *p, smma_format d) {
  const smma_step *s = &p->step[0], *last = &p->step[1];
  return p->steps == 2 && smma_is_read_alike(s->output, d) && s->start == SMMA_START_ZERO &&
         last->start == SMMA_START_C && smma_is_plain_chain(last) && smma_is_exact_alignment(last) &&
         last->output == d && last->overflow == s->overflow && last->subnormal_outputs == s->subnormal_outputs &&
         last->zero_sign == s->zero_sign;
}

/* Returns the parameters of a composition for which smma_is_g_fdpa holds. */
SMMA_CORE smma_g_fdpa smma_g_fdpa_of(const smma_composition *p) {
  const smma_step *s = &p->step[0];
  const bool exact = s->term.bits == SMMA_EXACT_ALIGNMENT, c_joins_first = p->steps == 1;
  const bool sticky = !exact && s->term.rounding == SMMA_ROUND_TO_ODD;
  smma_g_fdpa g;
  g.block = s->take;
  g.interleave = s->turn;
  g.alignment_bits = s->term.bits - sticky;
  g.alignment_rounding = exact || sticky ? SMMA_ROUND_TOWARD_ZERO : s->term.rounding;
  g.sticky_bit = sticky;
  g.product_exponent =
      !exact && s->term.brings == SMMA_BRINGS_NORMALIZED ? SMMA_EXPONENT_NORMALIZED : SMMA_EXPONENT_OF_FACTORS;
  g.zero_exponent = exact ? SMMA_NO_EXPONENT : s->term.zero_exponent;
  g.c_joins = c_joins_first ? SMMA_C_JOINS_FIRST : SMMA_C_JOINS_LAST;
  g.c_rounding = c_joins_first ? SMMA_ROUND_NEAREST_EVEN : p->step[1].rounding;
  g.output = s->output;
  g.rounding = s->rounding;
  g.overflow = s->overflow;
  g.subnormal_inputs = p->subnormal_a;
  g.subnormal_outputs = s->subnormal_outputs;
  g.zero_sign = s->zero_sign;
  return g;
}

/* Reports whether a composition of k products with results in the format `d` is G-FDPA, and fills `g` with its
   parameters if it is. Bound: it reads two steps. */
SMMA_CORE bool smma_is_g_fdpa(const smma_composition *p, int k, smma_format d, smma_g_fdpa *g) {
  const smma_step *s = &p->step[0];
  const bool aligned = smma_is_exact_alignment(s) || smma_aligns_alike(s), c_joins_first = s->start == SMMA_START_C;
  if (p->widen != SMMA_NO_FORMAT || p->product_limit != SMMA_NONE || p->scaled_step != 0 ||
      !smma_has_whole_products(p) || p->product != SMMA_PRODUCT_MULTIPLIED || p->subnormal_b != p->subnormal_a ||
      p->subnormal_c != p->subnormal_a)
    return false;
  if (!aligned || !smma_is_plain_chain(s) || s->window != k ||
      !(c_joins_first ? p->steps == 1 : smma_c_joins_last(p, d)))
    return false;
  *g = smma_g_fdpa_of(p);
  return true;
}

/* ---- The sum, in 64 bits ---- */

/* Returns the same value with a significand of one bit before the binary point. */
SMMA_CORE smma_number smma_normalize(smma_number x) {
  int fraction_bits = smma_bit_length(x.significand) - 1;
  if (x.kind != SMMA_FINITE) return x;
  x.exponent += fraction_bits - x.fraction_bits;
  x.fraction_bits = (int16_t)fraction_bits;
  return x;
}

/* Returns a * b * scale, exactly. Bound: two significands of at most 24 bits, and 8 bits of two scale factors. */
SMMA_CORE smma_number smma_g_fdpa_product(const smma_g_fdpa *p, smma_number a, smma_number b, smma_number scale) {
  smma_number product = smma_product(smma_flush(p->subnormal_inputs, a), smma_flush(p->subnormal_inputs, b));
  product = smma_product(product, scale);
  return p->product_exponent == SMMA_EXPONENT_NORMALIZED ? smma_normalize(product) : product;
}

SMMA_CORE int smma_g_fdpa_exponent(const smma_g_fdpa *p, smma_number term) {
  return term.kind == SMMA_ZERO ? p->zero_exponent : term.exponent;
}

/* Returns emax, the greatest exponent of all terms. */
SMMA_CORE int smma_g_fdpa_greatest_exponent(const smma_g_fdpa *p, const smma_number *term, int count) {
  int emax = smma_g_fdpa_exponent(p, term[0]), i;
  for (i = 1; i < count; i++) emax = smma_maximum(emax, smma_g_fdpa_exponent(p, term[i]));
  return emax;
}

/* Returns x rounded to an integer number of units of 2^(emax - F); with a sticky bit, of units half as great. */
SMMA_CORE int64_t smma_g_fdpa_align(const smma_g_fdpa *p, smma_number x, int emax) {
  int shift = emax - p->alignment_bits - (x.exponent - x.fraction_bits);
  uint64_t kept;
  bool half_unit, rest;
  if (shift <= 0) return smma_align(x, emax, p->alignment_bits + p->sticky_bit);
  kept = smma_shift_right(x.significand, shift);
  half_unit = shift <= 64 && (x.significand >> (shift - 1) & 1);
  rest = smma_low_bits(x.significand, shift - 1) != 0;
  if (p->sticky_bit)
    kept = kept << 1 | (uint64_t)(half_unit || rest);
  else
    kept += smma_rounds_up(p->alignment_rounding, x.negative, kept & 1, half_unit, rest);
  return x.negative ? -(int64_t)kept : (int64_t)kept;
}

/* Returns the sum of the aligned terms. Bound: a term is below 16 * 2^emax (four factors below 2, two of them scale
   factors), so below 2^(F + 5) units with a sticky bit; at most 65 terms are below 2^(F + 12) <= 2^62. */
SMMA_CORE smma_leading smma_g_fdpa_aligned_sum(const smma_g_fdpa *p, const smma_number *term, int count) {
  int emax = smma_g_fdpa_greatest_exponent(p, term, count), i;
  int64_t sum = 0;
  smma_leading s;
  for (i = 0; i < count; i++) sum += smma_g_fdpa_align(p, term[i], emax);
  s.significand = smma_magnitude(sum);
  s.exponent = emax - p->alignment_bits - p->sticky_bit;
  s.negative = sum < 0;
  s.sticky = false;
  return s;
}

SMMA_CORE smma_leading smma_exact_sum(const smma_number *term, int count) {
  smma_wide sum;
  int i;
  smma_wide_clear(&sum);
  for (i = 0; i < count; i++)
    if (term[i].kind != SMMA_ZERO)
      smma_wide_add(&sum, term[i].negative, term[i].significand, term[i].exponent - term[i].fraction_bits);
  return smma_wide_leading(&sum);
}

/* Reports whether the sum of these terms, which is zero, is -0. A nonzero term counts as both signs, because the terms
   cancel. */
SMMA_CORE bool smma_g_fdpa_negative_zero(const smma_g_fdpa *p, smma_rounding direction, const smma_number *term,
                                         int count) {
  bool positive = false, negative = false;
  int i;
  if (p->zero_sign != SMMA_ZERO_IEEE) return false;
  for (i = 0; i < count; i++) {
    positive = positive || !term[i].negative || term[i].kind != SMMA_ZERO;
    negative = negative || term[i].negative || term[i].kind != SMMA_ZERO;
  }
  return positive && negative ? direction == SMMA_ROUND_DOWN : negative;
}

SMMA_CORE smma_overflow smma_g_fdpa_overflow(const smma_g_fdpa *p, smma_rounding direction, bool negative) {
  bool saturates = p->overflow == SMMA_SUM_SATURATES ||
                   (p->overflow == SMMA_SUM_BY_DIRECTION && smma_rounds_away_from_infinity(direction, negative));
  return saturates ? SMMA_OVERFLOW_SATURATE : SMMA_OVERFLOW_INFINITY;
}

/* Rounds `sum`, the finite sum of `term`, to f. */
SMMA_CORE uint64_t smma_g_fdpa_round(const smma_g_fdpa *p, smma_encoding f, smma_rounding direction, smma_leading sum,
                                     const smma_number *term, int count) {
  if (sum.significand == 0) sum.negative = smma_g_fdpa_negative_zero(p, direction, term, count);
  return smma_with_zero_sign(
      p->zero_sign, f,
      smma_flush_encoding(p->subnormal_outputs, f,
                          smma_encode(f, sum.negative, sum.significand, sum.exponent, sum.sticky, direction,
                                      smma_g_fdpa_overflow(p, direction, sum.negative))));
}

/* Computes one block: the rounded sum of `count` terms (products and c). */
SMMA_CORE uint64_t smma_g_fdpa_sum(const smma_g_fdpa *p, smma_nan_policy nan, const smma_number *term, int count) {
  smma_encoding output = smma_encoding_of(p->output);
  smma_number special = smma_special_sum(term, count);
  bool exact = p->alignment_bits == SMMA_EXACT_ALIGNMENT;
  if (special.kind != SMMA_FINITE) return smma_encode_special(output, special, nan);
  return smma_g_fdpa_round(p, output, p->rounding,
                           exact ? smma_exact_sum(term, count) : smma_g_fdpa_aligned_sum(p, term, count), term, count);
}

/* Returns x + c in the format f, rounded once. */
SMMA_CORE uint64_t smma_g_fdpa_add_c(const smma_g_fdpa *p, smma_encoding f, smma_nan_policy nan, uint64_t x,
                                     uint64_t c) {
  smma_number term[2], special;
  term[0] = smma_decode(f, x);
  term[1] = smma_decode(f, c);
  special = smma_special_sum(term, 2);
  if (special.kind != SMMA_FINITE) return smma_encode_special(f, special, nan);
  return smma_g_fdpa_round(p, f, p->c_rounding, smma_exact_sum(term, 2), term, 2);
}

#endif
