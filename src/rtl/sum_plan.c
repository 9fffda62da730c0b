/* How a sum adds its terms, and the static bounds of every number in it. */
#include "rtl/sum.h"

static int logarithm(int count) { return smma_rtl_bits_for(count - 1); }

bool smma_rtl_is_cut(const smma_rtl_terms *c) { return c->cut->bits != SMMA_EXACT_ALIGNMENT; }

bool smma_rtl_wraps(const smma_step *s) { return s->width != SMMA_NONE && s->width_overflow == SMMA_INTEGER_WRAPS; }

/* Widens the range [*least, *most] by the exponents that the class's nonzero terms bring. */
static void add_range(const smma_rtl_terms *c, int *least, int *most) {
  const smma_rtl_shape s = c->shape;
  const bool normalized = c->cut->brings == SMMA_BRINGS_NORMALIZED;
  int low = (normalized ? smma_minimum(s.least, s.least - s.fraction) : s.least) + c->cut->offset;
  int high = (normalized ? smma_maximum(smma_rtl_leading(s), s.most) : s.most) + c->cut->offset;
  if (c->cut->least != SMMA_NONE) low = smma_maximum(low, c->cut->least), high = smma_maximum(high, c->cut->least);
  *least = smma_minimum(*least, low);
  *most = smma_maximum(*most, high);
}

/* Like add_range, for terms that are zero. */
static void add_zero_range(const smma_rtl_terms *c, int *least, int *most) {
  int low = c->cut->zero_exponent, high = low;
  if (low == SMMA_NO_EXPONENT || c->cut->brings == SMMA_BRINGS_NOTHING) return;
  if (low == SMMA_OWN_EXPONENT) low = c->shape.zero_least, high = c->shape.most;
  low += c->cut->offset, high += c->cut->offset;
  if (c->cut->least != SMMA_NONE) low = smma_maximum(low, c->cut->least), high = smma_maximum(high, c->cut->least);
  *least = smma_minimum(*least, low);
  *most = smma_maximum(*most, high);
}

/* Sets the range of the reference exponent of sums that are not all zero. */
static void bound_reference(smma_rtl_sum_plan *p) {
  int least = 1000000, most = -1000000, nothing = 0;
  for (int n = 0; n < p->classes; n++) {
    const smma_rtl_terms *c = &p->terms[n];
    if (c->cut->brings == SMMA_BRINGS_NOTHING)
      nothing = 1, least = smma_minimum(least, c->shape.least), most = smma_maximum(most, c->shape.most);
    else
      add_range(c, &least, &most);
  }
  for (int n = 0; n < p->classes; n++) {
    int unused = least;
    add_zero_range(&p->terms[n], nothing ? &least : &unused, &most);
  }
  if (p->s->reference != SMMA_NONE) least = most = p->s->reference;
  p->reference_least = smma_coarse_exponent(p->s, least);
  p->reference_most = smma_coarse_exponent(p->s, most);
}

/* Returns an upper bound of the exponent of a term's leading bit, from the reference exponent. */
static int bound_leading(const smma_rtl_sum_plan *p, const smma_rtl_terms *c) {
  const smma_rtl_shape s = c->shape;
  const int any = smma_rtl_leading(s) - p->reference_least;
  if (p->s->reference != SMMA_NONE || c->cut->brings == SMMA_BRINGS_NOTHING) return any;
  return smma_minimum(any, (c->cut->brings == SMMA_BRINGS_OWN ? s.width - 1 - s.fraction : 0) - c->cut->offset);
}

int smma_rtl_bound_left(const smma_rtl_sum_plan *p, const smma_rtl_terms *c) {
  const smma_rtl_shape s = c->shape;
  int places = s.most - s.fraction - p->reference_least + c->cut->bits;
  if (p->s->reference == SMMA_NONE && c->cut->brings == SMMA_BRINGS_OWN)
    places = smma_minimum(places, c->cut->bits - s.fraction - c->cut->offset);
  if (p->s->reference == SMMA_NONE && c->cut->brings == SMMA_BRINGS_NORMALIZED)
    places = smma_minimum(places, c->cut->bits - c->cut->offset);
  return smma_maximum(places, 0);
}

bool smma_rtl_reaches_limit(const smma_rtl_sum_plan *p, const smma_rtl_terms *c) {
  return p->method == SMMA_RTL_ADD_ALIGNED && !smma_rtl_wraps(p->s) &&
         bound_leading(p, c) + p->bits >= SMMA_MOST_TERM_BITS;
}

static void plan_aligned(smma_rtl_sum_plan *p) {
  const smma_step *s = p->s;
  p->bits = smma_sum_bits(s, p->count);
  p->width = 1;
  for (int n = 0; n < p->classes; n++) {
    const smma_rtl_terms *c = &p->terms[n];
    const int bits = smma_rtl_reaches_limit(p, c) ? SMMA_MOST_TERM_BITS + 1 : bound_leading(p, c) + p->bits + 2;
    p->width = smma_maximum(p->width, bits);
    /* A term can be rounded up to one unit of its class. */
    p->width = smma_maximum(p->width, p->bits - c->cut->bits + c->cut->again + 1);
  }
  p->sum_width = p->width + logarithm(p->count) + 1 + (smma_complements(s, p->count) ? 1 : 0);
  p->total.width = p->sum_width - 1;
  if (smma_rtl_wraps(s)) p->width = p->sum_width = p->total.width = s->width;
  if (s->width != SMMA_NONE) p->total.width = smma_minimum(p->total.width, s->width);
  if (s->minus_one_shift) p->total.width = smma_maximum(p->total.width, s->minus_one_shift + 1);
  p->total.least = p->reference_least - p->bits;
  p->total.most = p->reference_most - p->bits;
}

