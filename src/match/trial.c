/* Tries all recipes with all classes on the first sample, on several threads and ranks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "equal/equal.h"
#include "host/count.h"
#include "match/search.h"
#include "unit/unit.h"

/* ---- Candidates ---- */

int smma_match_in_order(const void *x, const void *y) {
  const smma_match_trial *a = x, *b = y;
  if (a->entry != b->entry) return a->entry < b->entry ? -1 : 1;
  return a->set != b->set ? (a->set < b->set ? -1 : 1) : a->class < b->class ? -1 : a->class > b->class;
}

int smma_match_by_score(const void *x, const void *y) {
  const smma_match_trial *a = x, *b = y;
  return a->score != b->score ? b->score - a->score : smma_match_in_order(x, y);
}

void smma_match_note_near(smma_match_work *s, smma_match_trial c) {
  smma_match_trial *worst = s->nearest;
  if (s->counts.nearest_count < SMMA_MATCH_MOST) {
    s->nearest[s->counts.nearest_count++] = c;
    return;
  }
  for (size_t i = 1; i < s->counts.nearest_count; i++)
    if (smma_match_by_score(&s->nearest[i], worst) > 0) worst = &s->nearest[i];
  if (smma_match_by_score(&c, worst) < 0) *worst = c;
}

static bool same_result(const smma_match_work *s, uint64_t x, uint64_t y) {
  const smma_encoding f = smma_encoding_of(s->data->d_format);
  const smma_kind kind = smma_decode(f, x).kind;
  return x == y || (kind == smma_decode(f, y).kind && (kind == SMMA_NAN || (kind == SMMA_ZERO && !s->signed_zeros)));
}

int smma_match_count_equal(const smma_match_work *s, const uint64_t *d, size_t count,
                           const smma_match_elements *elements) {
  int score = 0;
  for (size_t i = 0; i < count; i++) score += same_result(s, d[i], elements->d[i]);
  return score;
}

/* ---- Sets ---- */

/* Returns this worker's first class of a set. A worker has every `workers`-th class; which one is its first differs
   between sets, so that workers share the classes evenly. */
static size_t first_of(const smma_match_work *s, size_t of_set) { return (s->worker + of_set) % s->workers; }

bool smma_match_make_sets(smma_match_work *s) {
  for (size_t c = 0; c < s->match->classes; c++) {
    const size_t k = (size_t)s->match->class[c].member[0]->k;
    smma_match_set *x = s->set;
    while (x < s->set + s->sets && (x->k != k || x->classes == sizeof x->class / sizeof *x->class)) x++;
    if (x == s->set + s->sets) s->sets++;
    x->k = k;
    x->class[x->classes++] = &s->match->class[c];
  }
  for (size_t i = 0; i < s->sets; i++) {
    smma_match_set *x = &s->set[i];
    x->evaluator =
        smma_evaluator_new(s->data, &s->elements[0], x->class, x->classes, first_of(s, i), s->workers, s->signed_zeros);
    if (!x->evaluator) return false;
  }
  return true;
}

void smma_match_free_sets(smma_match_work *s) {
  for (size_t i = 0; i < s->sets; i++) {
    smma_evaluator_free(s->set[i].evaluator);
    free(s->set[i].entry);
    free(s->set[i].place);
  }
}

/* ---- Trying recipes ---- */

/* Returns how many elements of the first sample the current plan matches with a class. If most of the elements that
   were computed first do not match, the others are taken for mismatches. */
static int score_in_search(smma_match_work *s, smma_match_set *x, size_t class) {
  uint64_t d[SMMA_MATCH_SAMPLE];
  const size_t count = smma_evaluator_run(x->evaluator, class, d);
  const int score = smma_match_count_equal(s, d, count, &s->elements[0]);
  if (count == SMMA_MATCH_SAMPLE || 2 * (size_t)score < count) return score;
  s->counts.no_memory |= !smma_evaluator_complete(x->evaluator, class);
  if (s->counts.no_memory) return 0;
  smma_evaluator_run(x->evaluator, class, d);
  return smma_match_count_equal(s, d, SMMA_MATCH_SAMPLE, &s->elements[0]);
}

static void evaluate(smma_match_work *s, smma_match_set *x) {
  for (size_t c = first_of(s, s->current); c < x->classes; c += s->workers) {
    const smma_match_trial found = {s->current, x->count - 1, c, score_in_search(s, x, c), 0};
    s->counts.candidates++;
    if (found.score < SMMA_MATCH_SAMPLE)
      smma_match_note_near(s, found);
    else if (s->counts.matching_count < SMMA_MATCH_MOST_MATCHING)
      s->matching[s->counts.matching_count++] = found;
    else
      s->counts.dropped++;
  }
}

/* Reports whether the order of the sum can matter; it cannot for integers that are added exactly. */
static bool orders_matter(const smma_match_set *x) {
  for (size_t c = 0; c < x->classes; c++) {
    const smma_operation o = smma_operation_of(x->class[c] -> member[0]);
    if (!smma_any_order(&o)) return true;
  }
  return false;
}

bool smma_match_is_stopped(const smma_match_work *s) {
  if (s->checks_stop && smma_units_stopped()) *s->stopped = true;
  return *s->stopped;
}

typedef struct {
  smma_match_work *work;
  smma_recipe *recipe;
  size_t count, room;
} recipe_list;

static bool add_recipe(const smma_recipe *recipe, void *context) {
  recipe_list *x = context;
  if (x->count == x->room) {
    const size_t room = x->room ? 2 * x->room : 1024;
    smma_recipe *more = realloc(x->recipe, room * sizeof *more);
    if (!more) return false;
    x->recipe = more, x->room = room;
  }
  x->recipe[x->count++] = *recipe;
  return !smma_match_is_stopped(x->work);
}

