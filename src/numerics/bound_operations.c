/* Sums whose operations round one after another: FMA chains and sums of pairs. */
#include <math.h>

#include "numerics/bound_forms.h"

enum { LANES = SMMA_BOUND_LANES };

/* A partial sum. */
typedef struct {
  double value;        /* exact */
  double below, above; /* bounds of the unit's error */
  double unit;         /* a power of two that divides the unit's value; 0: not known */
} partial_sum;

static void round_partial(const smma_bound_rounding *r, partial_sum *x) {
  const double inexact = fabs(x->value) * 0x1p-48;
  smma_bound_add_rounding(r, x->value - x->below - inexact, x->value + x->above + inexact, x->unit, &x->below,
                          &x->above);
}

static partial_sum add_partial(const smma_bound_rounding *r, partial_sum x, partial_sum y) {
  partial_sum sum = {x.value + y.value, x.below + y.below, x.above + y.above, smma_smaller(x.unit, y.unit)};
  round_partial(r, &sum);
  return sum;
}

static partial_sum product_at(const smma_bound_rounding *r, const smma_bound_terms *t, int i, int lane) {
  partial_sum p = {t->value[i][lane], 0, 0, t->unit[i][lane]};
  round_partial(r, &p);
  return p;
}

void smma_bound_add_pairwise(const smma_operation *o, const smma_bound_rounding *f32, const smma_bound_factor *a,
                             const smma_bound_factors *b, double slack, smma_bound_sum *s) {
  const int width = o->rule.with.ftz_addmul.pairwise;
  smma_bound_terms t;
  t.flushes = true, t.is_long = false;
  for (int k = 0; k < o->k; k += width) {
    for (int i = 0; i < width; i++) smma_bound_take_product(&a[k + i], &b[k + i], s, &t, i);
    for (int j = 0; j < LANES; j++) {
      partial_sum sum = add_partial(f32, product_at(f32, &t, 0, j), product_at(f32, &t, 1, j));
      if (width == 4)
        sum = add_partial(f32, sum, add_partial(f32, product_at(f32, &t, 2, j), product_at(f32, &t, 3, j)));
      s->below[j] += sum.below, s->above[j] += sum.above;
      s->unit[j] = smma_smaller(s->unit[j], sum.unit);
      smma_bound_round(s, j, slack, f32);
    }
  }
}

/* Adds products of FP64 factors to the exact sums, each as two doubles. Accounts for products whose low part is below
   the least double. */
static void add_wide_product(const smma_bound_factor *a, const smma_bound_factors *b, smma_bound_sum *s) {
  for (int j = 0; j < LANES; j++) {
    const double x = a->value * b->value[j];
    smma_bound_add_exact(s, j, x, fma(a->value, b->value[j], -x));
    s->unit[j] = smma_smaller(s->unit[j], a->unit * b->unit[j]);
    s->below[j] += 0x1p-1074, s->above[j] += 0x1p-1074;
  }
}

void smma_bound_add_one_by_one(const smma_operation *o, const smma_bound_rounding *r, const smma_bound_factor *a,
                               const smma_bound_factors *b, double slack, smma_bound_sum *s) {
  const bool last_first = o->rule.algorithm == SMMA_FTZ_FMA;
  smma_bound_terms t;
  const bool wide = smma_bound_is_wide(o->a) || smma_bound_is_wide(o->b);
  t.count = 1, t.flushes = last_first, t.is_long = smma_bound_has_long_products(o);
  for (int i = 0; i < o->k; i++) {
    const int k = last_first ? o->k - 1 - i : i;
    if (wide) {
      add_wide_product(&a[k], &b[k], s);
    } else {
      smma_bound_take_product(&a[k], &b[k], s, &t, 0);
      smma_bound_lower_units(&t, s->unit);
    }
    for (int j = 0; j < LANES; j++) smma_bound_round(s, j, slack, r);
  }
}

void smma_bound_add_pairs(const smma_operation *o, const smma_pairs *pairs, const smma_bound_rounding *r,
                          const smma_bound_factor *a, const smma_bound_factors *b, double slack, smma_bound_sum *s) {
  const bool wide = smma_bound_is_wide(o->a) || smma_bound_is_wide(o->b);
  const double least = wide ? 0x1p-1074 : 0; /* the error of an FP64 product below a double's range */
  smma_bound_rounding of_pair = *r;
  smma_bound_terms t;
  if (pairs->range != pairs->output) {
    const smma_bound_rounding range = smma_bound_rounding_to(pairs->range, pairs->rounding);
    of_pair.least = range.least, of_pair.limit = range.limit;
  }
  t.flushes = r->flushes, t.is_long = smma_bound_has_long_products(o);
  for (int k = 0; k < o->k; k += 2) {
    for (int i = 0; i < 2; i++) smma_bound_take_product(&a[k + i], &b[k + i], s, &t, i);
    for (int j = 0; j < LANES; j++) {
      partial_sum pair[2];
      for (int i = 0; i < 2; i++) {
        pair[i] = (partial_sum){t.value[i][j], least, least, t.unit[i][j]};
        if (!pairs->fused) round_partial(r, &pair[i]);
      }
      pair[0] = add_partial(&of_pair, pair[0], pair[1]);
      s->below[j] += pair[0].below, s->above[j] += pair[0].above;
      s->unit[j] = smma_smaller(s->unit[j], pair[0].unit);
      smma_bound_round(s, j, slack, r);
    }
  }
}
