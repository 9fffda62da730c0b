/* Compositions: a dot-product-add described as a list of steps. Each step fuses groups of nodes (products, sums)
   into fewer nodes, until one node is left. The rules of the catalogue can be written as compositions, too
   (isa/compose.h). Source: docs/algorithms/composition.md. */
#ifndef SMMA_CORE_COMPOSITION_H
#define SMMA_CORE_COMPOSITION_H

#include "integer.h"
#include "policy.h"
#include "wide.h"

#define SMMA_MAXIMUM_STEPS 6

/* Value of a limit, offset or rounding that is absent. */
#define SMMA_NONE (-100000)

/* Value of `zero_exponent`: a zero brings the exponent of its encoding (for a product, the sum of its factors'
   exponents). */
#define SMMA_OWN_EXPONENT (-100001)

/* The most bits of an aligned term in units of its sum, unless the sum wraps: a greater term is replaced by 2^112. */
#define SMMA_MOST_TERM_BITS 112

/* The exponent with which a term enters the alignment. */
typedef enum {
  SMMA_BRINGS_OWN,        /* products: the sum of the factors' exponents; unrounded sums: their reference exponent */
  SMMA_BRINGS_NORMALIZED, /* the exponent of the leading bit */
  SMMA_BRINGS_NOTHING
} smma_brings;

/* How terms of one class (products and sums, or the accumulator) are aligned. */
typedef struct {
  smma_brings brings;
  int offset;        /* added to that exponent */
  int least;         /* lower bound of the exponent after this addition; SMMA_NONE: no bound */
  int zero_exponent; /* exponent with which zeros enter the alignment; or SMMA_NO_EXPONENT, SMMA_OWN_EXPONENT */
  int bits;          /* fraction bits below the reference exponent; SMMA_EXACT_ALIGNMENT: all */
  smma_rounding rounding;
  int drop;  /* a term whose exponent is below reference - drop counts as zero; SMMA_NONE: no term does */
  int again; /* low bits of the aligned term that a second rounding removes, in the same direction; 0: there is none */
} smma_cut;

typedef enum {
  SMMA_JOIN_APART, /* each group separately */
  SMMA_JOIN_TREE,  /* repeatedly, until each window is one node */
  SMMA_JOIN_CHAIN  /* each group together with an accumulator, which is the sum of the group before it */
} smma_join;

typedef enum { SMMA_START_NOTHING, SMMA_START_ZERO, SMMA_START_C } smma_start;

/* How a term is added if its sign differs from the accumulator's. */
typedef enum {
  SMMA_OPPOSING_EXACT,
  SMMA_OPPOSING_COMPLEMENT /* as the complement of its bits, which counts one unit less; this holds for zeros, too */
} smma_opposing;

typedef struct {
  int take;   /* nodes per group */
  int turn;   /* consecutive nodes dealt to a group at a time */
  int window; /* nodes that are dealt among groups; each window is dealt separately */
  smma_join join;
  smma_start start; /* start of the first chain; others start from +0 (from nothing if this is SMMA_START_NOTHING) */
  int chains;       /* number of chains; groups are dealt to them in turn, and each chain's sum becomes a node */
  int stride;       /* order of the groups: 0, stride, 2 stride, ..., 1, 1 + stride, ... */
  int descending;   /* 1: that order is reversed */
  int reference;    /* fixed reference exponent; SMMA_NONE: the greatest exponent of a term */
  int reference_multiple; /* power of two; the greatest exponent is rounded up to a multiple of it */
  int least_reference;    /* a sum with a lower reference exponent counts as zero; SMMA_NONE: no sum does */
  smma_cut term, accumulator;
  smma_opposing opposing;
  int minus_one_shift; /* a sum of -1 unit counts as -2^minus_one_shift units (a fault of one unit); 0: it does not */
  int width;           /* bits of the sum, including its sign; SMMA_NONE: unlimited */
  smma_integer_overflow width_overflow;
  int narrow_bits; /* fraction bits of a first rounding of the sum, before the output rounding; SMMA_NONE: there is no
                      such rounding */
  smma_rounding narrow_rounding;
  int narrow_subnormals; /* 1: the first rounding is no finer than the spacing of the output's subnormals */
  smma_format output;    /* SMMA_NO_FORMAT: the sum is not rounded */
  smma_rounding rounding;
  smma_sum_overflow overflow;
  smma_subnormal_policy subnormal_outputs;
  int early_underflow; /* 1: underflow is detected before the rounding to the output, 0: after it */
  smma_zero_sign zero_sign;
  int cancelled_is_zero; /* 1: an unrounded sum that cancels counts as a zero; 0: it counts as a finite number */
} smma_step;

