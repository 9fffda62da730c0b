#include "infer/search.h"

#include <stdlib.h>

#include "infer/shape.h"

/* Samples for the first look at every shape, and for a longer one at some of them; shapes that are tried on a grid, and
   refined at most; those that are refined together, of them those on more samples, and on all. */
enum { FEW = 256, SOME = 768, GRIDS = 96, MOST = 96, AT_ONCE = 24, HALF = 8, BEST = 3 };

typedef struct {
  smma_composition model;
  size_t wrong;
  int shape;
} candidate;

static int compare(const void *one, const void *other) {
  const candidate *x = one, *y = other;
  if (x->wrong != y->wrong) return x->wrong < y->wrong ? -1 : 1;
  return x->shape - y->shape;
}

/* Values with which a shape is looked at first: exact sums, and some that are cut. */
static int start_values(smma_format d, smma_start_values value[5]) {
  const int bits = smma_encoding_of(d).fraction_bits;
  const smma_rounding zero = SMMA_ROUND_TOWARD_ZERO, nearest = SMMA_ROUND_NEAREST_EVEN;
  value[0] = (smma_start_values){SMMA_EXACT_ALIGNMENT, zero, nearest};
  value[1] = (smma_start_values){SMMA_EXACT_ALIGNMENT, zero, zero};
  value[2] = (smma_start_values){bits + 1, zero, zero};
  value[3] = (smma_start_values){bits + 3, zero, nearest};
  value[4] = (smma_start_values){bits + 8, zero, zero};
  return smma_is_integer(d) ? 2 : 5;
}

/* Sums that count in ones. */
static smma_composition in_integers(const smma_composition *shape, smma_format d) {
  smma_composition p =
      smma_shape_with(shape, d, (smma_start_values){0, SMMA_ROUND_TOWARD_ZERO, SMMA_ROUND_NEAREST_EVEN});
  for (smma_step *s = p.step; s < p.step + p.steps; s++) s->reference = 0, s->width = smma_encoding_of(d).bits;
  return p;
}

static void look_at(const smma_fit *f, const smma_composition *p, candidate *best) {
  const size_t wrong = smma_fit_allows(f, p) ? smma_fit_count(f, p, best->wrong - 1) : SIZE_MAX;
  if (wrong >= best->wrong) return;
  best->model = *p;
  best->wrong = wrong;
}

/* The best of its shape, and the same with every subnormal number zero. */
static void look_at_flushes(const smma_fit *f, candidate *best) {
  const smma_composition kept = best->model;
  for (int policy = SMMA_SUBNORMALS_KEPT + 1; policy <= SMMA_SUBNORMALS_TO_POSITIVE_ZERO; policy++) {
    smma_composition p = kept;
    p.subnormal_a = p.subnormal_b = p.subnormal_c = (smma_subnormal_policy)policy;
    look_at(f, &p, best);
    for (smma_step *s = p.step; s < p.step + p.steps; s++)
      if (s->output != SMMA_NO_FORMAT) s->subnormal_outputs = SMMA_SUBNORMALS_TO_SIGNED_ZERO;
    look_at(f, &p, best);
  }
}

static int look_at_all(const smma_fit *f, const smma_composition *shape, int shapes, candidate *found) {
  const smma_format d = f->model.instruction.d;
  smma_start_values value[5];
  const int values = start_values(d, value);
  int count = 0;
  for (int n = 0; n < shapes; n++) {
    candidate best = {.wrong = f->looked + 1, .shape = n};
    for (int v = 0; v < values; v++) {
      const smma_composition p = smma_shape_with(&shape[n], d, value[v]);
      look_at(f, &p, &best);
    }
    if (smma_is_integer(d)) {
      const smma_composition p = in_integers(&shape[n], d);
      look_at(f, &p, &best);
    }
    if (best.wrong <= f->looked) {
      look_at_flushes(f, &best);
      found[count++] = best;
    }
  }
  return count;
}

typedef void refinement(smma_fit *fit, smma_fit_watch watch);

static void try_grid(smma_fit *f, smma_fit_watch watch) {
  (void)watch;
  smma_fit_grid(f);
}

static void sweep(smma_fit *f, smma_fit_watch watch) { smma_fit_sweep(f, watch); }

static bool has_stopped(smma_fit_watch watch) { return watch.stop && watch.stop(watch.context); }

/* Each refined on so many samples; the best first then. It ends where one agrees with all of them. */
static bool refine(smma_fit *f, candidate *c, int count, size_t samples, refinement *how, smma_fit_watch watch) {
  if (!smma_fit_look_at(f, samples)) return false;
  for (int n = 0; n < count && !has_stopped(watch); n++) {
    smma_fit_start(f, &c[n].model);
    how(f, watch);
    c[n].model = *smma_fit_composition(f);
    c[n].wrong = f->wrong;
    if (f->wrong == 0) break;
  }
  qsort(c, (size_t)count, sizeof *c, compare);
  return true;
}

/* Some candidates, on more and more samples; `best` is the one that the fewest of all disagree with. */
static bool fit_some(smma_fit *f, candidate *c, int count, candidate *best, smma_fit_watch watch) {
  if (!refine(f, c, count, FEW, sweep, watch)) return false;
  if (count > HALF) count = HALF;
  if (!refine(f, c, count, SOME, smma_fit_descend, watch)) return false;
  for (candidate *x = c; x < c + count && x < c + BEST && best->wrong; x++) {
    if (!refine(f, x, 1, SIZE_MAX, x->wrong * 8 < SOME ? smma_fit_improve : smma_fit_descend, watch)) return false;
    if (x->wrong < best->wrong) *best = *x;
  }
  return true;
}

bool smma_search_shapes(smma_fit *f, smma_fit_watch watch) {
  const smma_instruction *i = &f->model.instruction;
  smma_composition *shape = malloc(SMMA_MOST_SHAPES * sizeof *shape);
  candidate *found = malloc(SMMA_MOST_SHAPES * sizeof *found), best = {.wrong = SIZE_MAX};
  bool done = shape && found && smma_fit_look_at(f, FEW);
  if (done) {
    const int count = look_at_all(f, shape, smma_make_shapes(i->k, i->scale_block, i->d, shape), found);
    qsort(found, (size_t)count, sizeof *found, compare);
    done = count > 0 && refine(f, found, count < GRIDS ? count : GRIDS, FEW, try_grid, watch);
    if (done) best.model = found[0].model;
    for (int first = 0; done && first < count && first < MOST && best.wrong && !has_stopped(watch); first += AT_ONCE)
      done = fit_some(f, found + first, count - first < AT_ONCE ? count - first : AT_ONCE, &best, watch);
    done = done && smma_fit_look_at(f, SIZE_MAX);
    if (done) smma_fit_start(f, &best.model);
  }
  free(shape);
  free(found);
  return done;
}
