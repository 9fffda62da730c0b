/* Products as the terms of sums. */
#include <math.h>

#include "numerics/bound_forms.h"

enum { LANES = SMMA_BOUND_LANES };

bool smma_bound_is_wide(smma_format format) { return !smma_is_in_range_of_f32(smma_encoding_of(format)); }

bool smma_bound_has_long_products(const smma_operation *o) {
  const int scales = o->scale_block ? 2 * (smma_encoding_of(o->scale).fraction_bits + 1) : 0;
  return smma_encoding_of(o->a).fraction_bits + smma_encoding_of(o->b).fraction_bits + 2 + scales > 53;
}

/* Adds to the bounds the error of a product that the unit computes from a flushed operand. */
static void note_flush(double exact, double used, double *below, double *above) {
  *below += smma_larger(exact - used, 0);
  *above += smma_larger(used - exact, 0);
}

void smma_bound_take_product(const smma_bound_factor *a, const smma_bound_factors *b, smma_bound_sum *s,
                             smma_bound_terms *t, int i) {
  for (int j = 0; j < LANES; j++) {
    const double x = a->value * b->value[j], sum = s->high[j] + x, part = sum - s->high[j];
    s->low[j] += (s->high[j] - (sum - part)) + (x - part); /* Knuth's TwoSum */
    s->high[j] = sum;
    s->size[j] += fabs(x);
    t->value[i][j] = a->used * b->used[j];
    t->lead[i][j] = a->lead * b->lead[j];
    t->unit[i][j] = a->unit * b->unit[j];
  }
  for (int j = 0; t->is_long && j < LANES; j++) s->low[j] += fma(a->value, b->value[j], -(a->value * b->value[j]));
  for (int j = 0; t->flushes && j < LANES; j++)
    if (a->value != a->used || b->value[j] != b->used[j])
      note_flush(a->value * b->value[j], t->value[i][j], &s->below[j], &s->above[j]);
}

/* Replaces `count` terms by one term, their sum. A double holds it exactly: products are below 2^13, and scale factors
   have 8 bits. */
static void join_terms(smma_bound_terms *t, int first, int count, int into) {
  for (int j = 0; j < LANES; j++) {
    double value = 0, lead = 0, unit = SMMA_BOUND_GREAT;
    for (int i = first; i < first + count; i++) {
      value += t->value[i][j];
      lead = smma_larger(lead, t->lead[i][j]);
      unit = smma_smaller(unit, t->unit[i][j]);
    }
    t->value[into][j] = value, t->lead[into][j] = lead, t->unit[into][j] = unit;
  }
}

void smma_bound_take_block(const smma_operation *o, const smma_g_fdpa *g, const smma_bound_factor *a,
                           const smma_bound_factors *b, int block, smma_bound_sum *s, smma_bound_terms *t) {
  const int group = o->rule.algorithm == SMMA_GST_FDPA ? o->rule.with.gst_fdpa.group : 1;
  t->count = g ? g->block : smma_block_of(o);
  for (int i = 0; i < t->count; i++) {
    const int k = g ? smma_dealt_index(g->block, g->interleave, o->k, block, i) : smma_product_index(o, block, i);
    smma_bound_take_product(&a[k], &b[k], s, t, i);
  }
  if (group == 1) return;
  for (int i = 0; i < t->count / group; i++) join_terms(t, i * group, group, i);
  t->count /= group;
}

void smma_bound_greatest_leads(const smma_bound_terms *t, int first, int stride, double lead[LANES]) {
  for (int j = 0; j < LANES; j++) lead[j] = 0;
  for (int i = first; i < t->count; i += stride)
    for (int j = 0; j < LANES; j++) lead[j] = t->lead[i][j] > lead[j] ? t->lead[i][j] : lead[j];
}

void smma_bound_normalize_leads(smma_bound_terms *t) {
  for (int i = 0; i < t->count; i++)
    for (int j = 0; j < LANES; j++) t->lead[i][j] = smma_power_below(fabs(t->value[i][j]));
}

void smma_bound_lower_units(const smma_bound_terms *t, double unit[LANES]) {
  for (int i = 0; i < t->count; i++)
    for (int j = 0; j < LANES; j++) unit[j] = t->unit[i][j] < unit[j] ? t->unit[i][j] : unit[j];
}
