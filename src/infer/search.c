#include "infer/search.h"

#include <stdlib.h>

#include "infer/start.h"

/* Samples on which starts are compared, on which they are refined first, and the better ones then; shapes that are
   looked at together, that are refined of these where nothing but their starts says which, and starts of each. */
enum { GLANCE = 96, FEW = 256, SOME = 768, AT_ONCE = 24, REFINED = 8, BEST = 2 };

typedef struct {
  const smma_composition *shape;
  smma_candidate start[SMMA_MOST_STARTS];
  int starts;
} beginning;

static bool has_stopped(smma_fit_watch watch) { return watch.stop && watch.stop(watch.context); }

static int compare_candidates(const void *one, const void *other) {
  const smma_candidate *x = one, *y = other;
  return (x->wrong > y->wrong) - (x->wrong < y->wrong);
}

/* Simple shapes come first among those that are as good. */
static int compare_beginnings(const void *one, const void *other) {
  const beginning *x = one, *y = other;
  const int order = compare_candidates(x->start, y->start);
  return order ? order : (x->shape > y->shape) - (x->shape < y->shape);
}

typedef void refinement(smma_fit *fit, smma_fit_watch watch);

static void sweep(smma_fit *f, smma_fit_watch watch) { smma_fit_sweep(f, watch); }

/* Each refined on so many samples; the best first then. It ends where one agrees with all of them. */
static bool refine(smma_fit *f, smma_candidate *c, int count, size_t samples, refinement *how, smma_fit_watch watch) {
  if (!smma_fit_look_at(f, samples)) return false;
  for (int n = 0; n < count && !has_stopped(watch); n++) {
    smma_fit_start(f, &c[n].model);
    how(f, watch);
    c[n] = (smma_candidate){*smma_fit_composition(f), f->wrong};
    if (f->wrong == 0) {
      count = n + 1;
      break;
    }
  }
  qsort(c, (size_t)count, sizeof *c, compare_candidates);
  return true;
}

/* Of some samples, and of all, the model that the fewest disagree with. */
typedef struct {
  smma_candidate of_some, of_all;
} leader;

/* A shape from each of its starts, on more and more samples; on all if it is not worse than those before. */
static bool fit_shape(smma_fit *f, beginning *b, leader *l, smma_fit_watch watch) {
  const int count = b->starts < BEST ? b->starts : BEST;
  smma_candidate *x = b->start;
  if (!refine(f, x, b->starts, FEW, sweep, watch) || !refine(f, x, count, SOME, smma_fit_descend, watch)) return false;
  if (x->wrong > l->of_some.wrong || has_stopped(watch)) return true;
  l->of_some = *x;
  if (!refine(f, x, 1, SIZE_MAX, smma_fit_descend, watch)) return false;
  smma_fit_remember_misfits(f);
  if (x->wrong < l->of_all.wrong) l->of_all = *x;
  return true;
}

/* Shapes against which the same speaks, AT_ONCE at most, from `first` on. */
static int end_of_group(const smma_shapes *shapes, int first) {
  int end = first + 1;
  while (end < shapes->count && end < first + AT_ONCE && shapes->against[end] == shapes->against[first]) end++;
  return end;
}

static bool fit_group(smma_fit *f, const smma_shapes *shapes, int first, int end, leader *l, smma_fit_watch watch) {
  beginning *b = malloc(AT_ONCE * sizeof *b);
  const int most = end - first < AT_ONCE ? AT_ONCE : REFINED;
  int count = 0;
  bool good = b && smma_fit_look_at(f, GLANCE);
  for (int n = first; n < end && good && !has_stopped(watch); n++) {
    b[count].shape = &shapes->shape[n];
    b[count].starts = smma_fit_starts(f, b[count].shape, b[count].start);
    good = b[count].starts >= 0;
    count += b[count].starts > 0;
  }
  if (good) qsort(b, (size_t)count, sizeof *b, compare_beginnings);
  for (int n = 0; n < count && n < most && good && l->of_all.wrong && !has_stopped(watch); n++)
    good = fit_shape(f, &b[n], l, watch);
  free(b);
  return good;
}

bool smma_search_shapes(smma_fit *f, const smma_shapes *shapes, bool thoroughly, smma_fit_watch watch) {
  const int most = smma_shapes_likely(shapes);
  leader l = {.of_some = {.wrong = SIZE_MAX}, .of_all = {.wrong = SIZE_MAX}};
  smma_candidate *best = &l.of_all;
  for (int first = 0, end; first < shapes->count && best->wrong && !has_stopped(watch); first = end) {
    if (shapes->against[first] > most && best->wrong != SIZE_MAX) break;
    end = end_of_group(shapes, first);
    if (!fit_group(f, shapes, first, end, &l, watch)) return false;
    if (thoroughly && best->wrong && best->wrong != SIZE_MAX && !refine(f, best, 1, SIZE_MAX, smma_fit_improve, watch))
      return false;
  }
  if (!smma_fit_look_at(f, SIZE_MAX)) return false;
  if (best->wrong == SIZE_MAX) best = &l.of_some; /* the time was up */
  smma_fit_start(f, best->wrong == SIZE_MAX ? &shapes->shape[0] : &best->model);
  return true;
}
