/* Minimises the vectors of classes. */
#include <stdlib.h>

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

bool smma_class_simplify(smma_class_work *w, smma_mismatch_class *const *list, size_t count, int change) {
  smma_class_condition *condition = calloc(count + 1, sizeof *condition);
  smma_row_judge *judge = calloc(count + 1, sizeof *judge);
  smma_row_to_minimise *row = calloc(count + 1, sizeof *row);
  size_t rows = 0;
  bool good = (condition && judge && row) || smma_no_memory(w->error);
  for (size_t n = 0; good && n < count; n++) {
    smma_mismatch_class *c = list[n];
    c->is_alone = !smma_class_others_matter(w, &c->row, change);
    condition[n] = (smma_class_condition){w, change, c->is_alone};
    if (!smma_class_can_ask(w) || smma_class_is_ended(w)) continue;
    if (!smma_class_is_satisfied(&c->row, c->expected, &condition[n])) continue;
    c->is_simplified = true;
    judge[n] = (smma_row_judge){smma_class_is_satisfied, &condition[n], &w->classes->asked};
    row[rows++] = (smma_row_to_minimise){&c->row, &c->expected, &judge[n]};
  }
  good = good && (!rows || smma_minimise_rows(w->request->unit, w->request->against, w->request->instruction, row, rows,
                                              w->error));
  for (size_t n = 0; good && n < count; n++)
    if (list[n]->is_simplified) list[n]->is_alone = !smma_class_others_matter(w, &list[n]->row, change);
  free(condition);
  free(judge);
  free(row);
  return good;
}