typedef struct {
  smma_subnormal_policy subnormal_a, subnormal_b, subnormal_c;
  smma_format widen; /* factors are first converted to this format; SMMA_NO_FORMAT: they are not converted */
  int product_limit; /* products of magnitude 2^product_limit or more are infinite; SMMA_NONE: no limit */
  int limit_joins;   /* 1: they become infinite only in an accumulator, and only if no other term is special */
  int scaled_step;   /* the step, from 1, whose results are multiplied by the scale factors; 0: the products are */
  smma_product_kind product;
  int slice_a, slice_b; /* bits in a slice of a factor's significand; 0: the factor is one slice */
  int slices_b; /* number of slices of b; a slice of a is multiplied by all of them before the next slice of a */
  int block_bits_a, block_bits_b; /* bits that a factor keeps below its block's greatest exponent; 0: it keeps its own
                                     exponent and all bits */
  int block_elements;             /* consecutive factors that make a block; 0: all K */
  smma_rounding block_rounding;   /* rounding of a factor to these bits */
  int first_phase, phases; /* a phase multiplies one slice of a by one of b, for each k; all its products are nodes */
  int zero_product;        /* exponent of a product with a zero factor, before slices; SMMA_OWN_EXPONENT: its own */
  int steps;
  smma_step step[SMMA_MAXIMUM_STEPS];
} smma_composition;

/* A node: (-1)^negative * significand * 2^(exponent - fraction_bits). A NaN has the sign and significand of an
   operand. */
typedef struct {
  smma_bits128 significand;
  uint64_t code; /* encoding in the output format, if the node was rounded */
  int32_t exponent;
  int16_t fraction_bits;
  uint8_t kind, negative;
  uint8_t beyond;  /* signs of products beyond the limit in this node, as bits: 1 positive, 2 negative */
  uint8_t invalid; /* 1: a NaN from an invalid operation, not from an operand */
  uint8_t of_a;    /* 1: a NaN that any other NaN term replaces (SMMA_NAN_B_SUM_A: a product with the NaN of a) */
} smma_node;

SMMA_CORE smma_node smma_node_of(smma_number x, uint64_t code) {
  smma_node n;
  n.significand.high = 0;
  n.significand.low = x.significand;
  n.code = code;
  n.exponent = x.exponent;
  n.fraction_bits = x.fraction_bits;
  n.kind = x.kind;
  n.negative = x.negative;
  n.beyond = n.invalid = n.of_a = 0;
  return n;
}

SMMA_CORE smma_node smma_node_invalid(void) {
  smma_node n = smma_node_of(smma_zero(), 0);
  n.kind = SMMA_NAN;
  n.invalid = 1;
  return n;
}

/* Returns the exponent of the leading bit; for a sum that cancelled to zero, the node's exponent. */
SMMA_CORE int smma_node_leading_exponent(smma_node n) {
  if (smma_bits128_is_zero(n.significand)) return n.exponent;
  return smma_bit_length_bits128(n.significand) - 1 + n.exponent - n.fraction_bits;
}

/* Returns |x| in units of 2^unit, rounded, modulo 2^128. */
SMMA_CORE smma_bits128 smma_rounded_magnitude(smma_node x, int unit, smma_rounding direction) {
  const int shift = unit - (x.exponent - x.fraction_bits);
  const smma_bits128 zero = {0, 0}, one = {0, 1};
  smma_bits128 kept;
  bool half_unit, rest;
  if (shift <= -128) return zero;
  if (shift <= 0) return smma_shift_left_bits128(x.significand, -shift);
  kept = smma_shift_right_bits128(x.significand, shift);
  half_unit = smma_shift_right_bits128(x.significand, shift - 1).low & 1;
  rest = smma_has_low_bits128(x.significand, shift - 1);
  return smma_rounds_up(direction, x.negative, kept.low & 1, half_unit, rest) ? smma_add_bits128(kept, one) : kept;
}

/* ---- Products ---- */

/* Returns the number of nodes before the first step: the products of all phases. */
SMMA_CORE int smma_product_nodes(const smma_composition *p, int k) { return k * p->phases; }

/* Reports whether the nodes before the first step are the products of the factors, one for each k. */
SMMA_CORE bool smma_has_whole_products(const smma_composition *p) {
  return p->phases == 1 && p->slice_a == 0 && p->slice_b == 0 && p->block_bits_a == 0 && p->block_bits_b == 0 &&
         p->zero_product == SMMA_OWN_EXPONENT;
}

