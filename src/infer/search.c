#include "infer/search.h"

#include <stdlib.h>

#include "infer/start.h"

/* Samples on which starts are compared, on which they are refined first, and the better ones then; shapes that are
   looked at together, and that are refined of these where nothing but their starts says which, unless the search is
   thorough; starts of each. */
enum { GLANCE = 96, FEW = 256, SOME = 768, AT_ONCE = 24, REFINED = 8, BEST = 2, MUCH = 2, ALMOST = 128 };

/* Of many likely shapes. */
enum { MOST_BEGUN = 4 * AT_ONCE };

typedef struct {
  const smma_composition *shape;
  smma_candidate start[SMMA_MOST_STARTS];
  int starts, group;
  bool fitted;
} beginning;

static bool has_stopped(smma_fit_watch watch) { return watch.stop && watch.stop(watch.context); }

/* Simple shapes come first among those that are as good. */
static int compare_beginnings(const void *one, const void *other) {
  const beginning *x = one, *y = other;
  if (x->start->wrong != y->start->wrong) return x->start->wrong < y->start->wrong ? -1 : 1;
  return (x->shape > y->shape) - (x->shape < y->shape);
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
  smma_sort_candidates(c, count);
  return true;
}

/* Of some samples, and of all, the model that the fewest disagree with. */
typedef struct {
  smma_candidate of_some, of_all;
} leader;

/* A shape from each of its starts, on more and more samples; on all if it is not worse than those before. What is much
   worse than others were on few is left to a thorough search. */
static bool fit_shape(smma_fit *f, beginning *b, leader *l, bool thoroughly, smma_fit_watch watch) {
  const int count = b->starts < BEST ? b->starts : BEST;
  smma_candidate *x = b->start;
  b->fitted = true;
  if (!refine(f, x, b->starts, FEW, sweep, watch)) return false;
  if (!thoroughly && x->wrong / MUCH > l->of_some.wrong / (SOME / FEW)) return true;
  if (!refine(f, x, count, SOME, smma_fit_descend, watch)) return false;
  if (x->wrong > l->of_some.wrong || has_stopped(watch)) return true;
  l->of_some = *x;
  if (!refine(f, x, 1, SIZE_MAX, smma_fit_descend, watch)) return false;
  smma_fit_remember_misfits(f);
  if (x->wrong < l->of_all.wrong) l->of_all = *x;
  return true;
}

/* Whether there is a model that all agree with; in a search that is not thorough all but one in ALMOST, as those that
   do not agree tell more of the shape than other shapes would. */
static bool is_found(const smma_fit *f, const leader *l, bool thoroughly) {
  return l->of_all.wrong <= (thoroughly ? 0 : f->samples->count / ALMOST);
}

/* Some of a group, the best first. */
static bool fit_group(smma_fit *f, beginning *b, int count, leader *l, bool thoroughly, smma_fit_watch watch) {
  const int most = count < AT_ONCE || thoroughly ? AT_ONCE : REFINED;
  for (int n = 0; n < count && n < most && !is_found(f, l, thoroughly) && !has_stopped(watch); n++)
    if (!b[n].fitted && !fit_shape(f, &b[n], l, thoroughly, watch)) return false;
  return true;
}

static int count_faultless(const beginning *b, int count) {
  int n = 0;
  while (n < count && b[n].start->wrong == 0) n++;
  return n;
}

/* Shapes against which the same speaks, AT_ONCE at most, from `first` on. */
static int end_of_group(const smma_shapes *shapes, int first) {
  int end = first + 1;
  while (end < shapes->count && end < first + AT_ONCE && shapes->against[end] == shapes->against[first]) end++;
  return end;
}

/* Where shapes begin; their number, or -1 without memory. */
static int begin_group(smma_fit *f, const smma_shapes *shapes, int first, int end, beginning *b, smma_fit_watch watch) {
  int count = 0;
  if (!smma_fit_look_at(f, GLANCE)) return -1;
  for (int n = first; n < end && !has_stopped(watch); n++) {
    b[count] = (beginning){.shape = &shapes->shape[n], .group = first};
    b[count].starts = smma_fit_starts(f, b[count].shape, b[count].start);
    if (b[count].starts < 0) return -1;
    count += b[count].starts > 0;
  }
  qsort(b, (size_t)count, sizeof *b, compare_beginnings);
  return count;
}

/* Likely groups, of many the first ones unless the search is thorough, begin before any is fitted, but for shapes that
   begin without a fault. */
static int begin(smma_fit *f, const smma_shapes *shapes, beginning *b, leader *l, bool thoroughly,
                 smma_fit_watch watch) {
  const int most = smma_shapes_likely(shapes);
  int count = 0;
  for (int first = 0, end; first < shapes->count && !is_found(f, l, thoroughly) && !has_stopped(watch); first = end) {
    int begun;
    if (count && (shapes->against[first] > most || (count >= MOST_BEGUN && !thoroughly))) break;
    end = end_of_group(shapes, first);
    begun = begin_group(f, shapes, first, end, b + count, watch);
    if (begun < 0 || !fit_group(f, b + count, count_faultless(b + count, begun), l, thoroughly, watch)) return -1;
    count += begun;
  }
  return count;
}

/* Where rows do not show structures, published ones begin first, and of these the ones without a fault are fitted. */
static bool begin_published(smma_fit *f, const smma_shapes *shapes, beginning *b, leader *l, bool thoroughly,
                            smma_fit_watch watch) {
  for (int n = 0; n < shapes->count && !is_found(f, l, thoroughly) && !has_stopped(watch); n++) {
    if (!shapes->published[n]) continue;
    const int begun = begin_group(f, shapes, n, n + 1, b, watch);
    if (begun < 0 || !fit_group(f, b, count_faultless(b, begun), l, thoroughly, watch)) return false;
  }
  return true;
}

bool smma_search_shapes(smma_fit *f, const smma_shapes *shapes, bool thoroughly, smma_fit_watch watch) {
  leader l = {.of_some = {.wrong = SIZE_MAX}, .of_all = {.wrong = SIZE_MAX}};
  smma_candidate *best = &l.of_all;
  beginning *b = malloc((size_t)shapes->count * sizeof *b);
  const bool is_clear = smma_shapes_likely(shapes) < SMMA_SHAPES_MUCH;
  bool good = b && (is_clear || begin_published(f, shapes, b, &l, thoroughly, watch));
  const int count = good ? begin(f, shapes, b, &l, thoroughly, watch) : 0;
  good = good && count >= 0;
  for (int from = 0, to; from < count && good && !is_found(f, &l, thoroughly) && !has_stopped(watch); from = to) {
    for (to = from; to < count && b[to].group == b[from].group;) to++;
    good = fit_group(f, b + from, to - from, &l, thoroughly, watch);
    if (good && thoroughly && best->wrong && best->wrong != SIZE_MAX)
      good = refine(f, best, 1, SIZE_MAX, smma_fit_improve, watch);
  }
  free(b);
  if (!good || !smma_fit_look_at(f, SIZE_MAX)) return false;
  if (best->wrong == SIZE_MAX) best = &l.of_some; /* the search was ended */
  smma_fit_start(f, best->wrong == SIZE_MAX ? &shapes->shape[0] : &best->model);
  return true;
}
