#include "infer/search.h"

#include <stdlib.h>

#include "infer/start.h"

enum {
  SAMPLES_FOR_STARTS = 96,         /* number of samples on which starts are compared */
  SAMPLES_FIRST_PASS = 256,        /* number of samples on which all starts of a shape are refined */
  SAMPLES_SECOND_PASS = 768,       /* number of samples on which the best starts of a shape are refined further */
  SECOND_PASS_STARTS = 2,          /* number of starts of a shape in the second pass */
  GROUP_SHAPES = 24,               /* maximum number of shapes in a group */
  QUICK_GROUP_SHAPES = 8,          /* number of shapes of a full group that a quick search fits */
  QUICK_SHAPES = 4 * GROUP_SHAPES, /* a quick search begins no further group after this many likely shapes */
  MUCH_WORSE_FACTOR = 2,           /* a quick search gives up a shape with this many times the expected mismatches */
  QUICK_MISMATCH_RATIO = 128       /* a quick search ends at a model with one mismatch in this many samples */
};

typedef struct {
  const smma_composition *shape;
  smma_candidate start[SMMA_MOST_STARTS]; /* the best first */
  int starts;                             /* number of starts */
  int group;                              /* index of the group's first shape */
  bool fitted;                            /* whether fit_shape has fitted the shape */
} shape_trial;

/* Compares trials by the mismatches of their best start, for qsort. Among equal numbers the shape that is listed
   earlier, and thus simpler, comes first. */
static int compare_trials(const void *one, const void *other) {
  const shape_trial *x = one, *y = other;
  if (x->start->wrong != y->start->wrong) return x->start->wrong < y->start->wrong ? -1 : 1;
  return (x->shape > y->shape) - (x->shape < y->shape);
}

typedef void refine_function(smma_fit *fit, smma_fit_watch watch);

static void sweep(smma_fit *f, smma_fit_watch watch) { smma_fit_sweep(f, watch); }

/* Refines every candidate on `samples` samples, then sorts the candidates, the best first. Stops at a candidate that
   agrees with all these samples. Returns false if memory runs out, like the functions below. */
static bool refine(smma_fit *f, smma_candidate *c, int count, size_t samples, refine_function *how,
                   smma_fit_watch watch) {
  if (!smma_fit_select(f, samples)) return false;
  for (int n = 0; n < count && !smma_fit_is_stopped(watch); n++) {
    smma_fit_start(f, &c[n].model);
    how(f, watch);
    c[n] = (smma_candidate){*smma_fit_composition(f), f->wrong};
    if (f->wrong == 0) {
      count = n + 1;
      break;
    }
  }
  smma_sort_candidates(c, count);
  return true;
}

/* The best models so far: on SAMPLES_SECOND_PASS samples, and on all samples. */
typedef struct {
  smma_candidate on_subset, on_all;
} best_models;

/* Fits a shape from each of its starts, on more and more samples. Uses all samples only if the shape is at least as
   good as the best shape so far. A quick search gives up a shape that is much worse on SAMPLES_FIRST_PASS samples. */
static bool fit_shape(smma_fit *f, shape_trial *trial, best_models *best_so_far, bool thoroughly,
                      smma_fit_watch watch) {
  const int count = trial->starts < SECOND_PASS_STARTS ? trial->starts : SECOND_PASS_STARTS;
  smma_candidate *x = trial->start;
  trial->fitted = true;
  if (!refine(f, x, trial->starts, SAMPLES_FIRST_PASS, sweep, watch)) return false;
  if (!thoroughly &&
      x->wrong / MUCH_WORSE_FACTOR > best_so_far->on_subset.wrong / (SAMPLES_SECOND_PASS / SAMPLES_FIRST_PASS))
    return true;
  if (!refine(f, x, count, SAMPLES_SECOND_PASS, smma_fit_descend, watch)) return false;
  if (x->wrong > best_so_far->on_subset.wrong || smma_fit_is_stopped(watch)) return true;
  best_so_far->on_subset = *x;
  if (!refine(f, x, 1, SIZE_MAX, smma_fit_descend, watch)) return false;
  smma_fit_remember_misfits(f);
  if (x->wrong < best_so_far->on_all.wrong) best_so_far->on_all = *x;
  return true;
}

/* Reports whether a model is good enough. In a thorough search all samples must agree. In a quick search one
   mismatch in QUICK_MISMATCH_RATIO samples is allowed, because mismatches with a good model say more about the shape
   than other shapes would. */
static bool is_found(const smma_fit *f, const best_models *best_so_far, bool thoroughly) {
  return best_so_far->on_all.wrong <= (thoroughly ? 0 : f->samples->count / QUICK_MISMATCH_RATIO);
}

/* Fits the shapes of a group, the best first, until a model is good enough. In a full group a quick search fits only
   QUICK_GROUP_SHAPES shapes. */