/* Returns a slice of a significand: `bits` bits, of which the first has the weight 2^(exponent - index * bits). */
SMMA_CORE smma_number smma_significand_slice(smma_number x, int bits, int index) {
  const int low = x.fraction_bits + 1 - (index + 1) * bits;
  if (bits == 0 || x.kind > SMMA_FINITE) return x;
  x.significand = low < 0 ? smma_shift_left(x.significand, -low) : smma_shift_right(x.significand, low);
  x.significand = smma_low_bits(x.significand, bits);
  x.exponent -= index * bits;
  x.fraction_bits = (int16_t)(bits - 1);
  return x;
}

/* Returns x * y exactly; x if both are NaN. Bound: the product of the significands is below 2^128. */
SMMA_CORE smma_node smma_node_product(smma_node x, smma_number y) {
  const smma_bits128 low = smma_multiply_bits128(x.significand.low, y.significand);
  smma_node p = x;
  if (x.kind == SMMA_NAN) return x;
  if (y.kind == SMMA_NAN) return smma_node_of(y, 0);
  p.significand.low = low.low;
  p.significand.high = low.high + x.significand.high * y.significand;
  p.exponent = x.exponent + y.exponent;
  p.fraction_bits = (int16_t)(x.fraction_bits + y.fraction_bits);
  p.negative = x.negative ^ y.negative;
  if (x.kind == SMMA_INFINITE || y.kind == SMMA_INFINITE) {
    if (x.kind == SMMA_ZERO || y.kind == SMMA_ZERO) return smma_node_invalid();
    p.kind = SMMA_INFINITE;
  } else {
    p.kind = x.kind < y.kind ? x.kind : y.kind;
  }
  return p;
}

SMMA_CORE smma_number smma_composition_factor(const smma_composition *p, smma_subnormal_policy policy,
                                              smma_nan_policy nan, smma_number x) {
  smma_encoding f;
  x = smma_flush(policy, smma_with_policy(nan, x));
  if (p->widen == SMMA_NO_FORMAT || x.kind > SMMA_FINITE) return x;
  f = smma_encoding_of(p->widen);
  return smma_with_policy(nan,
                          smma_decode(f, smma_encode_number(f, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY)));
}

/* Returns the greatest exponent among the finite factors, zeros included, of the block of factor k. */
SMMA_CORE int smma_block_exponent(const smma_composition *p, smma_subnormal_policy policy, smma_nan_policy nan,
                                  const smma_number *factor, int count, int k) {
  const int length = p->block_elements ? p->block_elements : count, first = k / length * length;
  int e = SMMA_NO_EXPONENT, i;
  for (i = first; i < first + length; i++) {
    const smma_number x = smma_composition_factor(p, policy, nan, factor[i]);
    if (x.kind <= SMMA_FINITE) e = smma_maximum(e, x.exponent);
  }
  return e;
}

/* Returns the k-th of `count` factors; if `bits` is not 0, rounded to `bits` bits below the exponent of its block. A
   significand that rounds up to 2^bits becomes 2^bits - 1. */
SMMA_CORE smma_number smma_block_factor(const smma_composition *p, smma_subnormal_policy policy, smma_nan_policy nan,
                                        int bits, const smma_number *factor, int count, int k) {
  smma_number x = smma_composition_factor(p, policy, nan, factor[k]);
  int e;
  if (bits == 0 || x.kind > SMMA_FINITE) return x;
  e = smma_block_exponent(p, policy, nan, factor, count, k);
  x.significand = smma_rounded_magnitude(smma_node_of(x, 0), e - bits + 1, p->block_rounding).low;
  if (x.significand >> bits) x.significand = smma_low_bits(~(uint64_t)0, bits);
  x.kind = x.significand ? SMMA_FINITE : SMMA_ZERO;
  x.exponent = e;
  x.fraction_bits = (int16_t)(bits - 1);
  return x;
}

