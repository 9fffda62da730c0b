#include "tolerance/tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/composition.h"
#include "isa/format_name.h"
#include "tolerance/measured.h"

const double smma_quantiles[SMMA_QUANTILES] = {0.5, 0.9, 0.99, 0.999, 1};

/* Rows whose bounds are computed between two checks for an interruption. */
enum { BOUND_ROWS = 64 };

typedef struct {
  smma_tolerance_result *result;
  smma_measured sample[SMMA_MOST_TARGETS];
  size_t samples, count; /* count: number of elements in each sample */
  double *space;         /* room for one number for each element */
} study;

/* ---- Errors ---- */

static int compare_doubles(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

void smma_take_quantiles(double *values, size_t count, double result[SMMA_QUANTILES]) {
  qsort(values, count, sizeof *values, compare_doubles);
  for (int i = 0; i < SMMA_QUANTILES; i++) {
    const double rank = ceil(smma_quantiles[i] * (double)count);
    result[i] = count ? values[rank < 1 ? 0 : (size_t)rank - 1] : NAN;
  }
}

static double greater_bound(const smma_bounded *b) { return b->below > b->above ? b->below : b->above; }

static bool compute_bounds(smma_measured *s, smma_error *error) {
  const smma_gemm_arguments *g = &s->product;
  for (size_t row = 0; row < g->m; row += BOUND_ROWS) {
    const size_t rows = g->m - row < BOUND_ROWS ? g->m - row : BOUND_ROWS;
    const smma_status status = smma_bound_rows(s->of->instruction, g, s->stored, row, rows, s->bound + row * g->n);
    if (status != SMMA_OK) return smma_fail(error, "%s", smma_status_text(status));
    if (g->progress && g->progress(row, g->m, g->progress_context)) return smma_fail(error, "interrupted");
  }
  return true;
}

/* Reports whether some rtol and atol accept the result: if the exact one or it is not finite, they must be equal. */
static bool is_acceptable(double exact, double value) {
  if (isfinite(exact)) return isfinite(value);
  return isnan(exact) ? isnan(value) : value == exact;
}

static bool measure(study *x, size_t target, smma_error *error) {
  smma_measured *s = &x->sample[target];
  smma_target_error *t = &x->result->target[target];
  size_t finite = 0;
  if (!compute_bounds(s, error)) return false;
  if (!smma_product_compute(s->of->instruction, &s->product, s->stored, s->values)) return smma_no_memory(error);
  for (size_t i = 0; i < x->count; i++) {
    const smma_bounded *b = &s->bound[i];
    const double off = fabs(smma_bounded_error(b, s->values[i]));
    t->special += !isfinite(b->exact);
    t->overflowed += !is_acceptable(b->exact, s->values[i]);
    if (isfinite(b->exact) && isinf(b->below)) t->unbounded++;
    if (isfinite(b->exact) && !isinf(b->below) && greater_bound(b) > t->most_bound) t->most_bound = greater_bound(b);
    if (isfinite(b->exact) && !smma_bounded_accepts(b, s->values[i]))
      return smma_fail(error, "internal error: element %zu of %s is %a, which its bound refuses", i, s->of->label,
                       s->values[i]);
    if (!isnan(off)) x->space[finite++] = off;
  }
  smma_take_quantiles(x->space, finite, t->error);
  x->result->is_measured = x->result->is_measured && !t->overflowed;
  x->result->is_proven = x->result->is_proven && !t->unbounded && !t->overflowed;
  if (target) return true;
  finite = 0;
  for (size_t i = 0; i < x->count; i++)
    if (isfinite(s->bound[i].exact)) x->space[finite++] = fabs(s->bound[i].exact);
  smma_take_quantiles(x->space, finite, x->result->exact);
  return true;
}

/* ---- Tolerances ---- */

static smma_error_point point_of(const smma_bounded *b, double value) {
  const double error = fabs(smma_bounded_error(b, value));
  return (smma_error_point){fabs(b->exact), isfinite(b->exact) && isnan(error) ? INFINITY : error};
}

/* This share of elements, those nearest to 0, count as 0, because with other data they may be 0. */
#define NEAR_ZERO 0.05

/* Sets the envelope of the measured errors times `margin`, or of the bounds. Leaves out elements that have no finite
   error or bound. Returns false if memory runs out. */
static bool envelope_of(const study *x, double margin, bool bounds, double near, smma_envelope *envelope) {
  smma_error_point *points = calloc(x->count * x->samples, sizeof *points);
  size_t all = 0;
  if (!points) return false;
  for (const smma_measured *s = x->sample; s < x->sample + x->samples; s++)
    for (size_t j = 0; j < x->count; j++) {
      smma_error_point p = point_of(&s->bound[j], s->values[j]);
      p.error = bounds ? greater_bound(&s->bound[j]) : p.error * margin;
      if (isfinite(p.error) && isfinite(p.exact)) points[all++] = p;
    }
  *envelope = smma_envelope_of(points, all, near);
  free(points);
  return true;
}

/* Three envelopes, whose edges are candidate tolerances: `least` accepts the measured errors, `measured` accepts them
   with the margin, and `proven` accepts the bounds. */
typedef struct {
  smma_envelope least, measured, proven;
} envelopes;

/* Shares of the elements of one mutant, on one target, that are refused: by each tolerance, by the elements' bounds,
   and by any tolerance. */
typedef struct {
  double by_measured[SMMA_MOST_TOLERANCES], by_proven[SMMA_MOST_TOLERANCES], by_bound, by_any;
} refusals;

static void count_refusals(const smma_measured *s, size_t count, const double *values, const envelopes *of,
                           refusals *r) {
  const smma_envelope *measured = &of->measured, *proven = &of->proven;
  const double part = 1 / (double)count;
  memset(r, 0, sizeof *r);
  for (size_t i = 0; i < count; i++) {
    const smma_bounded *b = &s->bound[i];
    const smma_error_point p = point_of(b, values[i]);
    if (!smma_bounded_accepts(b, values[i])) r->by_bound += part;
    if (!is_acceptable(b->exact, values[i])) {
      for (int e = 0; e < measured->edges; e++) r->by_measured[e] += part;
      for (int e = 0; e < proven->edges; e++) r->by_proven[e] += part;
      r->by_any += part;
      continue;
    }
    if (!isfinite(b->exact)) continue;
    for (int e = 0; e < measured->edges; e++)
      r->by_measured[e] += smma_tolerance_accepts(measured->edge[e], p) ? 0 : part;
    for (int e = 0; e < proven->edges; e++) r->by_proven[e] += smma_tolerance_accepts(proven->edge[e], p) ? 0 : part;
    if (smma_envelope_refuses(&of->least, p)) r->by_any += part;
  }
}

static void lower(double *least, double x) {
  if (x < *least) *least = x;
}

/* For each mutant and each tolerance of an envelope, the share of elements that is refused. */
typedef double refused_shares[SMMA_MUTANTS][SMMA_MOST_TOLERANCES];

/* Returns the edge that refuses the most mutants; of several such edges, the one that refuses the most elements. */
static int best_edge(const smma_envelope *e, refused_shares refused, const smma_verdict verdicts[SMMA_MUTANTS]) {
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

/* Tests a mutant on every target. Returns false if memory runs out, or if interrupted. */
static bool judge_mutant(const study *x, const envelopes *of, smma_mutant mutant, double *by_measured,
                         double *by_proven) {
  smma_verdict *v = &x->result->verdict[mutant];
  *v = (smma_verdict){smma_mutant_applies(mutant, &x->sample[0].product), x->result->is_measured, 1, 1, 1};
  for (int e = 0; e < SMMA_MOST_TOLERANCES; e++) by_measured[e] = by_proven[e] = 1;
  for (size_t i = 0; v->applies && i < x->samples; i++) {
    const smma_measured *s = &x->sample[i];
    refusals r;
    if (!smma_mutant_compute(mutant, s->of->instruction, &s->product, s->stored, s->values, x->space)) return false;
    count_refusals(s, x->count, x->space, of, &r);
    for (int e = 0; e < of->measured.edges; e++) lower(&by_measured[e], r.by_measured[e]);
    for (int e = 0; e < of->proven.edges; e++) lower(&by_proven[e], r.by_proven[e]);
    lower(&v->bound, r.by_bound);
    v->possible = v->possible && r.by_any > 0;
  }
  return true;
}

static bool judge(const study *x, smma_error *error) {
  smma_tolerance_result *result = x->result;
  refused_shares by_measured, by_proven;
  envelopes of;
  int measured, proven;
  if (!envelope_of(x, 1, false, 0, &of.least) ||
      !envelope_of(x, result->request->margin, false, NEAR_ZERO, &of.measured) ||
      !envelope_of(x, 1, true, NEAR_ZERO, &of.proven))
    return smma_no_memory(error);
  round_up(&of.measured), round_up(&of.proven);
  for (int m = 0; m < SMMA_MUTANTS; m++)
    if (!judge_mutant(x, &of, (smma_mutant)m, by_measured[m], by_proven[m])) return smma_no_memory(error);
  measured = best_edge(&of.measured, by_measured, result->verdict);
  proven = best_edge(&of.proven, by_proven, result->verdict);
  result->measured = of.measured.edge[measured], result->proven = of.proven.edge[proven];
  for (int m = 0; m < SMMA_MUTANTS; m++)
    result->verdict[m].measured = by_measured[m][measured], result->verdict[m].proven = by_proven[m][proven];
  return true;
}

/* ---- The whole ---- */

static bool check_numbers(const smma_tolerance_request *r, const smma_gemm_arguments *g, smma_error *error) {
  if (!r->targets || r->targets > SMMA_MOST_TARGETS)
    return smma_fail(error, "on: %zu targets; give 1 to %d", r->targets, SMMA_MOST_TARGETS);
  if (!(r->margin >= 1 && r->margin <= 1000))
    return smma_fail(error, "margin: %g is not a number from 1 to 1000", r->margin);
  if (!isfinite(g->alpha) || !isfinite(g->beta)) return smma_fail(error, "alpha, beta: they are finite numbers");
  if (!g->a && (!r->m || !r->n || !r->k || r->k > (size_t)1 << 30))
    return smma_fail(error, "shape: %zu x %zu x %zu: M, N and K are at least 1, and K at most 2^30", r->m, r->n, r->k);
  return !g->a || (g->m && g->n && g->k) ||
         smma_fail(error, "%s times %s is empty; there is nothing to measure", r->a, r->b);
}

/* Fails if the target cannot have errors, if its plan does not use an argument, or if its results cannot be stored in
   the format of the request. */
static bool check_target(const smma_tolerance_request *r, const smma_product_target *t, smma_error *error) {
  const smma_gemm_arguments *g = &t->product, *first = &r->target[0].product;
  const smma_format d = smma_plan_d_format(t->product.plan, t->instruction);
  smma_product_target whole = *t;
  const char *misplaced;
  if (!g->a != !first->a || g->m != first->m || g->n != first->n || g->k != first->k)
    return smma_fail(error, "the products of %s and %s have different sizes", r->target[0].label, t->label);
  if (smma_products_of(&t->instruction->rule->rule) != SMMA_PRODUCT_MULTIPLIED)
    return smma_fail(error, "instr: %s sums a xor b, which is no product of A and B: it has no error to measure",
                     t->instruction->name);
  if (r->stored != SMMA_NO_FORMAT &&
      (smma_is_integer(r->stored) != smma_is_integer(d) || smma_format_bits(r->stored) == 6))
    return smma_fail(error, "store: %s of results in %s is not what kernels store", smma_format_text(r->stored),
                     smma_format_text(d));
  if (!t->product.a) whole.product.k = r->k;
  if (!t->product.a && r->with_c) whole.product.c = t;
  misplaced = smma_find_misplaced(t->instruction, &whole.product);
  if (misplaced)
    return smma_fail(error, "%s: the plan of %s has no place for it; leave it out",
                     strcmp(misplaced, "c") == 0 && !t->product.c ? "with_c" : misplaced, t->plan ? t->plan : "none");
  return smma_check_target(&whole, error);
}

/* Tells the watcher that some targets are measured. Fails if it ends the study. */
static bool goes_on(const smma_tolerance_request *r, size_t measured, smma_error *error) {
  return !r->watch || !r->watch(measured, r->targets, r->context) || smma_fail(error, "interrupted");
}

/* Fails if no element of the target has an error that could be measured. */
static bool check_measured(const study *x, size_t target, smma_error *error) {
  const smma_tolerance_request *r = x->result->request;
  return x->result->target[target].special < x->count ||
         smma_fail(error, "%s: all exact results are NaN or infinite; there is nothing to measure",
                   r->target[target].product.a ? r->target[target].label : "data");
}

static bool measure_all(study *x, bool judged, smma_error *error) {
  const smma_tolerance_request *r = x->result->request;
  x->space = calloc(x->count, sizeof *x->space);
  if (!x->space) return smma_no_memory(error);
  for (; x->samples < r->targets; x->samples++) {
    smma_measured *s = &x->sample[x->samples];
    smma_target_error *t = &x->result->target[x->samples];
    const bool made = smma_measured_make(x->result, &r->target[x->samples], s, error);
    t->d = smma_plan_d_format(s->of->product.plan, s->of->instruction);
    s->stored = t->stored = r->stored == SMMA_NO_FORMAT ? t->d : r->stored;
    if (!made || !measure(x, x->samples, error) || (judged && !check_measured(x, x->samples, error)) ||
        !goes_on(r, x->samples + 1, error))
      return smma_measured_free(s), false;
  }
  return true;
}

bool smma_tolerance_check(const smma_tolerance_request *request, smma_error *error) {
  bool good = check_numbers(request, &request->target[0].product, error);
  for (size_t i = 0; good && i < request->targets; i++) good = check_target(request, &request->target[i], error);
  return good;
}

static bool run(const smma_tolerance_request *request, bool judged, smma_tolerance_result *result, smma_error *error) {
  study x = {.result = result};
  bool done;
  *result = (smma_tolerance_result){.request = request, .is_measured = true, .is_proven = true};
  if (!smma_tolerance_check(request, error)) return false;
  smma_measured_sizes(request, result);
  x.count = result->rows * result->columns;
  done = measure_all(&x, judged, error) && (!judged || judge(&x, error));
  for (size_t i = 0; i < x.samples; i++) smma_measured_free(&x.sample[i]);
  free(x.space);
  return done;
}

bool smma_tolerance_run(const smma_tolerance_request *request, smma_tolerance_result *result, smma_error *error) {
  return run(request, true, result, error);
}

bool smma_tolerance_measure(const smma_tolerance_request *request, smma_tolerance_result *result, smma_error *error) {
  return run(request, false, result, error);
}
