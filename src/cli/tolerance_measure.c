#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tolerance.h"

const double smma_quantiles[SMMA_QUANTILES] = {0.5, 0.9, 0.99, 0.999, 1};

/* ---- Errors ---- */

static void *require_memory(void *memory) {
  if (!memory) smma_die("out of memory");
  return memory;
}

static int compare_doubles(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* NaN where there are none. */
static void take_quantiles(double *values, size_t count, double result[SMMA_QUANTILES]) {
  qsort(values, count, sizeof *values, compare_doubles);
  for (int i = 0; i < SMMA_QUANTILES; i++) {
    const double rank = ceil(smma_quantiles[i] * (double)count);
    result[i] = count ? values[rank < 1 ? 0 : (size_t)rank - 1] : NAN;
  }
}

static double greater_bound(const smma_bounded *b) { return b->below > b->above ? b->below : b->above; }

static void require_ok(smma_status status) {
  if (status != SMMA_OK) smma_die("%s", smma_status_text(status));
}

static void measure(smma_tolerance_study *x, smma_tolerance_target *t, double *space) {
  const size_t count = smma_tolerance_count(x);
  size_t finite = 0;
  t->bound = require_memory(calloc(count, sizeof *t->bound));
  t->values = require_memory(calloc(count, sizeof *t->values));
  require_ok(smma_bound_rows(t->instruction, &t->product, t->stored, 0, x->rows, t->bound));
  if (!smma_product_compute(t->instruction, &t->product, t->stored, t->values)) smma_die("out of memory");
  for (size_t i = 0; i < count; i++) {
    const smma_bounded *b = &t->bound[i];
    const double error = fabs(smma_bounded_error(b, t->values[i]));
    t->special += !isfinite(b->exact);
    if (isfinite(b->exact) && isinf(b->below)) t->unbounded++;
    if (isfinite(b->exact) && !isinf(b->below) && greater_bound(b) > t->most_bound) t->most_bound = greater_bound(b);
    if (isfinite(b->exact) && !smma_bounded_accepts(b, t->values[i]))
      smma_die("internal error: element %zu of %s is %a, which its bound refuses", i, t->label, t->values[i]);
    if (!isnan(error)) space[finite++] = error;
  }
  take_quantiles(space, finite, t->error);
  if (t != x->target) return;
  finite = 0;
  for (size_t i = 0; i < count; i++)
    if (isfinite(t->bound[i].exact)) space[finite++] = fabs(t->bound[i].exact);
  take_quantiles(space, finite, x->exact);
}

void smma_tolerance_measure(smma_tolerance_study *x) {
  smma_progress progress;
  double *space = require_memory(calloc(smma_tolerance_count(x), sizeof *space));
  smma_progress_start(&progress, NULL, 1);
  x->is_proven = true;
  for (int i = 0; i < x->targets; i++) {
    measure(x, &x->target[i], space);
    x->is_proven = x->is_proven && !x->target[i].unbounded;
    smma_progress_show(&progress, (size_t)i + 1, (size_t)x->targets);
  }
  smma_progress_end();
  free(space);
}

/* ---- Tolerances ---- */

static smma_error_point point_of(const smma_bounded *b, double value) {
  const double error = fabs(smma_bounded_error(b, value));
  return (smma_error_point){fabs(b->exact), isfinite(b->exact) && isnan(error) ? INFINITY : error};
}

/* Elements this near 0, one in twenty, are 0 in other data. */
#define NEAR_ZERO 0.05

/* Of the measured errors times `margin`, or of the bounds. Elements without are left out. */
static smma_envelope envelope_of(const smma_tolerance_study *x, double margin, bool bounds, double near) {
  const size_t count = smma_tolerance_count(x);
  smma_error_point *points = require_memory(calloc(count * (size_t)x->targets, sizeof *points));
  smma_envelope e;
  size_t all = 0;
  for (int i = 0; i < x->targets; i++)
    for (size_t j = 0; j < count; j++) {
      const smma_tolerance_target *t = &x->target[i];
      smma_error_point p = point_of(&t->bound[j], t->values[j]);
      p.error = bounds ? greater_bound(&t->bound[j]) : p.error * margin;
      if (isfinite(p.error) && isfinite(p.exact)) points[all++] = p;
    }
  e = smma_envelope_of(points, all, near);
  free(points);
  return e;
}

/* Refused elements of one mutant on one target: by each tolerance, by the bound, by some tolerance at all. */
typedef struct {
  double by_measured[SMMA_MOST_TOLERANCES], by_proven[SMMA_MOST_TOLERANCES], by_bound, by_any;
} refusals;

static void count_refusals(const smma_tolerance_study *x, const smma_tolerance_target *t, const double *values,
                           const smma_envelope *least, const smma_envelope *measured, const smma_envelope *proven,
                           refusals *r) {
  const double part = 1 / (double)smma_tolerance_count(x);
  memset(r, 0, sizeof *r);
  for (size_t i = 0; i < smma_tolerance_count(x); i++) {
    const smma_bounded *b = &t->bound[i];
    const smma_error_point p = point_of(b, values[i]);
    if (!smma_bounded_accepts(b, values[i])) r->by_bound += part;
    if (!isfinite(b->exact)) continue;
    for (int e = 0; e < measured->edges; e++)
      r->by_measured[e] += smma_tolerance_accepts(measured->edge[e], p) ? 0 : part;
    for (int e = 0; e < proven->edges; e++) r->by_proven[e] += smma_tolerance_accepts(proven->edge[e], p) ? 0 : part;
    if (smma_envelope_refuses(least, p)) r->by_any += part;
  }
}

static void lower(double *least, double x) {
  if (x < *least) *least = x;
}

/* The edge that refuses the most mutants, and of several the most of their elements. */
static int best_edge(const smma_envelope *e, double refused[SMMA_MUTANTS][SMMA_MOST_TOLERANCES],
                     const smma_verdict verdicts[SMMA_MUTANTS]) {
  double most = -1;
  int best = 0;
  for (int edge = 0; edge < e->edges; edge++) {
    double score = 0;
    for (int m = 0; m < SMMA_MUTANTS; m++)
      if (verdicts[m].applies && refused[m][edge] > 0) score += SMMA_MUTANTS + refused[m][edge];
    if (score > most) most = score, best = edge;
  }
  return best;
}

static void round_up(smma_envelope *e) {
  for (int i = 0; i < e->edges; i++) e->edge[i] = smma_tolerance_rounded_up(e->edge[i]);
}

void smma_tolerance_judge(smma_tolerance_study *x) {
  static double by_measured[SMMA_MUTANTS][SMMA_MOST_TOLERANCES], by_proven[SMMA_MUTANTS][SMMA_MOST_TOLERANCES];
  const smma_envelope least = envelope_of(x, 1, false, 0);
  smma_envelope measured = envelope_of(x, x->options->margin, false, NEAR_ZERO);
  smma_envelope proven = envelope_of(x, 1, true, NEAR_ZERO);
  double *values = require_memory(calloc(smma_tolerance_count(x), sizeof *values));
  int best;
  round_up(&measured), round_up(&proven);
  for (int m = 0; m < SMMA_MUTANTS; m++) {
    smma_verdict *v = &x->verdict[m];
    *v = (smma_verdict){smma_mutant_applies((smma_mutant)m, &x->target[0].product), true, 1, 1, 1};
    for (int e = 0; e < SMMA_MOST_TOLERANCES; e++) by_measured[m][e] = by_proven[m][e] = 1;
    for (int i = 0; v->applies && i < x->targets; i++) {
      const smma_tolerance_target *t = &x->target[i];
      refusals r;
      if (!smma_mutant_compute((smma_mutant)m, t->instruction, &t->product, t->stored, t->values, values))
        smma_die("out of memory");
      count_refusals(x, t, values, &least, &measured, &proven, &r);
      for (int e = 0; e < measured.edges; e++) lower(&by_measured[m][e], r.by_measured[e]);
      for (int e = 0; e < proven.edges; e++) lower(&by_proven[m][e], r.by_proven[e]);
      lower(&v->bound, r.by_bound);
      v->possible = v->possible && r.by_any > 0;
    }
  }
  free(values);
  best = best_edge(&measured, by_measured, x->verdict);
  x->measured = measured.edge[best];
  for (int m = 0; m < SMMA_MUTANTS; m++) x->verdict[m].measured = by_measured[m][best];
  best = best_edge(&proven, by_proven, x->verdict);
  x->proven = proven.edge[best];
  for (int m = 0; m < SMMA_MUTANTS; m++) x->verdict[m].proven = by_proven[m][best];
}
