/* Compares the candidates that match the first sample with more of D, and describes those that fit. */
#include <stdlib.h>
#include <string.h>

#include "equal/equal.h"
#include "host/count.h"
#include "match/compare.h"
#include "match/search.h"

enum {
  MOST_WHOLE = 256, /* most candidates that are compared with D */
  MOST_NEAR = 8,    /* most candidates, of those nearest in a block, that are compared with the whole of D */
  BLOCK = 128       /* rows and columns compared before the whole product */
};

static const smma_match_class *class_of(const smma_match_work *s, const smma_match_trial *c) {
  return s->set[c->set].class[c->class];
}

static smma_plan *plan_of(const smma_match_work *s, const smma_match_trial *c) {
  return smma_recipe_plan(&s->set[c->set].entry[c->entry].recipe, s->data, s->library_instruction,
                          s->library_instructions);
}

/* ---- Further samples ---- */

bool smma_match_compute_sample(const smma_match_work *s, smma_evaluator **evaluator, const smma_match_trial *c,
                               const smma_match_elements *elements, uint64_t d[SMMA_MATCH_SAMPLE]) {
  const smma_match_class *class = class_of(s, c);
  smma_plan *plan = plan_of(s, c);
  bool done;
  if (!*evaluator) *evaluator = smma_evaluator_new(s->data, elements, &class, 1, 0, 1, s->signed_zeros);
  done = plan && *evaluator && smma_evaluator_take(*evaluator, plan) && smma_evaluator_compute(*evaluator) &&
         smma_evaluator_complete(*evaluator, 0);
  if (done) smma_evaluator_run(*evaluator, 0, d);
  smma_plan_release(plan);
  return done;
}

/* Adds to each candidate's score the number of elements of another sample that it matches. */
static void score_all(smma_match_work *s, smma_match_trial *list, size_t count, const smma_match_elements *elements) {
  smma_evaluator **evaluator = calloc(s->match->classes, sizeof(smma_evaluator *));
  uint64_t d[SMMA_MATCH_SAMPLE];
  if (!evaluator) s->counts.no_memory = true;
  for (size_t i = 0; i < count && !s->counts.no_memory; i++) {
    smma_evaluator **of_class = &evaluator[class_of(s, &list[i]) - s->match->class];
    if (smma_match_compute_sample(s, of_class, &list[i], elements, d))
      list[i].score += smma_match_count_equal(s, d, SMMA_MATCH_SAMPLE, elements);
    else
      s->counts.no_memory = true;
  }
  for (size_t i = 0; evaluator && i < s->match->classes; i++) smma_evaluator_free(evaluator[i]);
  free(evaluator);
}

void smma_match_refine(smma_match_work *s) {
  score_all(s, s->nearest, s->counts.nearest_count, &s->elements[s->samples - 1]);
  for (size_t x = 1; x < s->samples && !s->counts.no_memory; x++) {
    size_t rest = 0;
    score_all(s, s->matching, s->counts.matching_count, &s->elements[x]);
    for (size_t i = 0; i < s->counts.matching_count; i++)
      if (s->matching[i].score == (int)(x + 1) * SMMA_MATCH_SAMPLE)
        s->matching[rest++] = s->matching[i];
      else
        smma_match_note_near(s, s->matching[i]);
    s->counts.matching_count = rest;
  }
}

/* ---- The whole of D ---- */

/* What verify compares: a block of D; the whole of D, but only if the block does not differ; or always the whole. */
typedef enum { OF_BLOCK, OF_BLOCK_FIRST, OF_WHOLE } extent;

/* Compares a candidate with D. */
static bool verify(smma_match_work *s, const smma_match_trial *c, extent of, smma_match_difference *difference) {
  const smma_match_data *data = s->data;
  const smma_match_class *class = class_of(s, c);
  smma_plan *plan = plan_of(s, c);
  const size_t rows = smma_least(data->m, BLOCK), columns = smma_least(data->n, BLOCK);
  smma_status status = plan ? SMMA_OK : SMMA_NO_MEMORY;
  if (status == SMMA_OK)
    status = smma_match_compare_part(data, class->member[0], plan, class->c, rows, columns, difference);
  if (status == SMMA_OK && (rows < data->m || columns < data->n) &&
      (of == OF_WHOLE || (of == OF_BLOCK_FIRST && difference->different == 0)))
    status = smma_match_compare_part(data, class->member[0], plan, class->c, data->m, data->n, difference);
  smma_plan_release(plan);
  if (status == SMMA_NO_MEMORY) s->counts.no_memory = true;
  return status == SMMA_OK;
}

