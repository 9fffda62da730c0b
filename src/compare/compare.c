#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa/format_name.h"
#include "isa/key.h"

typedef struct {
  smma_compare_result *result;
  smma_passes passes; /* over products: for each target its own and two exact ones, for each result of the user's own an
                         exact one */
} study;

/* ---- One target ---- */

static bool multiply(study *x, smma_product_target *t, smma_error *error) {
  smma_gemm_arguments g = t->product;
  smma_status status = SMMA_NO_MEMORY;
  void *neutral;
  if (!g.progress) g.progress = smma_watch_pass, g.progress_context = &x->passes;
  if (smma_complete_product(&g, &neutral)) status = smma_gemm(t->instruction, &g);
  free(neutral);
  x->passes.done++;
  return status == SMMA_OK || smma_fail(error, "%s", smma_status_text(status));
}

static smma_encoded_matrix result_at(const smma_compare_result *x, size_t i) {
  const smma_compare_request *r = x->request;
  const smma_gemm_arguments *g = &r->target[0].product;
  return (smma_encoded_matrix){x->d, g->m, g->n, i < r->targets ? r->target[i].product.d : r->own[i - r->targets].d};
}

/* Compares a result with the exact product of the matrices before rounding. */
static bool measure_end_to_end(study *x, size_t i, smma_error *error) {
  const smma_compare_request *r = x->result->request;
  const smma_encoded_matrix d = result_at(x->result, i);
  const bool done = smma_error_against_exact(&r->a, &r->b, &d, smma_watch_pass, &x->passes, &x->result->error[i]);
  x->passes.done++;
  if (x->passes.stopped) return smma_fail(error, "interrupted");
  return done || smma_no_memory(error);
}

/* Compares a target's result with the exact product of its own operands. */
static bool measure_unit(study *x, size_t target, smma_error *error) {
  const smma_product_target *t = &x->result->request->target[target];
  const smma_encoded_matrix d = result_at(x->result, target);
  smma_encoded_matrix a, b;
  void *of_a = NULL, *of_b = NULL;
  const double alpha = (double)(float)t->product.alpha;
  bool done = smma_target_numbers(t, true, alpha, &a, &of_a) && smma_target_numbers(t, false, 1, &b, &of_b) &&
              smma_error_against_exact(&a, &b, &d, smma_watch_pass, &x->passes, &x->result->unit_error[target]);
  x->passes.done++;
  free(of_a), free(of_b);
  if (x->passes.stopped) return smma_fail(error, "interrupted");
  return done || smma_no_memory(error);
}

static bool check_tolerance(const char *name, double x, smma_error *error) {
  return (isfinite(x) && x >= 0) || smma_fail(error, "%s: %g is no number from 0 on", name, x);
}

bool smma_check_tolerances(const smma_compare_request *r, smma_error *error) {
  return !r->has_tolerances || (check_tolerance("rtol", r->rtol, error) && check_tolerance("atol", r->atol, error));
}

static bool check(const smma_compare_request *r, smma_error *error) {
  const smma_gemm_arguments *first = &r->target[0].product;
  if (!r->targets || r->targets + r->owns < 2 || r->targets + r->owns > SMMA_MOST_TARGETS)
    return smma_fail(error, "on: %zu targets and %zu results; give 2 to %d in all, which are compared, and a target",
                     r->targets, r->owns, SMMA_MOST_TARGETS);
  if (!smma_check_tolerances(r, error)) return false;
  for (size_t i = 0; i < r->targets; i++) {
    const smma_product_target *t = &r->target[i];
    const smma_format d = smma_plan_d_format(t->product.plan, t->instruction),
                      of_first = smma_plan_d_format(first->plan, r->target[0].instruction);
    if (d != of_first)
      return smma_fail(error, "on: %s has results in %s, %s in %s; all must have one format", t->instruction->name,
                       smma_format_text(d), r->target[0].label, smma_format_text(of_first));
    if (t->product.m != first->m || t->product.n != first->n || t->product.k != first->k)
      return smma_fail(error, "the products of %s and %s have different sizes", r->target[0].label, t->label);
    if (!smma_check_target(t, error)) return false;
  }
  return true;
}

