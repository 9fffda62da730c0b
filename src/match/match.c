#include "match/match.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "equal/equal.h"
#include "host/count.h"
#include "host/load.h"
#include "host/thread.h"
#include "isa/format_name.h"
#include "match/compare.h"
#include "match/evaluate.h"
#include "match/recipe.h"
#include "match/sample.h"
#include "plan/schedule.h"
#include "unit/unit.h"

enum {
  SAMPLE = SMMA_MATCH_SAMPLE,
  MOST_FULL = 4096, /* remembered candidates that match the whole sample */
  MOST_WHOLE = 256, /* limit of whole products computed */
  BLOCK = 128,      /* rows and columns compared before the whole product */
  SAMPLES = SMMA_MATCH_SAMPLES,
  MOST_THREADS = 64 /* maximum number of threads in one process; with more threads, the work that each repeats exceeds
                       the work that they share */
};

/* A recipe that was tried with the instructions of one K, and its key. */
typedef struct {
  smma_recipe recipe;
  smma_match_key key;
} tried_recipe;

/* Classes whose instructions have the same K, and the recipes tried with them. */
typedef struct {
  const smma_match_class *class[SMMA_ARCH_COUNT * 8];
  size_t classes, k;
  smma_evaluator *evaluator;
  tried_recipe *entry;
  size_t count, room;
  size_t *place; /* open hash table of keys with 2 * room slots: index of a recipe plus one */
} recipe_set;

/* A recipe with a class, and how well it matches D. */
typedef struct {
  size_t set, entry, class; /* indices, the same for all workers */
  int score;
  size_t different;
} candidate;

/* Counts of one worker. */
typedef struct {
  size_t plans, candidates, products;
  size_t full_count, dropped, near_count; /* dropped: further candidates that match the whole sample */
  bool no_memory;
} worker_counts;

typedef struct {
  const smma_match_data *data;
  smma_match *match;
  recipe_set set[SMMA_MAXIMUM_K + 1];
  size_t sets, at; /* at: index of the set whose recipes are being tried */
  const smma_instruction *of_library[(SMMA_ARCH_COUNT + 1) * (SMMA_FAMILY_CUSTOM + 1)]; /* see note_kind */
  size_t of_libraries;
  smma_match_elements elements[SAMPLES];
  size_t samples;         /* number of samples; small matrices have fewer elements */
  bool signed_zeros;      /* D has -0, so signs of zeros are compared from the start */
  size_t worker, workers; /* each worker tries all recipes with some of the classes */
  bool watches;           /* this is the caller's thread, the only one that checks smma_units_stopped */
  size_t recipes, passed; /* recipes in the search space; recipes that this worker has done; for the progress line */
  atomic_bool *stopped;   /* shared by all workers of the process */
  worker_counts counts;
  candidate full[MOST_FULL], near[SMMA_MATCH_MOST];
} search;

/* ---- Classes ---- */

static bool may_compute(const smma_match_data *data, const smma_instruction *i) {
  const smma_encoding d = smma_encoding_of(data->d_format);
  if (i->a != data->a_format || i->b != data->b_format || i->scale_block) return false;
  return i->d == data->d_format || (i->d == SMMA_F32 && d.specials != SMMA_SPECIALS_INTEGER && d.bits < 32);
}

/* Reports whether a proof exists that chains of the two instructions compute the same function for every K. In such a
   chain c has D's format. */
static bool are_one(const smma_match_data *data, const smma_instruction *x, const smma_instruction *y) {
  smma_instruction link[2] = {*x, *y};
  int multiple;
  if (x->d != y->d || (data->c && x->c != y->c)) return false;
  link[0].c = x->d, link[1].c = y->d;
  return smma_prove_equal(&link[0], &link[1], &multiple) && multiple == 1;
}

/* Adds an instruction to a class. The instruction with the greatest K represents the class, because it can also compute
   the shorter groups of the other instructions. */
static bool add_member(smma_match_class *class, const smma_instruction *i) {
  const smma_instruction **more = realloc(class->member, (class->members + 1) * sizeof *more);
  if (!more) return false;
  class->member = more;
  more[class->members++] = i;
  if (i->k > more[0]->k) more[class->members - 1] = more[0], more[0] = i;
  return true;
}