/* Verifies a candidate like verify. If only signs of zeros differ, tries further recipes with the same key. */
static bool verify_signs(smma_match_work *s, smma_match_trial *c, smma_match_difference *difference) {
  const smma_match_set *x = &s->set[c->set];
  smma_match_trial other = *c;
  smma_match_difference other_difference;
  if (!verify(s, c, OF_BLOCK_FIRST, difference)) return false;
  while (difference->different && difference->zeros == difference->different && ++other.entry < x->count)
    if (smma_match_same_key(x->entry[other.entry].key, x->entry[c->entry].key) &&
        verify(s, &other, OF_BLOCK_FIRST, &other_difference) && !other_difference.different)
      *c = other, *difference = other_difference;
  return true;
}

/* Returns the step of a class's chain if it is proved that zeros which fill up calls change nothing, provided that they
   begin at multiples of this step. Returns 0 if this is not known. */
static size_t free_step(const smma_match_class *class) {
  smma_operation o = smma_operation_of(class->member[0]);
  o.c = o.d;
  const smma_form form = smma_form_of(&o);
  return form.chained && smma_zeros_add_nothing(&o) ? (size_t)form.step : 0;
}

/* Returns the candidate's key, the same for all plans that differ only in zeros which fill up calls and do not matter
   in this class. */
static smma_match_key key_within(smma_match_work *s, const smma_match_trial *c) {
  smma_evaluator *e = s->set[c->set].evaluator;
  smma_plan *plan = plan_of(s, c);
  smma_match_key key = s->set[c->set].entry[c->entry].key;
  if (plan && smma_evaluator_take(e, plan)) key = smma_evaluator_key(e, free_step(class_of(s, c)));
  smma_plan_release(plan);
  return key;
}

static int by_difference(const void *x, const void *y) {
  const smma_match_trial *a = x, *b = y;
  if (a->different != b->different) return a->different < b->different ? -1 : 1;
  return smma_match_in_order(x, y);
}

/* ---- Results ---- */

static bool is_of_class(const smma_match_work *s, const smma_recipe *r, const smma_match_class *class) {
  smma_plan *plan = smma_recipe_plan(r, s->data, class->member, class->members);
  smma_plan_release(plan);
  return plan;
}

static void note_library(smma_match_candidate *description, const smma_recipe *r) {
  smma_match_library *l = description->library;
  while (l < description->library + description->libraries && strcmp(l->name, r->library) != 0) l++;
  if (l < description->library + description->libraries) {
    l->others++;
  } else if (description->libraries < sizeof description->library / sizeof *description->library) {
    description->libraries++;
    l->name = r->library;
    smma_recipe_text(r, l->text, sizeof l->text);
  }
}

static void describe(const smma_match_work *s, const smma_match_trial *c, const smma_match_difference *difference,
                     smma_match_candidate *description) {
  const smma_match_set *x = &s->set[c->set];
  const smma_recipe *r = &x->entry[c->entry].recipe;
  *description = (smma_match_candidate){.of = (size_t)(class_of(s, c) - s->match->class), .difference = *difference};
  description->plan = plan_of(s, c);
  smma_recipe_text(r, description->text, sizeof description->text);
  for (size_t i = 0; i < x->count; i++)
    if (x->entry[i].recipe.library && smma_match_same_key(x->entry[i].key, x->entry[c->entry].key) &&
        is_of_class(s, &x->entry[i].recipe, class_of(s, c)))
      note_library(description, &x->entry[i].recipe);
}

/* ---- Verifying candidates ---- */

/* Elements at which fully computed candidates differ from D. They are tested first, because other candidates are likely
   to differ at the same elements. */
typedef struct {
  smma_match_elements elements;
  size_t count;
} witnesses;