/* Returns the product of the k-th of `count` factors in a phase. */
SMMA_CORE smma_node smma_composition_product(const smma_composition *p, smma_nan_policy nan, const smma_number *all_a,
                                             const smma_number *all_b, int count, int k, int phase) {
  const int of_a = phase / p->slices_b, of_b = phase % p->slices_b;
  const smma_number a = all_a[k], b = all_b[k];
  const smma_number whole_a = smma_block_factor(p, p->subnormal_a, nan, p->block_bits_a, all_a, count, k),
                    whole_b = smma_block_factor(p, p->subnormal_b, nan, p->block_bits_b, all_b, count, k);
  const smma_number x = smma_significand_slice(whole_a, p->slice_a, of_a),
                    y = smma_significand_slice(whole_b, p->slice_b, of_b);
  smma_node n = smma_node_product(smma_node_of(x, 0), y);
  if (n.kind == SMMA_ZERO && p->zero_product != SMMA_OWN_EXPONENT)
    n.exponent = p->zero_product - of_a * p->slice_a - of_b * p->slice_b;
  if (nan == SMMA_NAN_B_SUM_A && b.kind == SMMA_NAN) return smma_node_of(b, 0);
  n.of_a = nan == SMMA_NAN_B_SUM_A && a.kind == SMMA_NAN;
  if (p->product == SMMA_PRODUCT_XOR) return smma_node_of(smma_product_of_kind(p->product, a, b), 0);
  if (p->product_limit == SMMA_NONE || n.kind != SMMA_FINITE) return n;
  if (smma_bits128_is_zero(n.significand) || smma_node_leading_exponent(n) < p->product_limit)
    return n; /* 0: of slices */
  if (p->limit_joins)
    n.beyond = n.negative ? 2 : 1;
  else
    n.kind = SMMA_INFINITE;
  return n;
}

/* ---- One sum: `count` terms; the accumulator, if any, follows the `take` terms of the group ---- */

SMMA_CORE const smma_cut *smma_cut_of(const smma_step *s, int i) { return i < s->take ? &s->term : &s->accumulator; }

SMMA_CORE int smma_brought_exponent(const smma_cut *cut, smma_node n) {
  int e = cut->brings == SMMA_BRINGS_NORMALIZED ? smma_node_leading_exponent(n) : n.exponent;
  if (n.kind == SMMA_ZERO) e = cut->zero_exponent == SMMA_OWN_EXPONENT ? n.exponent : cut->zero_exponent;
  if (cut->brings == SMMA_BRINGS_NOTHING || e <= SMMA_NO_EXPONENT) return SMMA_NO_EXPONENT;
  return smma_maximum(e + cut->offset, cut->least);
}

/* Returns the exponent, rounded up to a multiple of the step's power of two. */
SMMA_CORE int smma_coarse_exponent(const smma_step *s, int exponent) {
  return exponent + (int)((0u - (unsigned)exponent) & ((unsigned)s->reference_multiple - 1u));
}

/* Returns the reference exponent. If no term brings an exponent, it is that of the greatest exponent of the finite
   nonzero terms. */
SMMA_CORE int smma_reference_exponent(const smma_step *s, const smma_node *term, int count) {
  int e = SMMA_NO_EXPONENT, own = SMMA_NO_EXPONENT, i;
  if (s->reference != SMMA_NONE) return s->reference;
  for (i = 0; i < count; i++) {
    e = smma_maximum(e, smma_brought_exponent(smma_cut_of(s, i), term[i]));
    if (term[i].kind == SMMA_FINITE) own = smma_maximum(own, term[i].exponent);
  }
  if (e == SMMA_NO_EXPONENT) e = own;
  return e == SMMA_NO_EXPONENT ? e : smma_coarse_exponent(s, e);
}

SMMA_CORE bool smma_is_dropped(const smma_step *s, int i, smma_node term, int reference) {
  const smma_cut *cut = smma_cut_of(s, i);
  const int e = smma_brought_exponent(cut, term);
  return cut->drop != SMMA_NONE && e != SMMA_NO_EXPONENT && e < reference - cut->drop;
}

/* Returns |x| aligned to the reference exponent, in units of 2^(reference - bits + again). */
SMMA_CORE smma_bits128 smma_aligned_magnitude(const smma_cut *cut, smma_node x, int reference) {
  const int unit = reference - cut->bits;
  const smma_bits128 once = smma_rounded_magnitude(x, unit, cut->rounding);
  if (cut->again == 0) return once;
  x.significand = once;
  x.exponent = unit;
  x.fraction_bits = 0;
  return smma_rounded_magnitude(x, unit + cut->again, cut->rounding);
}

/* Returns the fraction bits of a sum of aligned terms. */
SMMA_CORE int smma_sum_bits(const smma_step *s, int count) {
  return count > s->take ? smma_maximum(s->term.bits, s->accumulator.bits) : s->term.bits;
}

/* Reports whether terms whose sign differs from the accumulator's are added as complements. Returns false without
   accumulator. */