static bool classify(search *s, const smma_instruction *i) {
  smma_match *m = s->match;
  smma_match_class *more;
  for (size_t c = 0; c < m->classes; c++)
    if (are_one(s->data, m->class[c].member[0], i)) return add_member(&m->class[c], i);
  more = realloc(m->class, (m->classes + 1) * sizeof *more);
  if (!more) return false;
  m->class = more;
  m->class[m->classes] = (smma_match_class){0};
  return add_member(&m->class[m->classes++], i);
}

/* Stores one instruction of each architecture and family, because the plans of libraries depend on architecture and
   family. */
static void note_kind(search *s, const smma_instruction *i) {
  for (size_t x = 0; x < s->of_libraries; x++)
    if (s->of_library[x]->arch == i->arch && s->of_library[x]->family == i->family) return;
  if (i->d == SMMA_F32) s->of_library[s->of_libraries++] = i;
}

static bool make_classes(search *s, const smma_instruction *const *instruction, size_t instructions) {
  smma_match *m = s->match;
  for (size_t i = 0; i < instructions; i++) {
    if (!may_compute(s->data, instruction[i])) continue;
    if (!classify(s, instruction[i])) return false;
    note_kind(s, instruction[i]);
  }
  for (size_t c = 0, kept; c < m->classes; c = kept) {
    bool fits;
    if (!smma_match_take_c(s->data, m->class[c].member[0], &m->class[c].c, &fits)) return false;
    kept = c + fits;
    if (fits) continue;
    free(m->class[c].c);
    free(m->class[c].member);
    m->classes--;
    memmove(&m->class[c], &m -> class[c + 1], (m->classes - c) * sizeof *m->class);
  }
  return true;
}

/* Returns this worker's first class of a set. It has every `workers`-th class; the first one differs between sets. */
static size_t first_of(const search *s, size_t of_set) { return (s->worker + of_set) % s->workers; }

static bool make_sets(search *s) {
  for (size_t c = 0; c < s->match->classes; c++) {
    const size_t k = (size_t)s->match->class[c].member[0]->k;
    recipe_set *x = s->set;
    while (x < s->set + s->sets && (x->k != k || x->classes == sizeof x->class / sizeof *x->class)) x++;
    if (x == s->set + s->sets) s->sets++;
    x->k = k;
    x->class[x->classes++] = &s->match->class[c];
  }
  for (size_t i = 0; i < s->sets; i++) {
    recipe_set *x = &s->set[i];
    x->evaluator =
        smma_evaluator_new(s->data, &s->elements[0], x->class, x->classes, first_of(s, i), s->workers, s->signed_zeros);
    if (!x->evaluator) return false;
  }
  return true;
}

/* ---- Trying recipes ---- */

static bool same_key(smma_match_key x, smma_match_key y) { return x.word[0] == y.word[0] && x.word[1] == y.word[1]; }

/* Returns the slot of a key's first recipe, or the free slot where it belongs. */
static size_t *place_of(const recipe_set *x, smma_match_key key) {
  size_t at = key.word[0] & (2 * x->room - 1);
  while (x->place[at] && !same_key(x->entry[x->place[at] - 1].key, key)) at = (at + 1) & (2 * x->room - 1);
  return &x->place[at];
}

static bool grow(recipe_set *x) {
  const size_t room = x->room ? 2 * x->room : 1024;
  tried_recipe *more = realloc(x->entry, room * sizeof *more);
  size_t *place = calloc(2 * room, sizeof *place), *first;
  if (more) x->entry = more;
  if (!more || !place) {
    free(place);
    return false;
  }
  free(x->place);
  x->place = place, x->room = room;
  for (size_t i = 0; i < x->count; i++)
    if (!*(first = place_of(x, x->entry[i].key))) *first = i + 1;
  return true;
}