bool smma_compare_run(const smma_compare_request *r, smma_compare_result *result, smma_error *error) {
  study x = {result, {r->watch, r->context, 0, 3 * r->targets + r->owns, false}};
  if (!check(r, error)) return false;
  memset(result, 0, sizeof *result);
  result->request = r, result->same = true;
  result->d = smma_plan_d_format(r->target[0].product.plan, r->target[0].instruction);
  for (size_t i = 0; i < r->targets + r->owns; i++) {
    const bool is_target = i < r->targets;
    if ((is_target && !multiply(&x, &r->target[i], error)) || !measure_end_to_end(&x, i, error) ||
        (is_target && !measure_unit(&x, i, error)))
      return false;
    const smma_encoded_matrix d = result_at(result, i);
    for (size_t j = 0; j < i; j++)
      result->pair[j][i] = smma_compare_results(result->d, result_at(result, j).data, d.data, d.rows * d.columns);
    if (r->has_tolerances)
      result->beyond[i] =
          smma_count_beyond(result->d, result_at(result, 0).data, d.data, d.rows * d.columns, r->rtol, r->atol);
    result->same = result->same && (r->has_tolerances ? result->beyond[i] : result->pair[0][i].different) == 0;
  }
  return true;
}

/* ---- The record ---- */

static smma_datum *error_datum(smma_product_error e) {
  smma_datum *record = smma_datum_record();
  smma_put_real(record, "largest", e.largest);
  smma_put_real(record, "rms", e.root_mean_square);
  smma_put_count(record, "left_out", e.left_out);
  return record;
}

/* Puts the differences of two results into a record. */
static void put_comparison(smma_datum *record, const smma_comparison *c) {
  smma_put_count(record, "different", c->different);
  smma_datum_put(record, "largest_ulps",
                 c->largest_ulps <= INT64_MAX ? smma_datum_count((int64_t)c->largest_ulps)
                                              : smma_datum_real((double)c->largest_ulps));
  smma_put_real(record, "largest_difference", smma_relative_difference(*c));
  smma_put_count(record, "special", c->special);
}

static smma_datum *pair_datum(const smma_compare_result *x, size_t first, size_t second) {
  smma_datum *record = smma_datum_record();
  put_comparison(record, &x->pair[first][second]);
  smma_put_count(record, "first", first);
  smma_put_count(record, "second", second);
  return record;
}

/* Returns the record of a result of the user's own, whose operands are not known. */
static smma_datum *own_datum(const smma_compare_result *x, size_t i) {
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "file", x->request->own[i - x->request->targets].name);
  put_comparison(record, &x->pair[0][i]);
  if (x->request->has_tolerances) smma_put_count(record, "beyond", x->beyond[i]);
  smma_datum_put(record, "error", error_datum(x->error[i]));
  return record;
}

/* Returns the record of a target's result, with its differences from the first target's. */
static smma_datum *unit_datum(const smma_compare_result *x, size_t unit) {
  if (unit >= x->request->targets) return own_datum(x, unit);
  const smma_product_target *t = &x->request->target[unit];
  smma_datum *record = smma_datum_record();
  smma_put_target(record, t);
  if (!t->instruction->scale_block) smma_put_text(record, "round_in", smma_roundings[t->rounding]);
  if (t->plan) smma_put_text(record, "plan", t->plan);
  put_comparison(record, &x->pair[0][unit]);
  if (x->request->has_tolerances) smma_put_count(record, "beyond", x->beyond[unit]);
  smma_datum_put(record, "error", error_datum(x->error[unit]));
  smma_datum_put(record, "unit_error", error_datum(x->unit_error[unit]));
  smma_put_alpha(record, t);
  return record;
}

smma_datum *smma_compare_datum(const smma_compare_result *x) {
  const smma_gemm_arguments *g = &x->request->target[0].product;
  smma_datum *record = smma_datum_record(), *units = smma_datum_list(), *pairs = smma_datum_list();
  for (size_t i = 0; i < x->request->targets + x->request->owns; i++) {
    smma_datum_append(units, unit_datum(x, i));
    for (size_t j = 0; j < i; j++) smma_datum_append(pairs, pair_datum(x, j, i));
  }
  smma_put_count(record, "m", g->m);
  smma_put_count(record, "n", g->n);
  smma_put_count(record, "k", g->k);
  smma_put_text(record, "out", smma_format_text(x->d));
  if (x->request->has_tolerances) {
    smma_put_real(record, "rtol", x->request->rtol);
    smma_put_real(record, "atol", x->request->atol);
  }
  smma_datum_put(record, "units", units);
  smma_datum_put(record, "pairs", pairs);
  return record;
}