SMMA_CORE bool smma_complements(const smma_step *s, int count) {
  return s->opposing == SMMA_OPPOSING_COMPLEMENT && count > s->take;
}

/* Returns the i-th of `count` terms, aligned, in two's complement, in units of 2^(reference - smma_sum_bits). With
 * `frame` returns its negative. */
SMMA_CORE smma_bits128 smma_cut_term(const smma_step *s, int i, int count, smma_node x, int reference, bool frame) {
  const smma_cut *cut = smma_cut_of(s, i);
  const bool wraps = s->width != SMMA_NONE && s->width_overflow == SMMA_INTEGER_WRAPS;
  const int sum_bits = smma_sum_bits(s, count);
  const smma_bits128 zero = {0, 0}, one = {0, 1};
  smma_bits128 term = {0, 0};
  if (x.kind == SMMA_ZERO || smma_bits128_is_zero(x.significand) || smma_is_dropped(s, i, x, reference))
    term = zero;
  else if (!wraps && smma_node_leading_exponent(x) - (reference - sum_bits) >= SMMA_MOST_TERM_BITS)
    term = smma_shift_left_bits128(one, SMMA_MOST_TERM_BITS);
  else
    term = smma_shift_left_bits128(smma_aligned_magnitude(cut, x, reference), sum_bits - cut->bits + cut->again);
  if ((x.negative != 0) == frame) return term;
  term = smma_subtract_bits128(zero, term);
  return smma_complements(s, count) ? smma_subtract_bits128(term, one) : term;
}

/* Returns x limited to `width` bits in two's complement: wrapped or saturated. */
SMMA_CORE smma_bits128 smma_limit_width(smma_bits128 x, int width, smma_integer_overflow overflow) {
  const smma_bits128 zero = {0, 0}, one = {0, 1}, end = smma_shift_left_bits128(one, width - 1);
  const smma_bits128 above = smma_add_bits128(x, end);
  const smma_bits128 held = smma_shift_right_bits128(smma_shift_left_bits128(above, 128 - width), 128 - width);
  if (above.high == held.high && above.low == held.low) return x;
  if (overflow == SMMA_INTEGER_WRAPS) return smma_subtract_bits128(held, end);
  return x.high >> 63 ? smma_subtract_bits128(zero, end) : smma_subtract_bits128(end, one);
}

/* Reports whether the reference exponent is below that of every sum that is not zero. */
SMMA_CORE bool smma_is_below_reference(const smma_step *s, int reference) {
  return s->least_reference != SMMA_NONE && reference < s->least_reference;
}

/* Returns the sum of finite terms after alignment; the node has the reference exponent. */
SMMA_CORE smma_node smma_cut_sum(const smma_step *s, const smma_node *term, int count) {
  const int reference = smma_reference_exponent(s, term, count), bits = smma_sum_bits(s, count);
  const smma_bits128 zero = {0, 0}, one = {0, 1};
  smma_node n = smma_node_of(smma_zero(), 0);
  const bool frame = smma_complements(s, count) && term[count - 1].negative;
  int i;
  for (i = 0; i < count; i++) {
    if (term[i].kind != SMMA_ZERO) n.kind = SMMA_FINITE;
    n.beyond |= term[i].beyond;
  }
  n.exponent = reference;
  n.fraction_bits = (int16_t)bits;
  if (smma_is_below_reference(s, reference)) n.kind = SMMA_ZERO;
  if (n.kind == SMMA_ZERO) return n;
  for (i = 0; i < count; i++)
    n.significand = smma_add_bits128(n.significand, smma_cut_term(s, i, count, term[i], reference, frame));
  if (s->width != SMMA_NONE) n.significand = smma_limit_width(n.significand, s->width, s->width_overflow);
  n.negative = (uint8_t)(n.significand.high >> 63);
  if (n.negative) n.significand = smma_subtract_bits128(zero, n.significand);
  if (!smma_bits128_is_zero(n.significand)) n.negative ^= frame;
  if (s->minus_one_shift && n.negative && n.significand.high == 0 && n.significand.low == 1)
    n.significand = smma_shift_left_bits128(one, s->minus_one_shift);
  if (s->cancelled_is_zero && smma_bits128_is_zero(n.significand)) n.kind = SMMA_ZERO;
  return n;
}

SMMA_CORE bool smma_is_exact(const smma_step *s, int count) { return smma_sum_bits(s, count) == SMMA_EXACT_ALIGNMENT; }

