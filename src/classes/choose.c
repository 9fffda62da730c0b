/* Chooses the changes of the model that explain the most mismatches, one after another. */
#include <stdlib.h>

#include "classes/work.h"
#include "host/thread.h"

enum {
  MISMATCHES_BEFORE_GIVING_UP = 128, /* a change of a parameter must correct one of this many mismatches */
  BROKEN_WEIGHT = 4,                 /* one broken vector outweighs this many corrected vectors */
  MOST_ATTEMPTS = 8                  /* changes tried one after another before the search ends */
};

/* Limit of matching vectors that a change may break, as a share of the mismatches that it explains (both weighted). */
#define MOST_BROKEN 0.03

static smma_class_effect try_change(const smma_class_work *w, const smma_change *x) {
  smma_class_effect e = {0};
  smma_changed m;
  size_t attempts = 0;
  double mended = 0, most;
  if (!smma_class_make_with(w, x, &m)) return (smma_class_effect){.is_rejected = true};
  for (size_t i = 0; i < w->request->count; i++) {
    uint64_t d;
    if (smma_class_is_right(w, i)) continue;
    if (attempts++ == MISMATCHES_BEFORE_GIVING_UP && e.corrected == 0 && x->sort != SMMA_CHANGED_NUMBER) return e;
    d = smma_changed_sample(&m, &w->samples, i);
    if (smma_class_same(w, d, smma_class_unit_result(w, i))) {
      e.corrected++;
      mended += w->request->weight[i];
    } else if (!smma_class_same(w, d, w->model_d[i])) {
      e.still_wrong++;
    }
  }
  most = mended * MOST_BROKEN;
  for (size_t i = w->total; e.corrected && i-- > 0 && !e.is_rejected;) /* matching vectors first */
    if (smma_class_is_right(w, i) &&
        !smma_class_same(w, smma_changed_sample(&m, &w->samples, i), smma_class_unit_result(w, i))) {
      most -= i < w->request->count ? w->request->weight[i] : w->request->match_weight;
      e.broken++;
      e.is_rejected = most < 0;
    }
  return e;
}

/* Reports whether two changes, neither of them refuted, have the same results for all mismatches that are not yet
   explained, and break equally many vectors. */
static bool is_same_change(const smma_class_work *w, const smma_class_effect *e, size_t one, size_t other) {
  smma_changed m, n;
  if (w->is_refuted[other] || e[one].corrected != e[other].corrected || e[one].broken != e[other].broken) return false;
  if (!smma_class_make_with(w, &w->change[one], &m) || !smma_class_make_with(w, &w->change[other], &n)) return false;
  for (size_t i = 0; i < w->request->count; i++)
    if (!smma_class_is_right(w, i) &&
        !smma_class_same(w, smma_changed_sample(&m, &w->samples, i), smma_changed_sample(&n, &w->samples, i)))
      return false;
  return true;
}

static bool keep_alike(smma_class_work *w, const smma_class_effect *e, size_t best) {
  smma_change *list = malloc(SMMA_TOLD_CHANGES * sizeof *list);
  size_t count = 0;
  if (!list) return smma_no_memory(w->error);
  for (size_t c = 0; c < w->changes; c++)
    if (c != best && is_same_change(w, e, best, c) && count++ < SMMA_TOLD_CHANGES) list[count - 1] = w->change[c];
  w->equivalent[w->count] = list;
  w->equivalents[w->count] = count;
  return true;
}

/* Rejects a change and all changes with the same results. */
static void reject(smma_class_work *w, const smma_class_effect *e, size_t refuted) {
  for (size_t c = 0; c < w->changes; c++)
    if (c != refuted && is_same_change(w, e, refuted, c)) w->is_refuted[c] = true;
  w->is_refuted[refuted] = true;
}

/* Reports whether a change explains more vectors. One that breaks vectors must explain more to compensate. */
static bool is_better(const smma_class_effect *x, const smma_class_effect *y) {
  return (long)x->corrected - BROKEN_WEIGHT * (long)x->broken > (long)y->corrected - BROKEN_WEIGHT * (long)y->broken;
}

static bool choose(smma_class_work *w, const smma_class_effect *e, size_t best) {
  if (!keep_alike(w, e, best)) return false;
  smma_class_make_with(w, &w->change[best], &w->together);
  w->broken[w->count] = e[best].broken;
  w->choice[w->count] = w->change[best];
  smma_changed_make(w->request->instruction, &w->change[best], 1, &w->single[w->count]);
  w->count++;
  for (size_t i = 0; i < w->total; i++) w->model_d[i] = smma_changed_sample(&w->together, &w->samples, i);
  return true;
}

/* Chooses the best change; sets `*chosen` to false if there is no acceptable change. */
static bool choose_next(smma_class_work *w, smma_class_effect *e, bool *chosen) {
#pragma omp parallel for num_threads(smma_default_threads()) schedule(dynamic, 8)
  for (size_t c = 0; c < w->changes; c++)
    if (!w->is_refuted[c]) e[c] = try_change(w, &w->change[c]);
  *chosen = false;
  for (int tries = 0; tries < MOST_ATTEMPTS; tries++) {
    size_t best = w->changes;
    for (size_t c = 0; c < w->changes; c++) {
      w->is_refuted[c] = w->is_refuted[c] || e[c].is_rejected;
      if (!w->is_refuted[c] && e[c].corrected && e[c].corrected >= e[c].still_wrong &&
          (best == w->changes || is_better(&e[c], &e[best])))
        best = c;
    }
    if (best == w->changes) return true;
    if (!smma_class_confirm(w, &w->change[best], &e[best], chosen)) return false;
    if (*chosen) return choose(w, e, best);
    reject(w, e, best);
  }
  return true;
}

bool smma_class_any_wrong(const smma_class_work *w) {
  for (size_t i = 0; i < w->request->count; i++)
    if (!smma_class_is_right(w, i)) return true;
  return false;
}

bool smma_class_choose_changes(smma_class_work *w) {
  smma_class_effect *e = calloc(w->changes ? w->changes : 1, sizeof *e);
  bool good = e || smma_no_memory(w->error), chosen = true;
  while (good && chosen && smma_class_any_wrong(w) && w->count < SMMA_MOST_CHANGES - 1)
    good = choose_next(w, e, &chosen);
  free(e);
  return good;
}