/* Plans an exact sum, and chooses the method that computes it. */
static void plan_exact(smma_rtl_sum_plan *p, bool whole) {
  int low = 1000000, high = -1000000, precision = smma_encoding_of(p->s->output).fraction_bits, two = 0;
  for (int n = 0; n < p->classes; n++) {
    const smma_rtl_terms *c = &p->terms[n];
    low = smma_minimum(low, c->shape.least - c->shape.fraction);
    high = smma_maximum(high, smma_rtl_leading(c->shape) + 1);
    two = smma_maximum(two, c->shape.width);
    if (!whole && smma_rtl_is_cut(c)) high = smma_maximum(high, p->reference_most - c->cut->bits + 1);
  }
  p->method = whole ? SMMA_RTL_ADD_FIXED : SMMA_RTL_ADD_MIXED;
  p->unit = low;
  p->width = high - low + 1;
  if (p->s->narrow_bits != SMMA_NONE) precision = smma_maximum(precision, p->s->narrow_bits);
  two = smma_maximum(two, precision + 1) + 4;
  if (whole && p->count == 1) p->method = SMMA_RTL_ADD_ONE, p->width = p->terms[0].shape.width;
  if (whole && p->count == 2 && p->width > two + 8) p->method = SMMA_RTL_ADD_TWO, p->width = two;
  p->sum_width = p->width + logarithm(p->count) + 1;
  p->total.width = p->sum_width - 1;
  p->total.least = p->total.most = p->unit;
  if (p->method == SMMA_RTL_ADD_ONE || p->method == SMMA_RTL_ADD_TWO) {
    p->total.least = low - (p->method == SMMA_RTL_ADD_TWO ? two : 0);
    p->total.most = high;
  }
}

smma_rtl_sum_plan smma_rtl_plan_sum(const smma_step *s, smma_rtl_shape term, const smma_rtl_shape *accumulator) {
  smma_rtl_sum_plan p = {.s = s,
                         .terms = {{"term", &s->term, term, s->take}, {"accumulator", &s->accumulator, term, 1}},
                         .classes = accumulator ? 2 : 1,
                         .count = s->take + (accumulator != NULL)};
  bool drops = false, whole;
  if (accumulator) p.terms[1].shape = *accumulator;
  for (int n = 0; n < p.classes; n++) {
    p.total.special = p.total.special || p.terms[n].shape.special;
    drops = drops || p.terms[n].cut->drop != SMMA_NONE;
  }
  whole = smma_adds_whole_terms(s, p.count);
  p.with_reference = !whole;
  p.with_exponents = !whole && (s->reference == SMMA_NONE || drops);
  bound_reference(&p);
  if (smma_is_exact(s, p.count))
    plan_exact(&p, whole);
  else
    plan_aligned(&p);
  return p;
}

smma_rtl_shape smma_rtl_sum_shape(smma_rtl_unit *u, const smma_step *s, smma_rtl_shape term,
                                  const smma_rtl_shape *accumulator) {
  const smma_rtl_sum_plan p = smma_rtl_plan_sum(s, term, accumulator);
  smma_rtl_shape shape = {.fraction = p.bits, .width = p.total.width, .special = p.total.special};
  int unused = 0;
  shape.least = shape.zero_least = p.reference_least;
  shape.most = p.reference_most;
  if (s->reference == SMMA_NONE)
    for (int n = 0; n < p.classes; n++) add_zero_range(&p.terms[n], &shape.zero_least, &unused);
  if (u->no_exponent && s->reference == SMMA_NONE) shape.zero_least = smma_minimum(shape.zero_least, SMMA_NO_EXPONENT);
  return shape;
}

void smma_rtl_reach_of_sum(smma_rtl_unit *u, const smma_rtl_sum_plan *p) {
  for (int n = 0; n < p->classes; n++) {
    const smma_rtl_terms *c = &p->terms[n];
    const smma_rtl_shape s = c->shape;
    const int bits = smma_rtl_is_cut(c) ? c->cut->bits : 0, drop = c->cut->drop == SMMA_NONE ? 0 : c->cut->drop;
    int least = p->reference_least, most = p->reference_most;
    add_zero_range(c, &least, &most);
    smma_rtl_reach(u, least - bits - drop, most + bits);
    smma_rtl_reach(u, least - s.most - bits - s.width, most - s.least + s.fraction + s.width + bits);
    smma_rtl_reach(u, s.least - s.fraction - p->unit, s.most + s.width - p->unit);
    smma_rtl_reach(u, s.zero_least + c->cut->offset, s.most);
    smma_rtl_reach(u, c->cut->zero_exponent > -3000 ? c->cut->zero_exponent : 0,
                   c->cut->least > -3000 ? c->cut->least : 0);
    smma_rtl_reach(u, c->cut->least > -3000 ? c->cut->least : 0, 0);
  }
  if (p->s->least_reference != SMMA_NONE) smma_rtl_reach(u, p->s->least_reference, p->s->least_reference);
  smma_rtl_reach(u, p->total.least - p->width, p->total.most + p->width);
  if (u->no_exponent) smma_rtl_reach(u, 2 * SMMA_NO_EXPONENT, 0);
}
