#include "classes/classes.h"

#include <stdlib.h>

#include "classes/work.h"

enum { CLASS_EVENTS = 64 /* vectors of a class searched for events */ };

/* Adds the class with the next number, if vectors were assigned to it. `change` is the index of the chosen change that
   explains the class, or -1 if the rule's own model has the unit's results (`is_model`). */
static bool add_class(smma_class_work *w, int change, bool is_model) {
  const int class = w->classes->count;
  smma_mismatch_class c = {.is_changed = change >= 0, .is_model = is_model};
  size_t simplest = w->request->count;
  bool alone = false;
  for (size_t i = 0; i < w->request->count; i++) {
    smma_row row, other;
    bool is_alone;
    if (w->class[i] != class) continue;
    c.rows++;
    c.mismatches += w->request->weight[i];
    smma_rows_get(&w->samples.rows, i, &row);
    is_alone = !smma_class_others_matter(w, &row, change);
    if (simplest < w->request->count) smma_rows_get(&w->samples.rows, simplest, &other);
    if (simplest < w->request->count &&
        (is_alone < alone || (is_alone == alone && smma_class_size(w->request->instruction, &row) >=
                                                       smma_class_size(w->request->instruction, &other))))
      continue;
    simplest = i;
    alone = is_alone;
  }
  if (c.rows == 0) return true;
  c.row = smma_class_of_row(w, simplest).row;
  c.expected = w->request->expected[simplest];
  c.index = w->request->index[simplest];
  if (change >= 0) {
    c.change = w->choice[change];
    c.refuting = w->broken[change];
    c.others = w->equivalents[change];
    for (size_t n = 0; n < c.others && n < SMMA_TOLD_CHANGES; n++) c.other[n] = w->equivalent[change][n];
  }
  if (!is_model &&
      (!smma_class_simplify(w, (smma_mismatch_class *[]){&c}, 1, change) || !smma_class_place(w, &c, change)))
    return false;
  w->classes->list[w->classes->count++] = c;
  return true;
}

/* Sorts the mismatches that a single change explains. Then marks the mismatches that need several changes. */
static bool sort_changes(smma_class_work *w) {
  smma_classes *f = w->classes;
  bool good = true;
  for (size_t i = 0; i < w->request->count; i++)
    if (smma_class_same(w, smma_changed_sample(&w->base, &w->samples, i), smma_class_unit_result(w, i)))
      w->class[i] = f->count;
  good = add_class(w, -1, true);
  for (int n = 0; good && n < w->count; n++) {
    for (size_t i = 0; i < w->request->count; i++)
      if (w->class[i] == SMMA_CLASS_UNKNOWN &&
          smma_class_same(w, smma_changed_sample(&w->single[n], &w->samples, i), smma_class_unit_result(w, i)))
        w->class[i] = f->count;
    good = add_class(w, n, false);
  }
  for (size_t i = 0; i < w->request->count; i++)
    if (w->class[i] == SMMA_CLASS_UNKNOWN && smma_class_is_right(w, i)) {
      w->class[i] = SMMA_CLASS_SEVERAL;
      f->together++;
      f->together_mismatches += w->request->weight[i];
    }
  return good;
}

static bool find_common_events(smma_class_work *w) {
  smma_classes *f = w->classes;
  smma_row_events others, rows;
  smma_row row;
  bool good;
  if (!smma_event_space_make(w->request->instruction, &f->space)) return true;
  f->has_events = true;
  good = smma_row_events_make(&f->space, SMMA_OTHER_ROWS, &others);
  for (size_t i = 0; good && i < w->request->matching && i < SMMA_OTHER_ROWS; i++) {
    smma_rows_get(w->request->matches, i, &row);
    smma_row_events_add(&others, &row);
  }
  for (int n = 0; good && n < f->count; n++) {
    smma_mismatch_class *c = &f->list[n];
    good = smma_row_events_make(&f->space, CLASS_EVENTS + 1, &rows);
    if (good && c->is_simplified) smma_row_events_add(&rows, &c->row);
    for (size_t i = 0; good && i < w->request->count && rows.rows < CLASS_EVENTS; i++) {
      if (w->class[i] != n) continue;
      smma_rows_get(&w->samples.rows, i, &row);
      smma_row_events_add(&rows, &row);
    }
    if (good) c->events = smma_common_events(&rows, &others, SMMA_TOLD_EVENTS, c->event);
    smma_row_events_free(&rows);
  }
  smma_row_events_free(&others);
  return good || smma_no_memory(w->error);
}

static int by_mismatches(const void *x, const void *y) {
  const smma_mismatch_class *c = x, *d = y;
  if (c->mismatches != d->mismatches) return c->mismatches > d->mismatches ? -1 : 1;
  return c->index < d->index ? -1 : c->index > d->index;
}

static bool open_work(smma_class_work *w) {
  const smma_class_request *q = w->request;
  w->total = q->count + q->matching;
  w->change = smma_changes_of(q->instruction, &w->changes);
  w->model_d = malloc((w->total + 1) * sizeof *w->model_d);
  w->class = malloc((q->count + 1) * sizeof *w->class);
  w->is_refuted = calloc(w->changes + 1, sizeof *w->is_refuted);
  if (!smma_samples_open(q->instruction, &w->samples) || !w->change || !w->model_d || !w->class || !w->is_refuted)
    return false;
  if (!smma_samples_add(&w->samples, q->rows, 0, q->count)) return false;
  if (q->matching && !smma_samples_add(&w->samples, q->matches, 0, q->matching)) return false;
  smma_changed_make(q->instruction, NULL, 0, &w->base);
  w->together = w->base;
  for (size_t i = 0; i < w->total; i++) w->model_d[i] = smma_changed_sample(&w->base, &w->samples, i);
  for (size_t i = 0; i < q->count; i++) w->class[i] = SMMA_CLASS_UNKNOWN;
  return true;
}

static void close_work(smma_class_work *w) {
  for (int n = 0; n < w->count; n++) free(w->equivalent[n]);
  smma_samples_close(&w->samples);
  free(w->change);
  free(w->model_d);
  free(w->class);
  free(w->is_refuted);
}

static bool classify(smma_class_work *w) {
  smma_classes *f = w->classes;
  bool good = open_work(w) || smma_no_memory(w->error);
  f->tries = w->changes;
  good = good && smma_class_choose_changes(w) && sort_changes(w);
  f->is_complete = good && f->count && !smma_class_any_wrong(w);
  for (size_t i = 0; f->is_complete && i < w->total; i++) f->is_complete = smma_class_is_right(w, i);
  good = good && smma_class_sort_others(w);
  for (size_t i = 0; good && i < w->request->count; i++) f->unsorted += w->class[i] == SMMA_CLASS_UNKNOWN;
  return good && find_common_events(w);
}

bool smma_classify(const smma_class_request *q, smma_classes *f, smma_error *error) {
  smma_class_work *w = calloc(1, sizeof *w);
  bool good;
  *f = (smma_classes){.kept = q->count, .matching = q->matching};
  if (!w) return smma_no_memory(error);
  w->request = q;
  w->classes = f;
  w->error = error;
  w->operation = smma_operation_of(q->instruction);
  good = classify(w);
  close_work(w);
  free(w);
  qsort(f->list, (size_t)f->count, sizeof *f->list, by_mismatches);
  return good;
}