static bool remember(recipe_set *x, const smma_recipe *recipe, smma_match_key key, bool *is_new) {
  size_t *first;
  if (x->count == x->room && !grow(x)) return false;
  first = place_of(x, key);
  *is_new = *first == 0;
  x->entry[x->count++] = (tried_recipe){*recipe, key};
  if (*is_new) *first = x->count;
  return true;
}

static int in_order_of_recipes(const void *x, const void *y) {
  const candidate *a = x, *b = y;
  if (a->entry != b->entry) return a->entry < b->entry ? -1 : 1;
  return a->set != b->set ? (a->set < b->set ? -1 : 1) : a->class < b->class ? -1 : a->class > b->class;
}

static int by_score(const void *x, const void *y) {
  const candidate *a = x, *b = y;
  return a->score != b->score ? b->score - a->score : in_order_of_recipes(x, y);
}

/* Keeps the best candidates, in any order of arrival. */
static void note_near(search *s, candidate c) {
  candidate *worst = s->near;
  if (s->counts.near_count < SMMA_MATCH_MOST) {
    s->near[s->counts.near_count++] = c;
    return;
  }
  for (size_t i = 1; i < s->counts.near_count; i++)
    if (by_score(&s->near[i], worst) > 0) worst = &s->near[i];
  if (by_score(&c, worst) < 0) *worst = c;
}

static bool same_result(const search *s, uint64_t x, uint64_t y) {
  const smma_encoding f = smma_encoding_of(s->data->d_format);
  const smma_kind kind = smma_decode(f, x).kind;
  return x == y || (kind == smma_decode(f, y).kind && (kind == SMMA_NAN || (kind == SMMA_ZERO && !s->signed_zeros)));
}

/* Returns how many elements of a sample have D's value. */
static int matches(const search *s, const uint64_t *d, size_t count, const smma_match_elements *elements) {
  int score = 0;
  for (size_t i = 0; i < count; i++) score += same_result(s, d[i], elements->d[i]);
  return score;
}

/* Returns how many elements of the first sample the current plan matches with a class. If most of the elements that
   were computed first do not match, the others are taken for mismatches. */
static int score_in_search(search *s, recipe_set *x, size_t class) {
  uint64_t d[SAMPLE];
  const size_t count = smma_evaluator_run(x->evaluator, class, d);
  const int score = matches(s, d, count, &s->elements[0]);
  if (count == SAMPLE || 2 * (size_t)score < count) return score;
  s->counts.no_memory |= !smma_evaluator_complete(x->evaluator, class);
  if (s->counts.no_memory) return 0;
  smma_evaluator_run(x->evaluator, class, d);
  return matches(s, d, SAMPLE, &s->elements[0]);
}

static void evaluate(search *s, recipe_set *x) {
  for (size_t c = first_of(s, s->at); c < x->classes; c += s->workers) {
    const candidate found = {s->at, x->count - 1, c, score_in_search(s, x, c), 0};
    s->counts.candidates++;
    if (found.score < SAMPLE)
      note_near(s, found);
    else if (s->counts.full_count < MOST_FULL)
      s->full[s->counts.full_count++] = found;
    else
      s->counts.dropped++;
  }
}

/* Reports whether the order of the sum can matter; it cannot for integers that are added exactly. */
static bool orders_matter(const recipe_set *x) {
  for (size_t c = 0; c < x->classes; c++) {
    const smma_operation o = smma_operation_of(x->class[c] -> member[0]);
    if (!smma_any_order(&o)) return true;
  }
  return false;
}

static bool is_stopped(const search *s) {
  if (s->watches && smma_units_stopped()) *s->stopped = true;
  return *s->stopped;
}

static bool count_recipe(const smma_recipe *recipe, void *context) {
  search *s = context;
  (void)recipe;
  s->recipes++;
  return !is_stopped(s);
}

static void show_progress(search *s) {
  enum { EACH = 64 }; /* recipes from one call to the next */
  if (s->recipes && s->passed++ % EACH == 0) s->data->progress(s->passed, s->recipes * s->sets, s->data->context);
}

