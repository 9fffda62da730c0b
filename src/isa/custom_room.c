/* Bounds the exponents of all terms of a composition, step by step, for any operands. */
#include "isa/custom_room.h"

#include "isa/compose.h"

static bool is_cut(const smma_cut *cut) { return cut->bits != SMMA_EXACT_ALIGNMENT; }

int smma_last_slice_of_b(const smma_composition *p) {
  int last = 0;
  for (int phase = p->first_phase; phase < p->first_phase + p->phases; phase++)
    last = smma_maximum(last, phase % p->slices_b);
  return last;
}

/* Bounds of the exponents of finite nodes. */
typedef struct {
  int least, most; /* the nodes' exponents, and those of zeros */
  int last;        /* the last bit of a significand, which may be 0 */
  int lowest;      /* the lowest bit that is 1 */
  int leading;     /* the leading bit */
} node_range;

static node_range range_of_both(node_range x, node_range y) {
  return (node_range){smma_minimum(x.least, y.least), smma_maximum(x.most, y.most), smma_minimum(x.last, y.last),
                      smma_minimum(x.lowest, y.lowest), smma_maximum(x.leading, y.leading)};
}

/* Returns the range of a format's numbers. All encodings may be numbers. */
static node_range range_of_format(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  const int least = smma_minimum_exponent(f), most = smma_maximum((1 << f.exponent_bits) - 1, 1) - f.bias;
  return (node_range){least, most, least - f.fraction_bits, least - f.fraction_bits, most};
}

/* Returns the range of the factors that phases multiply. */
static node_range range_of_factor(const smma_composition *p, smma_format format, int block_bits, int slice,
                                  int last_slice) {
  node_range x = range_of_format(p->widen == SMMA_NO_FORMAT ? format : p->widen);
  if (block_bits) x.last = smma_minimum(x.last, x.least - block_bits + 1);
  if (slice) x.last = smma_minimum(x.last, x.least - (last_slice + 1) * slice + 1);
  x.lowest = x.last;
  x.least -= last_slice * slice;
  return x;
}

static node_range range_of_product(node_range x, node_range y) {
  return (node_range){x.least + y.least, x.most + y.most, x.last + y.last, x.lowest + y.lowest,
                      x.leading + y.leading + 1};
}

static node_range range_of_products(const smma_instruction *i, const smma_composition *p) {
  const int slice_a = (p->first_phase + p->phases - 1) / p->slices_b, slice_b = smma_last_slice_of_b(p);
  node_range x = range_of_product(range_of_factor(p, i->a, p->block_bits_a, p->slice_a, slice_a),
                                  range_of_factor(p, i->b, p->block_bits_b, p->slice_b, slice_b));
  if (p->zero_product == SMMA_OWN_EXPONENT) return x;
  x.least = smma_minimum(x.least, p->zero_product - slice_a * p->slice_a - slice_b * p->slice_b);
  x.most = smma_maximum(x.most, p->zero_product);
  return x;
}

/* A sum of a step: its terms, and the accumulator of a chain. */
typedef struct {
  const smma_step *step;
  int classes; /* 2 with an accumulator */
  node_range of[2];
} sum_range;

static const smma_cut *cut_of(const sum_range *s, int class) { return class ? &s->step->accumulator : &s->step->term; }

/* Bounds the reference exponent by the exponents that the terms bring. */
static void bound_reference(const sum_range *s, int *least, int *most) {
  *least = *most = s->step->reference;
  if (s->step->reference != SMMA_NONE) return;
  for (int n = 0; n < s->classes; n++) {
    const smma_cut *cut = cut_of(s, n);
    const node_range x = s->of[n];
    const bool normalized = cut->brings == SMMA_BRINGS_NORMALIZED, nothing = cut->brings == SMMA_BRINGS_NOTHING;
    int low = normalized ? smma_minimum(x.lowest, x.least) : x.least,
        high = normalized ? smma_maximum(x.leading, x.most) : x.most;
    if (cut->zero_exponent != SMMA_NO_EXPONENT && cut->zero_exponent != SMMA_OWN_EXPONENT && !nothing)
      low = smma_minimum(low, cut->zero_exponent), high = smma_maximum(high, cut->zero_exponent);
    if (!nothing)
      low = smma_maximum(low + cut->offset, cut->least), high = smma_maximum(high + cut->offset, cut->least);
    *least = n ? smma_minimum(*least, low) : low;
    *most = n ? smma_maximum(*most, high) : high;
  }
  *most += s->step->reference_multiple - 1;
}