/* Reports whether a sum adds its terms without alignment and drops none. */
SMMA_CORE bool smma_adds_whole_terms(const smma_step *s, int count) {
  return s->term.bits == SMMA_EXACT_ALIGNMENT && s->term.drop == SMMA_NONE &&
         (count <= s->take || (s->accumulator.bits == SMMA_EXACT_ALIGNMENT && s->accumulator.drop == SMMA_NONE));
}

/* Returns the leading bits of a sum and a sticky bit, which suffice for rounding. At least one class of its terms is
   aligned exactly. */
SMMA_CORE smma_leading smma_uncut_sum(const smma_step *s, const smma_node *term, int count) {
  const bool whole = smma_adds_whole_terms(s, count);
  const int reference = whole ? 0 : smma_reference_exponent(s, term, count);
  smma_wide sum;
  int i;
  smma_wide_clear(&sum);
  for (i = 0; i < count; i++) {
    const smma_cut *cut = smma_cut_of(s, i);
    const int last = term[i].exponent - term[i].fraction_bits, unit = smma_maximum(last, reference - cut->bits);
    const smma_bits128 kept = whole ? term[i].significand : smma_rounded_magnitude(term[i], unit, cut->rounding);
    if (term[i].kind == SMMA_ZERO || (!whole && smma_is_dropped(s, i, term[i], reference))) continue;
    smma_wide_add(&sum, term[i].negative, kept.low, unit);
    if (kept.high) smma_wide_add(&sum, term[i].negative, kept.high, unit + 64);
  }
  return smma_wide_leading(&sum);
}

SMMA_CORE smma_leading smma_leading_of(smma_node n) {
  const int more = smma_maximum(smma_bit_length_bits128(n.significand) - 64, 0);
  smma_leading x;
  x.significand = smma_shift_right_bits128(n.significand, more).low;
  x.exponent = n.exponent - n.fraction_bits + more;
  x.negative = n.negative;
  x.sticky = smma_has_low_bits128(n.significand, more);
  return x;
}

/* Reports whether a zero sum of these terms is -0. */
SMMA_CORE bool smma_is_negative_zero(const smma_step *s, const smma_node *term, int count) {
  bool positive = false, negative = false;
  int i;
  if (s->zero_sign != SMMA_ZERO_IEEE) return false;
  for (i = 0; i < count; i++) {
    positive = positive || !term[i].negative || term[i].kind != SMMA_ZERO;
    negative = negative || term[i].negative || term[i].kind != SMMA_ZERO;
  }
  return positive && negative ? s->rounding == SMMA_ROUND_DOWN : negative;
}

SMMA_CORE int smma_leading_exponent(smma_leading x) { return x.exponent + smma_bit_length(x.significand) - 1; }

/* Rounds x to `bits` fraction bits, or to a multiple of 2^(least - bits) if that is coarser. */
SMMA_CORE smma_leading smma_narrowed(smma_leading x, int bits, int least, smma_rounding direction) {
  const int last = smma_maximum(smma_leading_exponent(x), least) - bits, shift = last - x.exponent;
  uint64_t kept;
  if (x.significand == 0 || shift <= 0) return x;
  kept = smma_shift_right(x.significand, shift);
  x.significand =
      kept + smma_rounds_up(direction, x.negative, kept & 1, shift <= 64 && (x.significand >> (shift - 1) & 1),
                            x.sticky || smma_low_bits(x.significand, shift - 1) != 0);
  x.exponent = last;
  x.sticky = false;
  return x;
}

/* Encodes a finite sum. */
SMMA_CORE uint64_t smma_composed_code(const smma_step *s, smma_nan_policy nan, smma_leading sum, const smma_node *term,
                                      int count) {
  const bool saturates =
      s->overflow == SMMA_SUM_SATURATES ||
      (s->overflow == SMMA_SUM_BY_DIRECTION && smma_rounds_away_from_infinity(s->rounding, sum.negative));
  const bool is_zero = sum.significand == 0;
  const smma_encoding all = smma_encoding_of(s->output), f = saturates ? smma_readable_encoding(nan, all) : all;
  const int least = smma_minimum_exponent(f);
  uint64_t code;
  if (s->narrow_bits != SMMA_NONE)
    sum = smma_narrowed(sum, s->narrow_bits, s->narrow_subnormals ? least : SMMA_NONE, s->narrow_rounding);
  if (is_zero || (s->zero_sign != SMMA_ZERO_IEEE && sum.significand == 0))
    sum.negative = smma_is_negative_zero(s, term, count);
  if (s->early_underflow && s->subnormal_outputs != SMMA_SUBNORMALS_KEPT && sum.significand &&
      smma_leading_exponent(sum) < least)
    sum.significand = 0, sum.sticky = false;
  code = smma_encode(f, sum.negative, sum.significand, sum.exponent, sum.sticky, s->rounding,
                     saturates ? SMMA_OVERFLOW_SATURATE : SMMA_OVERFLOW_INFINITY);
  return smma_with_zero_sign(s->zero_sign, f, smma_flush_encoding(s->subnormal_outputs, f, code));
}