bool smma_match_list_recipes(smma_match_work *s) {
  recipe_list x = {.work = s};
  const bool done = smma_each_recipe(s->data, s->library_instruction, s->library_instructions, add_recipe, &x);
  s->recipe = x.recipe, s->recipes = x.count;
  return done || *s->stopped;
}

static void show_progress(smma_match_work *s) {
  enum { EACH = 64 }; /* number of recipes between two calls of `progress` */
  if (!s->data->progress || s->worker != 0) return;
  if (s->passed++ % EACH == 0) s->data->progress(s->passed, s->recipes * s->sets, s->data->context);
}

/* Tries a recipe with the current set. Returns false if the search ends: it is stopped, or memory runs out. */
static bool try_recipe(smma_match_work *s, const smma_recipe *recipe) {
  smma_match_set *x = &s->set[s->current];
  smma_plan *plan;
  bool is_new;
  if (smma_match_is_stopped(s)) return false;
  show_progress(s);
  if (x->count && !orders_matter(x)) return true;
  errno = 0; /* ENOMEM distinguishes lack of memory from a plan that is not possible */
  plan = smma_recipe_plan(recipe, s->data, s->library_instruction, s->library_instructions);
  if (!plan) return !(s->counts.no_memory |= errno == ENOMEM);
  s->counts.plans++;
  if (plan->group != 1 || x->k == 1) {
    if (!smma_evaluator_take(x->evaluator, plan))
      s->counts.no_memory |= errno == ENOMEM;
    else if (!smma_match_remember(x, recipe, smma_evaluator_key(x->evaluator, 0), &is_new))
      s->counts.no_memory = true;
    else if (is_new && !smma_evaluator_compute(x->evaluator))
      s->counts.no_memory = true;
    else if (is_new)
      evaluate(s, x);
  }
  smma_plan_release(plan);
  return !s->counts.no_memory;
}

/* ---- Workers: threads of this process and of other ranks ---- */

static int in_order_of_trial(const void *x, const void *y) {
  const smma_match_trial *a = x, *b = y;
  return a->set != b->set ? (a->set < b->set ? -1 : 1) : smma_match_in_order(x, y);
}

/* Adds another worker's results. Keeps the first candidates that match the whole sample, so that the result is that of
   a single worker. */
static void add_worker(smma_match_work *s, const smma_match_counts *t, const smma_match_trial *matching,
                       const smma_match_trial *nearest) {
  const size_t total = s->counts.matching_count + t->matching_count;
  smma_match_trial *list = malloc((total + 1) * sizeof *list);
  s->counts.candidates += t->candidates, s->counts.products += t->products, s->counts.dropped += t->dropped;
  s->counts.no_memory |= t->no_memory || !list, s->counts.stopped |= t->stopped;
  if (!list) return;
  memcpy(list, s->matching, s->counts.matching_count * sizeof *list);
  memcpy(list + s->counts.matching_count, matching, t->matching_count * sizeof *list);
  qsort(list, total, sizeof *list, in_order_of_trial);
  s->counts.matching_count = smma_least(total, SMMA_MATCH_MOST_MATCHING);
  s->counts.dropped += total - s->counts.matching_count;
  memcpy(s->matching, list, s->counts.matching_count * sizeof *list);
  free(list);
  for (size_t i = 0; i < t->nearest_count; i++) smma_match_note_near(s, nearest[i]);
}

static void try_all(smma_match_work *s) {
  for (s->current = 0; s->current < s->sets && !s->counts.no_memory; s->current++) {
    for (size_t i = 0; i < s->recipes && try_recipe(s, &s->recipe[i]); i++) continue;
    s->counts.products += smma_evaluator_products(s->set[s->current].evaluator);
  }
}

/* Creates a worker that shares the samples and classes of `s`. */
static smma_match_work *new_worker(const smma_match_work *s, size_t worker) {
  smma_match_work *copy = malloc(sizeof *copy);
  if (!copy) return NULL;
  *copy = *s;
  copy->worker = worker, copy->checks_stop = false, copy->sets = 0;
  memset(copy->set, 0, sizeof copy->set);
  copy->counts.no_memory = !smma_match_make_sets(copy);
  return copy;
}

void smma_match_try(smma_match_work *s, size_t threads) {
  smma_match_work *worker[SMMA_MATCH_MOST_THREADS] = {s};
  for (size_t t = 1; t < threads; t++) {
    worker[t] = new_worker(s, s->worker + t);
    s->counts.no_memory |= !worker[t];
  }
#pragma omp parallel for schedule(static, 1) num_threads((int)threads)
  for (size_t t = 0; t < threads; t++)
    if (worker[t]) try_all(worker[t]);
  for (size_t t = 1; t < threads; t++) {
    if (!worker[t]) continue;
    add_worker(s, &worker[t]->counts, worker[t]->matching, worker[t]->nearest);
    smma_match_free_sets(worker[t]);
    free(worker[t]);
  }
}

void smma_match_send(const smma_match_work *s, const smma_group *ranks) {
  ranks->send(&s->counts, sizeof s->counts);
  ranks->send(s->matching, s->counts.matching_count * sizeof *s->matching);
  ranks->send(s->nearest, s->counts.nearest_count * sizeof *s->nearest);
}

void smma_match_receive(smma_match_work *s, const smma_group *ranks, size_t from) {
  size_t size;
  smma_match_counts *t = ranks->receive(from, &size);
  smma_match_trial *matching = ranks->receive(from, &size), *nearest = ranks->receive(from, &size);
  s->counts.no_memory |= !t || !matching || !nearest;
  if (t && matching && nearest) add_worker(s, t, matching, nearest);
  free(t);
  free(matching);
  free(nearest);
}