/* Returns an upper bound of a term's leading bit after alignment, which can round it up to one unit. */
static int aligned_leading(const sum_range *s, int class, int reference) {
  const smma_cut *cut = cut_of(s, class);
  return smma_maximum(s->of[class].leading + 1, reference - cut->bits + cut->again);
}

/* Returns the range of an unrounded sum. */
static node_range range_of_unrounded(const sum_range *s) {
  const smma_step *step = s->step;
  const int count = step->take + s->classes - 1, bits = smma_sum_bits(step, count);
  node_range x = s->of[0];
  int leading;
  bound_reference(s, &x.least, &x.most);
  leading = aligned_leading(s, 0, x.most);
  if (s->classes > 1) leading = smma_maximum(leading, aligned_leading(s, 1, x.most));
  x.leading = smma_maximum(leading + smma_bit_length((uint64_t)count - 1) + 1, x.most - bits + step->minus_one_shift);
  x.last = x.least - bits;
  if (s->classes > 1) x.lowest = smma_minimum(x.lowest, s->of[1].lowest);
  x.lowest = smma_minimum(x.lowest, x.last + SMMA_MOST_TERM_BITS);
  if (step->width != SMMA_NONE || smma_complements(step, count)) x.lowest = smma_minimum(x.lowest, x.last);
  return x;
}

/* Reports whether the exact accumulator has room for the terms of a sum; if not, sets `*lack` except its step. */
static bool has_room(const sum_range *s, smma_lack_of_room *lack) {
  const bool exact = !is_cut(&s->step->term);
  int least = s->of[0].last, most = s->of[0].leading, unused, reference;
  if (!exact && (s->classes == 1 || is_cut(&s->step->accumulator))) return true;
  bound_reference(s, &unused, &reference);
  for (int n = 0; n < s->classes; n++) {
    least = smma_minimum(least, s->of[n].last);
    most = smma_maximum(most, is_cut(cut_of(s, n)) ? aligned_leading(s, n, reference) : s->of[n].leading);
  }
  lack->of_terms = exact, lack->least = least, lack->most = most;
  return least >= SMMA_WIDE_LEAST && most < SMMA_WIDE_MOST;
}

/* Bounds the sums of a step, one after another, and replaces the range of its `count` nodes by that of its results.
   Returns false at a sum that lacks room. */
static bool pass_step(const smma_instruction *i, const smma_step *step, int count, node_range *nodes,
                      smma_lack_of_room *lack) {
  const bool chain = step->join == SMMA_JOIN_CHAIN;
  sum_range s = {step, chain ? 2 : 1, {*nodes, range_of_both(range_of_format(i->c), range_of_format(i->d))}};
  int sums = chain ? count / step->take / step->chains : 1;
  if (step->join == SMMA_JOIN_TREE)
    for (int window = step->window; window > step->take; window /= step->take) sums++;
  for (; sums > 0; sums--) {
    if (!has_room(&s, lack)) return false;
    s.of[chain] = step->output == SMMA_NO_FORMAT ? range_of_unrounded(&s) : range_of_format(step->output);
  }
  *nodes = s.of[chain];
  return true;
}

bool smma_has_room(const smma_instruction *i, const smma_composition *p, smma_lack_of_room *lack) {
  node_range nodes = range_of_products(i, p);
  for (lack->step = 0; lack->step < p->steps; lack->step++) {
    if (i->scale_block && lack->step == p->scaled_step)
      for (int n = 0; n < 2; n++) nodes = range_of_product(nodes, range_of_format(i->scale));
    if (!pass_step(i, &p->step[lack->step], smma_composition_nodes(p, i->k, lack->step), &nodes, lack)) return false;
  }
  return true;
}
