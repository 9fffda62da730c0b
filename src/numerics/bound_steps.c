/* Bounds of compositions whose steps have exact sums. */
#include <string.h>

#include "core/range.h"
#include "numerics/bound_forms.h"

enum { LANES = SMMA_BOUND_LANES };

/* Exponents of bits: of the last bit of the least number, and of the first bit above all positive numbers. */
typedef struct {
  int last, above;
} exponent_range;

static exponent_range exponents_of(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const smma_number greatest = smma_decode(f, smma_greatest_of(f));
  return (exponent_range){smma_minimum_exponent(f) - f.fraction_bits,
                          greatest.exponent - greatest.fraction_bits + smma_bit_length(greatest.significand)};
}

/* Returns the exponents of all products, with their scale factors if these multiply the products. */
static exponent_range exponents_of_products(const smma_operation *o) {
  const exponent_range a = exponents_of(o->a), b = exponents_of(o->b);
  exponent_range x = {a.last + b.last, a.above + b.above};
  if (o->scale_block && o->rule.with.composition.scaled_step == 0) {
    const exponent_range scale = exponents_of(o->scale);
    x.last += 2 * scale.last, x.above += 2 * scale.above;
  }
  return x;
}

/* Reports whether the step adds groups of products, each apart, under a fixed reference exponent, and retains all their
   bits. */
static bool retains_products(const smma_operation *o, const smma_step *s) {
  const exponent_range x = exponents_of_products(o);
  const int unit = s->reference - s->term.bits;
  return s->reference != SMMA_NONE && s->join == SMMA_JOIN_APART && s->term.drop == SMMA_NONE && unit <= x.last &&
         x.above - unit < SMMA_MOST_TERM_BITS;
}

/* Reports whether a sum is rounded at most once. Two roundings to the same number of bits, in the same direction, are
   one rounding of normal results. Of subnormal results, this is so if the rounding is not to nearest, or if a sum below
   the least normal number becomes zero first. */
static bool is_rounded_once(const smma_step *s) {
  const bool to_nearest = s->rounding == SMMA_ROUND_NEAREST_EVEN || s->rounding == SMMA_ROUND_NEAREST_AWAY;
  const bool underflows_early = s->early_underflow && s->subnormal_outputs != SMMA_SUBNORMALS_KEPT;
  if (s->narrow_bits == SMMA_NONE) return true;
  return s->output != SMMA_NO_FORMAT && s->narrow_bits == smma_encoding_of(s->output).fraction_bits &&
         !s->narrow_subnormals && s->narrow_rounding == s->rounding && (!to_nearest || underflows_early);
}

/* Reports whether every sum of the step is exact, and then rounded at most once. */
static bool is_exact_sum(const smma_operation *o, const smma_composition *p, int step) {
  const smma_step *s = &p->step[step];
  const bool unrounded = s->output == SMMA_NO_FORMAT;
  const bool exact = smma_is_exact_alignment(s) || (step == 0 && unrounded && retains_products(o, s));
  return exact && is_rounded_once(s) && s->join != SMMA_JOIN_TREE && s->stride == 1 && !s->descending &&
         s->opposing == SMMA_OPPOSING_EXACT && s->width == SMMA_NONE && s->overflow == SMMA_SUM_TO_INFINITY &&
         s->least_reference == SMMA_NONE && s->minus_one_shift == 0 && s->term.again == 0 &&
         (unrounded ? step == 0 : !smma_is_integer(s->output) && !smma_bound_is_wide(s->output));
}

bool smma_bound_has_exact_sums(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  if (p->widen != SMMA_NO_FORMAT || p->product_limit != SMMA_NONE || p->product != SMMA_PRODUCT_MULTIPLIED ||
      !smma_has_whole_products(p) || p->scaled_step > (p->step[0].output == SMMA_NO_FORMAT) || smma_is_integer(o->a) ||
      smma_is_integer(o->b) || smma_bound_is_wide(o->a) || smma_bound_is_wide(o->b) || o->k > SMMA_MAXIMUM_ROUNDED_K)
    return false;
  for (int step = 0; step < p->steps; step++)
    if (!is_exact_sum(o, p, step)) return false;
  return true;
}

/* Replaces the `count` nodes by the sums of a step, and returns the number of sums. `c` is the accumulator. */
static int add_step(const smma_operation *o, const smma_step *p, smma_bound_sum *node, int count,
                    const smma_bound_sum *c, double slack) {
  const bool rounds = p->output != SMMA_NO_FORMAT;
  const int groups = count / p->take, in_window = p->window / p->take;
  const int sums = p->join == SMMA_JOIN_CHAIN ? p->chains : groups;
  smma_bound_rounding r = {0};
  smma_bound_sum sum[SMMA_MAXIMUM_ROUNDED_K];
  if (rounds) r = smma_bound_rounding_to(p->output, p->rounding);
  r.flushes = p->subnormal_outputs != SMMA_SUBNORMALS_KEPT;
  for (int n = 0; n < sums; n++) sum[n] = n == 0 && p->start == SMMA_START_C ? *c : smma_bound_empty(o->d);
  for (int group = 0; group < groups; group++) {
    smma_bound_sum *to = &sum[group % sums];
    for (int i = 0; i < p->take; i++) {
      const int from =
          group / in_window * p->window + (i / p->turn * in_window + group % in_window) * p->turn + i % p->turn;
      for (int j = 0; j < LANES; j++) smma_bound_join(&node[from], j, to);
    }
    for (int j = 0; rounds && j < LANES; j++) smma_bound_round(to, j, slack, &r);
    if (rounds) to->fraction_bits = r.fraction_bits;
  }
  memcpy(node, sum, (size_t)sums * sizeof *sum);
  return sums;
}

void smma_bound_add_steps(const smma_operation *o, const smma_bound_factor *a, const smma_bound_factors *b,
                          double slack, smma_bound_sum *s) {
  const smma_composition *p = &o->rule.with.composition;
  smma_bound_sum node[SMMA_MAXIMUM_ROUNDED_K];
  smma_bound_terms t;
  int count = o->k;
  t.count = 1, t.flushes = true, t.is_long = smma_bound_has_long_products(o);
  for (int k = 0; k < o->k; k++) {
    node[k] = smma_bound_empty(o->d);
    smma_bound_take_product(&a[k], &b[k], &node[k], &t, 0);
    smma_bound_lower_units(&t, node[k].unit);
  }
  for (const smma_step *step = p->step; step < p->step + p->steps; step++)
    count = add_step(o, step, node, count, s, slack);
  *s = node[0];
}
