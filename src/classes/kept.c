#include "classes/kept.h"

#include <stdlib.h>

size_t smma_kept_slots(const smma_sample *s, size_t slot[SMMA_SORTED_ROWS], double weight[SMMA_SORTED_ROWS]) {
  size_t count = 0;
  for (int turn = 0; turn < SMMA_KEPT_OF_SORT; turn++)
    for (size_t n = 0; n < s->count && count < SMMA_SORTED_ROWS; n++)
      if (turn < s->sort[n].kept) slot[count++] = n * SMMA_KEPT_OF_SORT + (size_t)turn;
  for (size_t i = 0; i < count; i++) {
    const size_t sort = slot[i] / SMMA_KEPT_OF_SORT;
    size_t taken = 0;
    for (size_t j = 0; j < count; j++) taken += slot[j] / SMMA_KEPT_OF_SORT == sort;
    weight[i] = (double)s->sort[sort].count / (double)taken;
  }
  return count;
}

/* ---- Mismatches of a campaign ---- */

/* Test vectors with their numbers, the other unit's results, and weights. */
typedef struct {
  smma_rows rows;
  uint64_t number[SMMA_MATCHING_ROWS], expected[SMMA_MATCHING_ROWS];
  double weight[SMMA_MATCHING_ROWS];
  size_t count;
} labelled_rows;

/* Removes the vectors with a mismatch if `differing`, otherwise the vectors without a mismatch. Returns how many it
   removed. */
static size_t remove_rows(const smma_operation *o, labelled_rows *x, bool differing) {
  size_t kept = 0;
  const size_t before = x->count;
  for (size_t i = 0; i < x->count; i++) {
    if (smma_same_result(o, smma_rows_result(&x->rows, i), x->expected[i]) != differing) continue;
    if (kept < i) smma_rows_copy(&x->rows, kept, &x->rows, i, 1);
    x->number[kept] = x->number[i];
    x->expected[kept] = x->expected[i];
    x->weight[kept++] = x->weight[i];
  }
  x->count = kept;
  return before - kept;
}

/* Chooses numbers of vectors of every kind, spread over all compared vectors. */
static void choose_others(const smma_campaign_result *r, labelled_rows *x) {
  x->count = r->rows < SMMA_MATCHING_ROWS ? (size_t)r->rows : SMMA_MATCHING_ROWS;
  for (size_t i = 0; i < x->count; i++)
    x->number[i] = r->rows <= SMMA_MATCHING_ROWS ? i : (i * UINT64_C(0x9e3779b97f4a7c15) >> 16) % r->rows;
}

static void choose_kept(const smma_sample *s, labelled_rows *x) {
  size_t slot[SMMA_SORTED_ROWS];
  x->count = smma_kept_slots(s, slot, x->weight);
  for (size_t i = 0; i < x->count; i++)
    x->number[i] = s->sort[slot[i] / SMMA_KEPT_OF_SORT].row[slot[i] % SMMA_KEPT_OF_SORT];
}

bool smma_classify_kept(const smma_campaign *c, const smma_instruction *i, const smma_campaign_result *r,
                        smma_classes *classes, size_t *agreeing_again, size_t most_asked,
                        const smma_class_watcher *watcher, smma_error *error) {
  const smma_operation o = smma_operation_of(i);
  const bool recording = smma_unit_is_recording(c->unit) || smma_unit_is_recording(c->against);
  smma_campaign_rows numbered = {0};
  labelled_rows *x = calloc(2, sizeof *x);
  bool good = x && smma_rows_allocate(i, SMMA_SORTED_ROWS, &x[0].rows) &&
              smma_rows_allocate(i, SMMA_MATCHING_ROWS, &x[1].rows) && smma_campaign_number(c, i, &numbered);
  if (!good) smma_no_memory(error);
  if (good) {
    choose_kept(r->kept, &x[0]);
    choose_others(r, &x[1]);
  }
  for (int n = 0; good && n < 2; n++)
    good = smma_campaign_again(c, &numbered, x[n].number, x[n].count, &x[n].rows, x[n].expected, error);
  if (good) {
    *agreeing_again = remove_rows(&o, &x[0], false);
    remove_rows(&o, &x[1], true);
    good = smma_classify(
        &(smma_class_request){.instruction = i,
                              .unit = recording ? NULL : c->unit,
                              .against = recording ? NULL : c->against,
                              .rows = &x[0].rows,
                              .count = x[0].count,
                              .expected = x[0].expected,
                              .index = x[0].number,
                              .weight = x[0].weight,
                              .matches = &x[1].rows,
                              .matching = x[1].count,
                              .match_weight = x[1].count ? (double)(r->rows - r->mismatches) / (double)x[1].count : 0,
                              .most_asked = most_asked,
                              .watcher = watcher ? *watcher : (smma_class_watcher){NULL, NULL}},
        classes, error);
  }
  for (int n = 0; x && n < 2; n++) smma_rows_free(&x[n].rows);
  smma_campaign_rows_free(&numbered);
  free(x);
  return good;
}