/* Returns the first NaN that comes from an operand, preferably one that does not yield; else the NaN or infinity that
   the terms make; else a node of kind SMMA_FINITE. */
SMMA_CORE smma_node smma_special_terms(const smma_node *term, int count) {
  smma_node special = smma_node_of(smma_zero(), 0);
  int i, yields;
  special.kind = SMMA_FINITE;
  for (yields = 0; yields < 2; yields++)
    for (i = 0; i < count; i++)
      if (term[i].kind == SMMA_NAN && !term[i].invalid && term[i].of_a == yields) return term[i];
  for (i = 0; i < count; i++) {
    if (term[i].kind <= SMMA_FINITE) continue;
    if (term[i].kind == SMMA_NAN || (special.kind == SMMA_INFINITE && special.negative != term[i].negative))
      return smma_node_invalid();
    special = term[i];
  }
  return special;
}

/* Like smma_special_terms for a whole sum, including products beyond the limit. If the NaN policy marks NaN, a NaN
   that the terms make takes precedence over the accumulator. */
SMMA_CORE smma_node smma_special_node(const smma_step *s, smma_nan_policy nan, const smma_node *term, int count) {
  smma_node special = smma_node_of(smma_zero(), 0);
  uint8_t beyond = 0;
  bool finite = true;
  int i;
  for (i = 0; i < count; i++) finite = finite && term[i].kind <= SMMA_FINITE, beyond |= term[i].beyond;
  special.kind = SMMA_FINITE;
  if (finite && beyond == 0) return special;
  special = smma_special_terms(term, smma_marks_nan(nan) ? s->take : count);
  if (smma_marks_nan(nan) && count > s->take && special.kind != SMMA_NAN)
    special = term[s->take].kind == SMMA_NAN ? term[s->take] : smma_special_terms(term, count);
  if (special.kind != SMMA_FINITE || beyond == 0 || s->join != SMMA_JOIN_CHAIN) return special;
  if (beyond == 3) return smma_node_invalid();
  special.kind = SMMA_INFINITE;
  special.negative = beyond == 2;
  return special;
}

/* Encodes an infinity or NaN. `of_terms`: the NaN comes from terms, not from the accumulator. */
SMMA_CORE uint64_t smma_special_code(smma_encoding f, smma_node special, bool of_terms, smma_nan_policy nan) {
  smma_number x = smma_zero();
  x.kind = special.kind;
  x.negative = special.negative;
  x.significand = special.significand.low;
  x.fraction_bits = special.fraction_bits;
  if (x.kind != SMMA_NAN || special.invalid || smma_has_one_nan(nan)) return smma_encode_special(f, x, nan);
  return of_terms && smma_marks_nan(nan) ? smma_marked_nan(f) : smma_quieted(f, x);
}

/* Hooks that observe each sum. A file that uses them defines them before it includes the core (coverage/watch.c). */
#ifndef SMMA_WATCH_SUM
#define SMMA_WATCH_SUM(step, term, count, sum)
#define SMMA_WATCH_CUT_SUM(sum)
#endif

SMMA_CORE smma_node smma_fuse_unwatched(const smma_step *s, smma_nan_policy nan, const smma_node *term, int count) {
  const smma_encoding f = smma_encoding_of(s->output);
  smma_node n = smma_special_node(s, nan, term, count);
  uint64_t code;
  n.of_a = 0; /* the NaN of a sum does not yield */
  if (s->output == SMMA_NO_FORMAT && n.kind != SMMA_FINITE) return n;
  if (n.kind != SMMA_FINITE) {
    code = smma_special_code(f, n, smma_special_terms(term, s->take).kind == SMMA_NAN, nan);
  } else if (smma_is_exact(s, count)) {
    code = smma_composed_code(s, nan, smma_uncut_sum(s, term, count), term, count);
  } else {
    n = smma_cut_sum(s, term, count);
    SMMA_WATCH_CUT_SUM(n);
    if (s->output == SMMA_NO_FORMAT) return n;
    code = smma_composed_code(s, nan, smma_leading_of(n), term, count);
  }
  return smma_node_of(smma_with_policy(nan, smma_decode(f, code)), code);
}