/* Removes the candidates from `at` on that do not match all witnesses. */
static void filter(smma_match_work *s, witnesses *w, size_t at) {
  size_t rest = at;
  w->count = 0;
  for (size_t i = at; i < s->counts.matching_count; i++) s->matching[i].score = 0;
  if (smma_match_gather(s->data, &w->elements))
    score_all(s, s->matching + at, s->counts.matching_count - at, &w->elements);
  else
    s->counts.no_memory = true;
  smma_match_elements_free(&w->elements);
  for (size_t i = at; i < s->counts.matching_count; i++)
    if (s->matching[i].score == SMMA_MATCH_SAMPLE) s->matching[rest++] = s->matching[i];
  s->counts.matching_count = rest;
}

static void note_witness(smma_match_work *s, witnesses *w, const smma_match_difference *d, size_t next) {
  w->elements.row[w->count] = d->row, w->elements.column[w->count++] = d->column;
  if (w->count == SMMA_MATCH_SAMPLE) filter(s, w, next);
}

void smma_match_verify_all(smma_match_work *s, smma_match_trial *fit) {
  smma_match *m = s->match;
  smma_match_key key[SMMA_MATCH_MOST];
  smma_match_difference difference;
  witnesses w = {.count = 0};
  size_t tries = 0;
  qsort(s->matching, s->counts.matching_count, sizeof *s->matching, smma_match_in_order);
  m->untried = s->counts.dropped;
  for (size_t i = 0; i < s->counts.matching_count && !s->counts.no_memory; i++) {
    smma_match_trial *c = &s->matching[i];
    const smma_match_key key_of_c = key_within(s, c);
    bool is_known = false;
    for (size_t f = 0; f < m->fits; f++)
      is_known |= class_of(s, c) == class_of(s, &fit[f]) && smma_match_same_key(key_of_c, key[f]);
    c->different = SIZE_MAX;
    if (is_known) continue;
    if (m->fits == SMMA_MATCH_MOST || tries == MOST_WHOLE) {
      m->untried++;
      continue;
    }
    tries++;
    if (!verify_signs(s, c, &difference)) continue;
    c->different = difference.different;
    if (difference.different) {
      note_witness(s, &w, &difference, i + 1);
      continue;
    }
    fit[m->fits] = *c, key[m->fits] = key_of_c;
    describe(s, c, &difference, &m->fit[m->fits++]);
  }
}

void smma_match_rank_libraries(smma_match *m, smma_match_trial *fit) {
  for (size_t f = 1; f < m->fits; f++)
    for (size_t i = f; i > 0 && m->fit[i].libraries && !m->fit[i - 1].libraries; i--) {
      const smma_match_candidate description = m->fit[i];
      const smma_match_trial key_of_c = fit[i];
      m->fit[i] = m->fit[i - 1], fit[i] = fit[i - 1];
      m->fit[i - 1] = description, fit[i - 1] = key_of_c;
    }
}

void smma_match_find_near(smma_match_work *s) {
  smma_match_trial list[2 * SMMA_MATCH_MOST];
  smma_match_difference difference;
  size_t count = 0, least = SIZE_MAX;
  qsort(s->matching, s->counts.matching_count, sizeof *s->matching, by_difference);
  qsort(s->nearest, s->counts.nearest_count, sizeof *s->nearest, smma_match_by_score);
  for (size_t i = 0; i < s->counts.matching_count && i < SMMA_MATCH_MOST && s->matching[i].different < SIZE_MAX; i++)
    list[count++] = s->matching[i];
  for (size_t i = 0; i < s->counts.nearest_count; i++) list[count++] = s->nearest[i];
  for (size_t i = 0; i < count && !s->counts.no_memory; i++) {
    list[i].different = SIZE_MAX;
    if (verify(s, &list[i], OF_BLOCK, &difference)) list[i].different = difference.different;
  }
  qsort(list, count, sizeof *list, by_difference);
  for (size_t i = 0; i < count && i < MOST_NEAR && list[i].different < SIZE_MAX && !s->counts.no_memory; i++) {
    if (!verify(s, &list[i], OF_WHOLE, &difference) || difference.different >= least) continue;
    least = difference.different;
    describe(s, &list[i], &difference, &s->match->near);
    s->match->has_near = true;
  }
}
