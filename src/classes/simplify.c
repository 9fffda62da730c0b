/* Minimises the vector of a class. */
#include "campaign/campaign.h"
#include "classes/work.h"

bool smma_class_others_matter(const smma_class_work *w, const smma_row *row, int change) {
  const uint64_t base = smma_changed_row(&w->base, row);
  for (int n = 0; n < w->count; n++)
    if (n != change && !smma_class_same(w, base, smma_changed_row(&w->single[n], row))) return true;
  return false;
}

bool smma_class_is_satisfied(const smma_row *row, uint64_t expected, void *context) {
  const smma_class_condition *j = context;
  const smma_class_work *w = j->w;
  smma_class_watch(w);
  if (smma_class_same(w, expected, row->d)) return false;
  if (j->change >= 0 ? !smma_class_same(w, row->d, smma_changed_row(&w->single[j->change], row))
                     : smma_class_same(w, row->d, smma_changed_row(&w->together, row)))
    return false;
  return !j->alone || !smma_class_others_matter(w, row, j->change);
}

long smma_class_size(const smma_instruction *i, const smma_row *row) {
  long bits = __builtin_popcountll(row->c);
  for (int k = 0; k < i->k; k++) bits += __builtin_popcountll(row->a[k]) + __builtin_popcountll(row->b[k]);
  return smma_row_terms(i, row) * 100000L + bits;
}

bool smma_class_simplify(smma_class_work *w, smma_mismatch_class *c, int change) {
  smma_class_condition j = {w, change, false};
  const smma_row_judge judge = {smma_class_is_satisfied, &j, &w->classes->asked};
  c->is_alone = j.alone = !smma_class_others_matter(w, &c->row, change);
  if (!smma_class_can_ask(w) || smma_class_is_ended(w)) return true;
  if (!smma_class_is_satisfied(&c->row, c->expected, &j)) return true;
  c->is_simplified = true;
  if (!smma_minimise_while(w->request->unit, w->request->against, w->request->instruction, &judge, &c->row,
                           &c->expected, w->error))
    return false;
  c->is_alone = !smma_class_others_matter(w, &c->row, change);
  return true;
}