/* Returns the sum of `count` terms. If count > take, the last term is the accumulator. */
SMMA_CORE smma_node smma_fuse(const smma_step *s, smma_nan_policy nan, const smma_node *term, int count) {
  const smma_node sum = smma_fuse_unwatched(s, nan, term, count);
  SMMA_WATCH_SUM(s, term, count, sum);
  return sum;
}

/* ---- Steps ---- */

/* Returns the index of the i-th node of a group. The nodes of each window are dealt to its groups, `turn` nodes at a
   time. */
SMMA_CORE int smma_dealt_index(int take, int turn, int window, int group, int i) {
  const int groups = window / take, first = group / groups * window, place = group % groups;
  if (turn == take) return group * take + i;
  return first + (i / turn * groups + place) * turn + i % turn;
}

/* Returns the i-th group that a chain adds. */
SMMA_CORE int smma_chain_group(const smma_step *s, int groups, int chain, int i) {
  const int visit = i * s->chains + chain, rows = groups / s->stride;
  const int group = visit / rows + visit % rows * s->stride;
  return s->descending ? groups - 1 - group : group;
}

/* Fuses each group of `count` nodes separately; returns the number of groups, which is the new number of nodes. */
SMMA_CORE int smma_fuse_apart(const smma_step *s, smma_nan_policy nan, int window, smma_node *node, int count) {
  smma_node term[SMMA_MAXIMUM_K], fused[SMMA_MAXIMUM_K];
  const int groups = count / s->take;
  int group, i;
  for (group = 0; group < groups; group++) {
    for (i = 0; i < s->take; i++) term[i] = node[smma_dealt_index(s->take, s->turn, window, group, i)];
    fused[group] = smma_fuse(s, nan, term, s->take);
  }
  for (group = 0; group < groups; group++) node[group] = fused[group];
  return groups;
}

SMMA_CORE int smma_fuse_tree(const smma_step *s, smma_nan_policy nan, smma_node *node, int count) {
  int window = s->window;
  do {
    count = smma_fuse_apart(s, nan, window, node, count);
    window /= s->take;
  } while (window > 1);
  return count;
}

/* Returns an accumulator of +0 with the exponent of a zero in d's format. */
SMMA_CORE smma_node smma_node_zero(smma_format d) { return smma_node_of(smma_decode(smma_encoding_of(d), 0), 0); }

SMMA_CORE int smma_fuse_chains(const smma_step *s, smma_nan_policy nan, smma_format d, smma_node c, smma_node *node,
                               int count) {
  smma_node term[SMMA_MAXIMUM_K + 1], fused[SMMA_MAXIMUM_K];
  const int groups = count / s->take, length = groups / s->chains;
  int chain, link, i;
  for (chain = 0; chain < s->chains; chain++) {
    smma_node accumulator = chain == 0 && s->start == SMMA_START_C ? c : smma_node_zero(d);
    for (link = 0; link < length; link++) {
      const int group = smma_chain_group(s, groups, chain, link);
      const bool alone = link == 0 && s->start == SMMA_START_NOTHING;
      for (i = 0; i < s->take; i++) term[i] = node[smma_dealt_index(s->take, s->turn, s->window, group, i)];
      term[s->take] = accumulator;
      accumulator = smma_fuse(s, nan, term, alone ? s->take : s->take + 1);
    }
    fused[chain] = accumulator;
  }
  for (chain = 0; chain < s->chains; chain++) node[chain] = fused[chain];
  return s->chains;
}

/* Applies one step; returns the new number of nodes. */
SMMA_CORE int smma_take_step(const smma_step *s, smma_nan_policy nan, smma_format d, smma_node c, smma_node *node,
                             int count) {
  switch (s->join) {
    case SMMA_JOIN_APART: return smma_fuse_apart(s, nan, s->window, node, count);
    case SMMA_JOIN_TREE: return smma_fuse_tree(s, nan, node, count);
    case SMMA_JOIN_CHAIN: break;
  }
  return smma_fuse_chains(s, nan, d, c, node, count);
}

/* Multiplies every node by the scale factors of the consecutive products that it sums. */
SMMA_CORE void smma_scale_nodes(smma_node *node, int count, int k, int scale_block, const smma_number *scale_a,
                                const smma_number *scale_b) {
  int i;
  for (i = 0; i < count && scale_block; i++) {
    const int s = k / count * i / scale_block;
    node[i] = smma_node_product(smma_node_product(node[i], scale_a[s]), scale_b[s]);
  }
}

#endif
