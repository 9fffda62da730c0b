/* Proofs that two products with plans are the same function: for one K from the schedules, for every K from the plans.
 */
#include <stdio.h>
#include <string.h>

#include "equal/planned_parts.h"
#include "equal/product.h"
#include "equal/sums.h"

/* ---- For one K ---- */

bool smma_same_epilogue(const smma_plan *x, const smma_plan *y) {
  if (x->epilogues != y->epilogues) return false;
  for (size_t i = 0; i < x->epilogues; i++)
    if (x->epilogue[i].kind != y->epilogue[i].kind ||
        (x->epilogue[i].kind >= SMMA_EPILOGUE_ROUND && x->epilogue[i].format != y->epilogue[i].format))
      return false;
  return true;
}

bool smma_planned_same_rules(const smma_planned_pair *x) {
  const smma_operation *o = x->operation;
  const smma_form form[2] = {smma_form_of(&o[0]), smma_form_of(&o[1])};
  return smma_same_form(&form[0], &form[1]) && smma_same_nan(o[0].rule.nan, o[1].rule.nan);
}

bool smma_planned_are_exact(const smma_planned_pair *x, const smma_planned_schedules *c) {
  for (int t = 0; t < 2; t++)
    if (x->takes_c || !smma_schedule_is_exact(&x->operation[t], &c->schedule[t], c->k)) return false;
  return true;
}

smma_planned_proof smma_planned_prove(const smma_planned_pair *x, const smma_planned_schedules *c) {
  const bool exact = smma_planned_are_exact(x, c);
  smma_sums sums = {0};
  size_t sum[2];
  bool done = true;
  if (!smma_same_epilogue(x->plan[0], x->plan[1]) || (!exact && !smma_planned_same_rules(x))) return SMMA_SUMS_UNPROVED;
  for (int t = 0; done && t < 2; t++)
    done = smma_sums_add(&sums, &x->operation[t], &c->schedule[t], c->k, x->takes_c, &sum[t]);
  smma_sums_free(&sums);
  if (!done) return SMMA_SUMS_NO_MEMORY;
  return sum[0] != sum[1] ? SMMA_SUMS_UNPROVED : exact ? SMMA_SUMS_EXACT : SMMA_SUMS_SAME;
}

/* ---- For every K ---- */

/* Reports whether results can depend on the length of a group. They cannot if the length is a multiple of the chain's
   step and padding a group with zeros changes nothing. */
static bool are_groups_visible(const smma_planned_pair *x, int t, size_t group) {
  const smma_operation *o = &x->operation[t];
  const smma_form form = smma_form_of(o);
  const bool idle =
      smma_zeros_add_nothing(o) || (!x->takes_c && smma_is_off_negative_zero(o, true) && smma_zeros_keep_sums(o));
  return !form.chained || group % (size_t)form.step || !idle || x->plan[t]->residue != SMMA_RESIDUE_LAST;
}

/* Reports whether results can depend on totals starting from +0. They can if a part may be -0 or starts from C. */
static bool are_zeros_visible(const smma_planned_pair *x, int t) {
  const smma_plan *p = x->plan[t];
  bool plain = !x->takes_c && smma_is_off_negative_zero(&x->operation[t], true);
  for (size_t n = 0; n < p->levels; n++) {
    const smma_plan_level *l = &p->level[n];
    plain = plain && l->stored == SMMA_STORED_AS_IS && l->total == SMMA_STORED_AS_IS && l->with == SMMA_WITH_ADD;
  }
  return !plain;
}

/* Returns a plan with its defaults filled in, without properties that cannot change results and without levels of one
   part. */
static smma_plan normal_plan(const smma_planned_pair *x, int t) {
  const smma_plan *plan = x->plan[t];
  const bool zeros = are_zeros_visible(x, t);
  const smma_operation *o = &x->operation[t];
  smma_plan p = *plan;
  p.d = smma_plan_d_format(plan, x->target[t].instruction);
  if (p.group == 0) p.group = (size_t)o->k;
  if (!are_groups_visible(x, t, p.group)) p.group = (size_t)smma_form_of(o).step;
  if (!x->takes_c) p.starts_from_c = false;
  p.levels = 0;
  for (size_t n = 0; n < plan->levels; n++) {
    smma_plan_level l = plan->level[n];
    const bool one_part = (l.deal == SMMA_DEAL_CONTIGUOUS || l.deal == SMMA_DEAL_INTERLEAVED) && l.count == 1;
    if (l.stored == SMMA_STORED_AS_D) l.stored = (int)p.d;
    if (l.total == SMMA_STORED_AS_D) l.total = (int)p.d;
    l.from_zero = l.from_zero && zeros;
    if (one_part && !l.from_zero && !l.whole && l.stored < 0 && l.total < 0 && !p.lost_tail) continue;
    p.level[p.levels++] = l;
  }
  return p;
}

static bool same_level(const smma_plan_level *x, const smma_plan_level *y) {
  if (x->ranges != y->ranges || x->strides != y->strides) return false;
  if (x->ranges && memcmp(x->range, y->range, x->ranges * sizeof *x->range) != 0) return false;
  if (memcmp(x->stride, y->stride, x->strides * sizeof *x->stride) != 0) return false;
  return x->deal == y->deal && x->count == y->count && x->grain == y->grain && x->fits == y->fits &&
         x->whole == y->whole && x->fold == y->fold && x->with == y->with && x->from_zero == y->from_zero &&
         x->stored == y->stored && x->total == y->total;
}

static bool same_plan(const smma_plan *x, const smma_plan *y) {
  if (x->levels != y->levels || x->group != y->group || x->residue != y->residue || x->tile != y->tile ||
      x->lost_tail != y->lost_tail || x->starts_from_c != y->starts_from_c || x->d != y->d)
    return false;
  for (size_t n = 0; n < x->levels; n++)
    if (!same_level(&x->level[n], &y->level[n])) return false;
  return smma_same_epilogue(x, y);
}

static bool has_every_k(const smma_plan *p) {
  for (size_t n = 0; n < p->levels; n++)
    if (p->level[n].deal == SMMA_DEAL_LIST) return false;
  return p->lost_tail == 0;
}

bool smma_wraps(const smma_operation *o) {
  return o->rule.algorithm == SMMA_INTEGER && o->rule.with.integer.overflow == SMMA_INTEGER_WRAPS;
}

bool smma_planned_prove_for_all(const smma_planned_pair *x) {
  const smma_plan p = normal_plan(x, 0), q = normal_plan(x, 1);
  smma_planned_equality *r = x->result;
  const bool alike = smma_products_of(&x->operation[0].rule) == smma_products_of(&x->operation[1].rule);
  if (alike && smma_wraps(&x->operation[0]) && smma_wraps(&x->operation[1]) && has_every_k(&p) && has_every_k(&q) &&
      smma_same_epilogue(&p, &q)) {
    snprintf(r->why, sizeof r->why, "both add integers exactly modulo 2^32, where neither order nor parts count");
    return true;
  }
  if (!same_plan(&p, &q) || !smma_planned_same_rules(x)) return false;
  snprintf(r->why, sizeof r->why,
           "both plans differ only in what no result shows, and the "
           "instructions have the same rule");
  return true;
}