static bool fit_group(smma_fit *f, shape_trial *trial, int count, best_models *best_so_far, bool thoroughly,
                      smma_fit_watch watch) {
  const int most = count < GROUP_SHAPES || thoroughly ? GROUP_SHAPES : QUICK_GROUP_SHAPES;
  for (int n = 0; n < count && n < most && !is_found(f, best_so_far, thoroughly) && !smma_fit_is_stopped(watch); n++)
    if (!trial[n].fitted && !fit_shape(f, &trial[n], best_so_far, thoroughly, watch)) return false;
  return true;
}

static int count_perfect(const shape_trial *trial, int count) {
  int n = 0;
  while (n < count && trial[n].start->wrong == 0) n++;
  return n;
}

/* Returns the end of the group of shapes that starts at `first`. A group has at most GROUP_SHAPES shapes, all with the
   same amount of evidence against them. */
static int end_of_group(const smma_shapes *shapes, int first) {
  int end = first + 1;
  while (end < shapes->count && end < first + GROUP_SHAPES && shapes->against[end] == shapes->against[first]) end++;
  return end;
}

/* Finds the starts of shapes `first` to end - 1, and sorts the shapes by them, the best first. Returns the number of
   shapes that have starts; -1 if memory runs out. */
static int start_group(smma_fit *f, const smma_shapes *shapes, int first, int end, shape_trial *trial,
                       smma_fit_watch watch) {
  int count = 0;
  if (!smma_fit_select(f, SAMPLES_FOR_STARTS)) return -1;
  for (int n = first; n < end && !smma_fit_is_stopped(watch); n++) {
    trial[count] = (shape_trial){.shape = &shapes->shape[n], .group = first};
    trial[count].starts = smma_fit_starts(f, trial[count].shape, trial[count].start);
    if (trial[count].starts < 0) return -1;
    count += trial[count].starts > 0;
  }
  qsort(trial, (size_t)count, sizeof *trial, compare_trials);
  return count;
}

/* Finds the starts of all likely shapes, group by group; a quick search stops after QUICK_SHAPES shapes. Fits only
   shapes that have a start without mismatches. Returns the number of shapes that have starts; -1 if memory runs out. */
static int start_likely(smma_fit *f, const smma_shapes *shapes, shape_trial *trial, best_models *best_so_far,
                        bool thoroughly, smma_fit_watch watch) {
  const int most = smma_shapes_likely(shapes);
  int count = 0;
  for (int first = 0, end;
       first < shapes->count && !is_found(f, best_so_far, thoroughly) && !smma_fit_is_stopped(watch); first = end) {
    int started;
    if (count && (shapes->against[first] > most || (count >= QUICK_SHAPES && !thoroughly))) break;
    end = end_of_group(shapes, first);
    started = start_group(f, shapes, first, end, trial + count, watch);
    if (started < 0 ||
        !fit_group(f, trial + count, count_perfect(trial + count, started), best_so_far, thoroughly, watch))
      return -1;
    count += started;
  }
  return count;
}

/* Finds the starts of the shapes of published units, and fits those with a start without mismatches. Used if vectors do
   not show the structure. */
static bool start_published(smma_fit *f, const smma_shapes *shapes, shape_trial *trial, best_models *best_so_far,
                            bool thoroughly, smma_fit_watch watch) {
  for (int n = 0; n < shapes->count && !is_found(f, best_so_far, thoroughly) && !smma_fit_is_stopped(watch); n++) {
    if (!shapes->published[n]) continue;
    const int started = start_group(f, shapes, n, n + 1, trial, watch);
    if (started < 0 || !fit_group(f, trial, count_perfect(trial, started), best_so_far, thoroughly, watch))
      return false;
  }
  return true;
}

bool smma_search_shapes(smma_fit *f, const smma_shapes *shapes, bool thoroughly, smma_fit_watch watch) {
  best_models best_so_far = {.on_subset = {.wrong = SIZE_MAX}, .on_all = {.wrong = SIZE_MAX}};
  smma_candidate *best = &best_so_far.on_all;
  shape_trial *trial = malloc((size_t)shapes->count * sizeof *trial);
  const bool is_clear = smma_shapes_likely(shapes) < SMMA_SHAPES_MUCH;
  bool good = trial && (is_clear || start_published(f, shapes, trial, &best_so_far, thoroughly, watch));
  const int count = good ? start_likely(f, shapes, trial, &best_so_far, thoroughly, watch) : 0;
  good = good && count >= 0;
  for (int from = 0, to; from < count && good && !is_found(f, &best_so_far, thoroughly) && !smma_fit_is_stopped(watch);
       from = to) {
    for (to = from; to < count && trial[to].group == trial[from].group;) to++;
    good = fit_group(f, trial + from, to - from, &best_so_far, thoroughly, watch);
    if (good && thoroughly && best->wrong && best->wrong != SIZE_MAX)
      good = refine(f, best, 1, SIZE_MAX, smma_fit_improve, watch);
  }
  free(trial);
  if (!good || !smma_fit_select(f, SIZE_MAX)) return false;
  if (best->wrong == SIZE_MAX) best = &best_so_far.on_subset; /* the search was stopped */
  smma_fit_start(f, best->wrong == SIZE_MAX ? &shapes->shape[0] : &best->model);
  return true;
}