static bool try_recipe(const smma_recipe *recipe, void *context) {
  search *s = context;
  recipe_set *x = &s->set[s->at];
  smma_plan *plan;
  bool is_new;
  if (is_stopped(s)) return false;
  show_progress(s);
  if (x->count && !orders_matter(x)) return true;
  errno = 0; /* ENOMEM distinguishes lack of memory from a plan that is not possible */
  plan = smma_recipe_plan(recipe, s->data, s->of_library, s->of_libraries);
  if (!plan) return !(s->counts.no_memory |= errno == ENOMEM);
  s->counts.plans++;
  if (plan->group != 1 || x->k == 1) {
    if (!smma_evaluator_take(x->evaluator, plan))
      s->counts.no_memory |= errno == ENOMEM;
    else if (!remember(x, recipe, smma_evaluator_key(x->evaluator, 0), &is_new))
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
  const candidate *a = x, *b = y;
  return a->set != b->set ? (a->set < b->set ? -1 : 1) : in_order_of_recipes(x, y);
}

/* Adds another worker's results. Keeps the first candidates that match the whole sample, so that the result is that of
   a single worker. */
static void add(search *s, const worker_counts *t, const candidate *full, const candidate *near) {
  const size_t all = s->counts.full_count + t->full_count;
  candidate *list = malloc((all + 1) * sizeof *list);
  s->counts.candidates += t->candidates, s->counts.products += t->products, s->counts.dropped += t->dropped;
  s->counts.no_memory |= t->no_memory || !list;
  if (!list) return;
  memcpy(list, s->full, s->counts.full_count * sizeof *list);
  memcpy(list + s->counts.full_count, full, t->full_count * sizeof *list);
  qsort(list, all, sizeof *list, in_order_of_trial);
  s->counts.full_count = smma_least(all, MOST_FULL), s->counts.dropped += all - s->counts.full_count;
  memcpy(s->full, list, s->counts.full_count * sizeof *list);
  free(list);
  for (size_t i = 0; i < t->near_count; i++) note_near(s, near[i]);
}

static void try_all(search *s) {
  for (s->at = 0; s->at < s->sets && !s->counts.no_memory; s->at++) {
    s->counts.no_memory |= !smma_each_recipe(s->data, s->of_library, s->of_libraries, try_recipe, s);
    s->counts.products += smma_evaluator_products(s->set[s->at].evaluator);
  }
}

static void free_sets(search *s) {
  for (size_t i = 0; i < s->sets; i++) {
    smma_evaluator_free(s->set[i].evaluator);
    free(s->set[i].entry);
    free(s->set[i].place);
  }
}

/* Creates a worker with the same samples and classes. */
static search *new_worker(const search *s, size_t worker) {
  search *other = malloc(sizeof *other);
  if (!other) return NULL;
  *other = *s;
  other->worker = worker, other->watches = false, other->sets = 0, other->recipes = 0;
  memset(other->set, 0, sizeof other->set);
  other->counts.no_memory = !make_sets(other);
  return other;
}

/* Tries all recipes on several threads; `s` is worker 0 of the process. */
static void try_on_threads(search *s, size_t threads) {
  search *worker[MOST_THREADS] = {s};
  for (size_t t = 1; t < threads; t++) {
    worker[t] = new_worker(s, s->worker + t);
    s->counts.no_memory |= !worker[t];
  }
#pragma omp parallel for schedule(static, 1) num_threads((int)threads)
  for (size_t t = 0; t < threads; t++)
    if (worker[t]) try_all(worker[t]);
  for (size_t t = 1; t < threads; t++) {
    if (!worker[t]) continue;
    add(s, &worker[t]->counts, worker[t]->full, worker[t]->near);
    free_sets(worker[t]);
    free(worker[t]);
  }
}

static void send(const search *s, const smma_group *ranks) {
  ranks->send(&s->counts, sizeof s->counts);
  ranks->send(s->full, s->counts.full_count * sizeof *s->full);
  ranks->send(s->near, s->counts.near_count * sizeof *s->near);
}

static void receive(search *s, const smma_group *ranks, size_t from) {
  size_t size;
  worker_counts *t = ranks->receive(from, &size);
  candidate *full = ranks->receive(from, &size), *near = ranks->receive(from, &size);
  s->counts.no_memory |= !t || !full || !near;
  if (t && full && near) add(s, t, full, near);
  free(t);
  free(full);
  free(near);
}

/* ---- Verifying candidates ---- */

static const smma_match_class *class_of(const search *s, const candidate *c) { return s->set[c->set].class[c->class]; }

static smma_plan *plan_of(const search *s, const candidate *c) {
  return smma_recipe_plan(&s->set[c->set].entry[c->entry].recipe, s->data, s->of_library, s->of_libraries);
}

/* Returns how many elements of a sample a candidate matches. */
static int score_of(search *s, smma_evaluator **evaluator, const candidate *c, const smma_match_elements *elements) {
  const smma_match_class *class = class_of(s, c);
  smma_plan *plan = plan_of(s, c);
  uint64_t d[SAMPLE];
  int score = 0;
  if (!*evaluator) *evaluator = smma_evaluator_new(s->data, elements, &class, 1, 0, 1, s->signed_zeros);
  if (plan && *evaluator && smma_evaluator_take(*evaluator, plan) && smma_evaluator_compute(*evaluator) &&
      smma_evaluator_complete(*evaluator, 0)) {
    smma_evaluator_run(*evaluator, 0, d);
    score = matches(s, d, SAMPLE, elements);
  } else {
    s->counts.no_memory = true;
  }
  smma_plan_release(plan);
  return score;
}

/* Adds the scores of another sample. */
static void score_all(search *s, candidate *list, size_t count, const smma_match_elements *elements) {
  smma_evaluator **evaluator = calloc(s->match->classes, sizeof(smma_evaluator *));
  if (!evaluator) s->counts.no_memory = true;
  for (size_t i = 0; i < count && !s->counts.no_memory; i++)
    list[i].score += score_of(s, &evaluator[class_of(s, &list[i]) - s->match->class], &list[i], elements);
  for (size_t i = 0; evaluator && i < s->match->classes; i++) smma_evaluator_free(evaluator[i]);
  free(evaluator);
}

/* Scores candidates on the further samples. A candidate that misses an element is at best near. */
static void refine(search *s) {
  score_all(s, s->near, s->counts.near_count, &s->elements[s->samples - 1]);
  for (size_t x = 1; x < s->samples && !s->counts.no_memory; x++) {
    size_t kept = 0;
    score_all(s, s->full, s->counts.full_count, &s->elements[x]);
    for (size_t i = 0; i < s->counts.full_count; i++)
      if (s->full[i].score == (int)(x + 1) * SAMPLE)
        s->full[kept++] = s->full[i];
      else
        note_near(s, s->full[i]);
    s->counts.full_count = kept;
  }
}

/* Compares a candidate with D. If the whole product takes long, compares a block first. */
static bool verify(search *s, const candidate *c, bool whole, smma_match_difference *difference) {
  const smma_match_data *data = s->data;
  const smma_match_class *class = class_of(s, c);
  smma_plan *plan = plan_of(s, c);
  const size_t rows = smma_least(data->m, BLOCK), columns = smma_least(data->n, BLOCK);
  smma_status status = plan ? SMMA_OK : SMMA_NO_MEMORY;
  if (status == SMMA_OK)
    status = smma_match_compare_part(data, class->member[0], plan, class->c, 0, rows, 0, columns, difference);
  if (status == SMMA_OK && (rows < data->m || columns < data->n) && (whole || difference->different == 0))
    status = smma_match_compare_part(data, class->member[0], plan, class->c, 0, data->m, 0, data->n, difference);
  smma_plan_release(plan);
  if (status == SMMA_NO_MEMORY) s->counts.no_memory = true;
  return status == SMMA_OK;
}

/* Verifies a candidate like verify. If only signs of zeros differ, tries further recipes with the same key. */
static bool verify_signs(search *s, candidate *c, smma_match_difference *difference) {
  const recipe_set *x = &s->set[c->set];
  candidate other = *c;
  smma_match_difference its;
  if (!verify(s, c, false, difference)) return false;
  while (difference->different && difference->zeros == difference->different && ++other.entry < x->count)
    if (same_key(x->entry[other.entry].key, x->entry[c->entry].key) && verify(s, &other, false, &its) && !its.different)
      *c = other, *difference = its;
  return true;
}

/* Returns the step of a class's chain if it is proved that zeros which fill up calls change nothing; the zeros must
   begin at multiples of this step. Returns 0 if this is not known. */
static size_t free_step(const smma_match_class *class) {
  smma_operation o = smma_operation_of(class->member[0]);
  o.c = o.d;
  const smma_form form = smma_form_of(&o);
  return form.chained && smma_zeros_add_nothing(&o) ? (size_t)form.step : 0;
}

/* Returns a key that is the same for all ways to fill up calls with zeros that do not matter in this class. */
static smma_match_key key_within(search *s, const candidate *c) {
  smma_evaluator *e = s->set[c->set].evaluator;
  smma_plan *plan = plan_of(s, c);
  smma_match_key key = s->set[c->set].entry[c->entry].key;
  if (plan && smma_evaluator_take(e, plan)) key = smma_evaluator_key(e, free_step(class_of(s, c)));
  smma_plan_release(plan);
  return key;
}

static int by_difference(const void *x, const void *y) {
  const candidate *a = x, *b = y;
  if (a->different != b->different) return a->different < b->different ? -1 : 1;
  return in_order_of_recipes(x, y);
}

/* ---- Results ---- */

static bool is_of_class(const search *s, const smma_recipe *r, const smma_match_class *class) {
  smma_plan *plan = smma_recipe_plan(r, s->data, class->member, class->members);
  smma_plan_release(plan);
  return plan;
}

static void note_library(smma_match_candidate *found, const smma_recipe *r) {
  smma_match_library *l = found->library;
  while (l < found->library + found->libraries && strcmp(l->name, r->library) != 0) l++;
  if (l < found->library + found->libraries) {
    l->others++;
  } else if (found->libraries < sizeof found->library / sizeof *found->library) {
    found->libraries++;
    l->name = r->library;
    smma_recipe_text(r, l->text, sizeof l->text);
  }
}

static void describe(const search *s, const candidate *c, const smma_match_difference *difference,
                     smma_match_candidate *found) {
  const recipe_set *x = &s->set[c->set];
  const smma_recipe *r = &x->entry[c->entry].recipe;
  *found = (smma_match_candidate){.of = (size_t)(class_of(s, c) - s->match->class), .difference = *difference};
  found->plan = plan_of(s, c);
  smma_recipe_text(r, found->text, sizeof found->text);
  for (size_t i = 0; i < x->count; i++)
    if (x->entry[i].recipe.library && same_key(x->entry[i].key, x->entry[c->entry].key) &&
        is_of_class(s, &x->entry[i].recipe, class_of(s, c)))
      note_library(found, &x->entry[i].recipe);
}

/* Elements at which fully computed candidates differ from D. They are tested first, because other candidates are likely
   to differ at the same elements. */
typedef struct {
  smma_match_elements elements;
  size_t count;
} witnesses;

/* Removes the candidates from `at` on that do not match all witnesses. */
static void filter(search *s, witnesses *w, size_t at) {
  size_t kept = at;
  w->count = 0;
  for (size_t i = at; i < s->counts.full_count; i++) s->full[i].score = 0;
  if (smma_match_gather(s->data, &w->elements))
    score_all(s, s->full + at, s->counts.full_count - at, &w->elements);
  else
    s->counts.no_memory = true;
  smma_match_elements_free(&w->elements);
  for (size_t i = at; i < s->counts.full_count; i++)
    if (s->full[i].score == SAMPLE) s->full[kept++] = s->full[i];
  s->counts.full_count = kept;
}

static void note_witness(search *s, witnesses *w, const smma_match_difference *d, size_t next) {
  w->elements.row[w->count] = d->row, w->elements.column[w->count++] = d->column;
  if (w->count == SAMPLE) filter(s, w, next);
}

/* Verifies the candidates that match all samples, until enough fit. */
static void verify_all(search *s, candidate *fit) {
  smma_match *m = s->match;
  smma_match_key key[SMMA_MATCH_MOST];
  smma_match_difference difference;
  witnesses w = {.count = 0};
  size_t tries = 0;
  qsort(s->full, s->counts.full_count, sizeof *s->full, in_order_of_recipes);
  m->untried = s->counts.dropped;
  for (size_t i = 0; i < s->counts.full_count && !s->counts.no_memory; i++) {
    candidate *c = &s->full[i];
    const smma_match_key own = key_within(s, c);
    bool known = false;
    for (size_t f = 0; f < m->fits; f++) known |= class_of(s, c) == class_of(s, &fit[f]) && same_key(own, key[f]);
    c->different = SIZE_MAX;
    if (known) continue;
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
    fit[m->fits] = *c, key[m->fits] = own;
    describe(s, c, &difference, &m->fit[m->fits++]);
  }
}

/* Moves fits with libraries' plans to the front; the order is otherwise unchanged. */
static void rank(smma_match *m, candidate *fit) {
  for (size_t f = 1; f < m->fits; f++)
    for (size_t i = f; i > 0 && m->fit[i].libraries && !m->fit[i - 1].libraries; i--) {
      const smma_match_candidate found = m->fit[i];
      const candidate own = fit[i];
      m->fit[i] = m->fit[i - 1], fit[i] = fit[i - 1];
      m->fit[i - 1] = found, fit[i - 1] = own;
    }
}

/* If there is no fit, finds the candidate with the fewest mismatches among those that match most of the sample. */
static void find_near(search *s) {
  candidate list[2 * SMMA_MATCH_MOST];
  smma_match_difference difference;
  size_t count = 0;
  qsort(s->full, s->counts.full_count, sizeof *s->full, by_difference);
  qsort(s->near, s->counts.near_count, sizeof *s->near, by_score);
  for (size_t i = 0; i < s->counts.full_count && i < SMMA_MATCH_MOST && s->full[i].different < SIZE_MAX; i++)
    list[count++] = s->full[i];
  for (size_t i = 0; i < s->counts.near_count; i++) list[count++] = s->near[i];
  for (size_t i = 0; i < count && !s->counts.no_memory; i++) {
    list[i].different = SIZE_MAX;
    if (verify(s, &list[i], false, &difference)) list[i].different = difference.different;
  }
  qsort(list, count, sizeof *list, by_difference);
  if (count == 0 || list[0].different == SIZE_MAX || !verify(s, &list[0], true, &difference)) return;
  describe(s, &list[0], &difference, &s->match->near);
  s->match->has_near = true;
}

/* ---- Telling fits apart ---- */

/* Fills in normally distributed random numbers, as sums of twelve from a 64-bit generator; in the second half, of
   many magnitudes. */
static void fill_random(smma_format format, void *x, size_t count, uint64_t *state) {
  for (size_t i = 0; i < count; i++) {
    float sum = -6;
    uint32_t bits;
    uint64_t code;
    for (int j = 0; j < 12; j++) {
      *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      sum += (float)(*state >> 40) / (1 << 24);
    }
    if (i >= count / 2) sum = ldexpf(sum, (int)(*state >> 33) % 17 - 8);
    memcpy(&bits, &sum, sizeof bits);
    smma_convert(SMMA_F32, &bits, format, &code, 1, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT, NULL);
    smma_store(smma_bytes_of(format), x, i, smma_load(smma_bytes_of(format), &code, 0));
  }
}

static bool run_at_random(search *s, const candidate *c, const smma_match_elements *elements, uint64_t d[SAMPLE]) {
  const smma_match_class *class = class_of(s, c);
  smma_plan *plan = plan_of(s, c);
  smma_evaluator *e = plan ? smma_evaluator_new(s->data, elements, &class, 1, 0, 1, s->signed_zeros) : NULL;
  const bool done = e && smma_evaluator_take(e, plan) && smma_evaluator_compute(e) && smma_evaluator_complete(e, 0);
  if (done) smma_evaluator_run(e, 0, d);
  smma_evaluator_free(e);
  smma_plan_release(plan);
  return done;
}

static void tell_apart(search *s, const candidate *fit) {
  smma_match *m = s->match;
  smma_match_elements random = s->elements[0];
  uint64_t first[SAMPLE], other[SAMPLE], state = 1;
  random.a = malloc(SAMPLE * s->data->k * smma_bytes_of(s->data->a_format));
  random.b = malloc(SAMPLE * s->data->k * smma_bytes_of(s->data->b_format));
  if (random.a && random.b) {
    fill_random(s->data->a_format, random.a, SAMPLE * s->data->k, &state);
    fill_random(s->data->b_format, random.b, SAMPLE * s->data->k, &state);
  }
  for (size_t f = 0; random.a && random.b && f < m->fits; f++) {
    if (!run_at_random(s, &fit[f], &random, f ? other : first)) break;
    for (size_t i = 0; f && i < SAMPLE; i++) m->fit[f].differs_at_random += other[i] != first[i];
  }
  smma_match_elements_free(&random);
}

/* ---- The search ---- */

static bool fail_without_class(const smma_match_data *data, smma_error *error) {
  return smma_fail(error, "no instruction among these multiplies %s by %s into %s%s", smma_format_text(data->a_format),
                   smma_format_text(data->b_format), smma_format_text(data->d_format),
                   data->c ? " and takes this C" : "");
}

static bool run(search *s, const smma_instruction *const *instruction, size_t instructions, const smma_group *ranks,
                smma_error *error) {
  smma_match *m = s->match;
  size_t threads = smma_least((size_t)smma_threads(s->data->threads), MOST_THREADS);
  candidate fit[SMMA_MATCH_MOST] = {{0}};
  ranks->share(&threads, sizeof threads);
  s->worker = ranks->rank * threads, s->workers = ranks->ranks * threads;
  s->signed_zeros = smma_match_has_negative_zero(s->data);
  m->exact = smma_match_is_exact(s->data);
  if (!make_classes(s, instruction, instructions)) return smma_no_memory(error);
  if (m->classes == 0) return fail_without_class(s->data, error);
  if (!smma_match_choose(s->data, s->elements, &s->samples, m) || !make_sets(s)) return smma_no_memory(error);
  if (s->data->progress && ranks->rank == 0) smma_each_recipe(s->data, s->of_library, s->of_libraries, count_recipe, s);
  try_on_threads(s, threads);
  if (ranks->rank) return send(s, ranks), true;
  for (size_t from = 1; from < ranks->ranks; from++) receive(s, ranks, from);
  m->plans = s->counts.plans, m->candidates = s->counts.candidates, m->products = s->counts.products;
  if (!s->counts.no_memory) refine(s);
  if (!s->counts.no_memory) verify_all(s, fit);
  rank(m, fit);
  if (!s->counts.no_memory && m->fits > 1) tell_apart(s, fit);
  if (!s->counts.no_memory && m->fits == 0) find_near(s);
  if (is_stopped(s)) return smma_fail(error, "interrupted");
  return !s->counts.no_memory || smma_no_memory(error);
}

bool smma_match_search(const smma_match_data *data, const smma_instruction *const *instruction, size_t instructions,
                       const smma_group *ranks, smma_match *match, smma_error *error) {
  search *s = calloc(1, sizeof *s);
  atomic_bool stopped = false;
  bool done;
  memset(match, 0, sizeof *match);
  if (!s) return smma_no_memory(error);
  s->data = data, s->match = match, s->watches = true, s->stopped = &stopped;
  done = run(s, instruction, instructions, ranks, error);
  free_sets(s);
  for (size_t i = 0; i < SAMPLES; i++) smma_match_elements_free(&s->elements[i]);
  free(s);
  if (!done) smma_match_free(match);
  return done;
}

void smma_match_free(smma_match *m) {
  for (size_t c = 0; c < m->classes; c++) {
    free(m->class[c].member);
    free(m->class[c].c);
  }
  for (size_t f = 0; f < m->fits; f++) smma_plan_release(m->fit[f].plan);
  if (m->has_near) smma_plan_release(m->near.plan);
  free(m->class);
  memset(m, 0, sizeof *m);
}
