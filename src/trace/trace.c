#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "host/locale.h"
#include "host/thread.h"
#include "host/utf8.h"
#include "io/custom_file.h"
#include "isa/format_name.h"
#include "isa/key.h"
#include "numerics/compare.h"

bool smma_same_element(smma_format format, uint64_t x, uint64_t y) {
  const smma_encoding f = smma_encoding_of(format);
  return x == y || (smma_decode(f, x).kind == SMMA_NAN && smma_decode(f, y).kind == SMMA_NAN);
}

typedef struct {
  smma_trace_result *result;
  const smma_trace_request *request;
  smma_gemm_arguments product[SMMA_MOST_TRACED];
  void *neutral[SMMA_MOST_TRACED], *d[SMMA_MOST_TRACED];
  size_t elements;
  smma_passes passes; /* over matrices: each target's product, then the errors if they are searched */
} study;

static bool searches_errors(const smma_trace_request *r) { return r->finds_error && r->targets + r->owns == 1; }

/* ---- Names ---- */

/* Returns the last part of a path. */
static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const char *plan_text(const smma_product_target *t) { return t->plan ? t->plan : ""; }

/* Writes the first bytes of a text, or with `end` the last ones, without a character that would be cut. */
static void cut_text(char part[32], const char *text, bool end) {
  const size_t length = strlen(text), most = 30;
  if (end && length > most) text += length - most;
  while (end && ((unsigned char)*text & 0xc0) == 0x80) text++;
  snprintf(part, most + 1, "%s", text);
  smma_utf8_trim(part);
}

/* Names each target by its label, and by its plan if targets have different plans. Takes the last part of a file's
   path, or with `whole` the end of the path. */
static void name_targets_by(study *x, bool whole) {
  const smma_product_target *t = x->request->target;
  char label[32], plan[32];
  bool several = false;
  for (size_t i = 0; i < x->request->targets; i++) several = several || strcmp(plan_text(&t[i]), plan_text(&t[0])) != 0;
  for (size_t i = 0; i < x->request->targets; i++) {
    const bool is_file = smma_is_custom_file(t[i].label);
    cut_text(label, is_file && !whole ? base_name(t[i].label) : t[i].label, is_file && whole);
    cut_text(plan, whole ? plan_text(&t[i]) : base_name(plan_text(&t[i])), whole);
    snprintf(x->result->name[i], sizeof x->result->name[i], "%s%s%s%s%s", label, several ? " " : "",
             several ? plan : "", x->request->names_rounding ? " " : "",
             x->request->names_rounding ? smma_roundings[t[i].rounding] : "");
  }
}

/* Returns the number of targets before target `i` that have its name. */
static size_t count_namesakes(const study *x, size_t i) {
  size_t count = 0;
  for (size_t j = 0; j < i; j++) count += strcmp(x->result->name[j], x->result->name[i]) == 0;
  return count;
}

/* Gives each target a name of its own, with a number if their labels and plans are too long to tell them apart. */
static void name_targets(study *x) {
  size_t namesakes[SMMA_MOST_TRACED], all = 0;
  name_targets_by(x, false);
  for (size_t i = 0; i < x->request->targets; i++) all += count_namesakes(x, i);
  if (all) name_targets_by(x, true);
  for (size_t i = 0; i < x->request->targets; i++) namesakes[i] = count_namesakes(x, i);
  for (size_t i = 0; i < x->request->targets; i++)
    if (namesakes[i]) smma_append_text(x->result->name[i], sizeof x->result->name[i], " (%zu)", namesakes[i] + 1);
}

/* ---- The choice of the element ---- */

static bool compute(study *x, smma_error *error) {
  for (size_t i = 0; i < x->request->targets; i++) {
    smma_gemm_arguments *g = &x->product[i];
    smma_status status = SMMA_NO_MEMORY;
    g->d = x->d[i] = calloc(x->elements + 1, smma_format_bytes(x->result->d_format));
    if (!g->progress) g->progress = smma_watch_pass, g->progress_context = &x->passes;
    if (g->d) status = smma_gemm(x->request->target[i].instruction, g);
    if (status != SMMA_OK) return smma_fail(error, "%s", smma_status_text(status));
    x->passes.done++;
  }
  return x->result->whole = true;
}

/* The element in which two results differ most. A difference with NaN or infinity counts more than any difference of
   finite numbers. */
typedef struct {
  size_t differ, index; /* number of elements that differ; index of the element */
  double difference;    /* of the element's two values */
  double relative;      /* `difference` divided by the largest of the first results; infinity if they are all 0 */
  bool special;         /* whether the difference is with NaN or infinity */
} worst;

static worst find_worst(const study *x, const void *one, const void *other) {
  const smma_format format = x->result->d_format;
  const size_t bytes = smma_format_bytes(format);
  const double largest = smma_compare_results(format, one, other, x->elements).largest;
  worst w = {.differ = 0};
  for (size_t i = 0; i < x->elements; i++) {
    const smma_comparison c =
        smma_compare_results(format, (const char *)one + i * bytes, (const char *)other + i * bytes, 1);
    const bool more = c.special ? !w.special : !w.special && (!w.differ || c.largest_difference > w.difference);
    if (!c.different) continue;
    w.differ++;
    if (!more) continue;
    w.index = i, w.difference = c.largest_difference, w.special = c.special;
  }
  w.relative = w.difference == 0 ? 0 : largest == 0 ? INFINITY : w.difference / largest;
  return w;
}

/* A result with its name. */
typedef struct {
  const char *name;
  const void *d;
} named_result;

/* If the element in which two results differ most is worse than `*most`, replaces `*most` by it, and sets the traced
   element and the reason. */
static void take_worst(study *x, named_result one, named_result other, worst *most) {
  smma_trace_result *r = x->result;
  const worst w = find_worst(x, one.d, other.d);
  smma_locale locale;
  const bool worse = w.differ && (!most->differ || (!most->special && (w.special || w.relative > most->relative)));
  if (!worse) return;
  *most = w;
  r->at[0] = w.index / x->request->n, r->at[1] = w.index % x->request->n;
  snprintf(r->why, sizeof r->why, "%.500s and %.500s differ in %zu of %zu elements, here most", one.name, other.name,
           w.differ, x->elements);
  if (w.special) return;
  locale = smma_locale_enter();
  if (isfinite(w.relative))
    smma_append_text(r->why, sizeof r->why, ", by %.3g of the largest result", w.relative);
  else
    smma_append_text(r->why, sizeof r->why, ", by %.3g; all finite results of %.100s are 0", w.difference, one.name);
  smma_locale_leave(locale);
}

/* The errors of the elements of the first target's result. */
typedef struct {
  study *study;
  smma_error_of_element *error;
  bool memory;
} errors_found;

/* Computes the errors of `rows` x `columns` elements. `sum` has the exact sums of their products; NULL: not known. */
static void find_errors_of(const smma_exact_element *sum, size_t row, size_t rows, size_t column, size_t columns,
                           errors_found *found) {
  const study *x = found->study;
  const size_t bytes = smma_format_bytes(x->result->d_format);
  bool done = true;
  for (size_t n = 0; n < rows * columns; n++) {
    const size_t i = row + n / columns, j = column + n % columns, at = i * x->request->n + j;
    done = smma_element_error(x->request->target[0].instruction, &x->product[0], i, j, smma_load(bytes, x->d[0], at),
                              sum ? &sum[n] : NULL, &found->error[at]) == SMMA_OK &&
           done;
  }
  if (done) return;
#pragma omp atomic write
  found->memory = false;
}

static void take_tile(smma_exact_element *sum, size_t row, size_t rows, size_t column, size_t columns, void *found) {
  find_errors_of(sum, row, rows, column, columns, found);
}

static void find_errors_by_tiles(errors_found *found) {
  study *x = found->study;
  const smma_product_target *t = &x->request->target[0];
  smma_encoded_matrix a, b;
  void *of_a = NULL, *of_b = NULL;
  const bool done =
      smma_target_numbers(t, true, 1, &a, &of_a) && smma_target_numbers(t, false, 1, &b, &of_b) &&
      smma_exact_tiles(&a, &b, false, smma_threads(t->product.threads), take_tile, found, smma_watch_pass, &x->passes);
  free(of_a), free(of_b);
  if (!done) found->memory = false;
}

static void find_errors_one_by_one(errors_found *found) {
  study *x = found->study;
  const size_t m = x->request->m, n = x->request->n;
  const int threads = smma_threads(x->product[0].threads);
  size_t finished = 0;
  bool stopped = false;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (size_t at = 0; at < m * n; at++) {
    bool ends;
    size_t done;
#pragma omp atomic read
    ends = stopped;
    if (ends) continue;
    find_errors_of(NULL, at / n, 1, at % n, 1, found);
#pragma omp atomic capture
    done = ++finished;
    if (smma_this_thread() != 0 || !smma_watch_pass(done / n, m, &x->passes)) continue;
#pragma omp atomic write
    stopped = true;
  }
}

/* Sets `error` to the errors of all elements of the first target's result. Returns false if memory runs out, or if the
   study is stopped. */
static bool find_errors(study *x, smma_error_of_element *error) {
  errors_found found = {x, error, true};
  bool sums;
  if (smma_sums_all_products(x->request->target[0].instruction, &x->product[0], &sums) != SMMA_OK) return false;
  if (sums)
    find_errors_by_tiles(&found);
  else
    find_errors_one_by_one(&found);
  return found.memory && !x->passes.stopped;
}

/* Chooses the element of the first target's result with the largest error. Elements whose exact value is not finite
   have no error; a result that is not finite then has the largest. Returns false if memory runs out, or if the study
   is stopped. */
static bool choose_largest_error(study *x) {
  smma_trace_result *r = x->result;
  smma_error_of_element *error = calloc(x->elements, sizeof *error);
  double largest = 0, most = 0;
  smma_locale locale;
  size_t at = 0, finite = 0;
  if (!error || !find_errors(x, error)) return free(error), false;
  for (size_t i = 0; i < x->elements; i++) {
    const double distance = isfinite(error[i].error) ? fabs(error[i].error) : INFINITY;
    if (!isfinite(error[i].exact)) continue;
    finite++;
    largest = fmax(largest, fabs(error[i].exact));
    if (distance > most) most = distance, at = i;
  }
  free(error);
  r->at[0] = at / x->request->n, r->at[1] = at % x->request->n;
  locale = smma_locale_enter();
  snprintf(r->why, sizeof r->why,
           finite == 0                         ? "no exact result is finite, so the errors of %s are not known"
           : most == 0 && finite < x->elements ? "all results of %s are exact, of those with finite exact ones"
           : most == 0                         ? "all results of %s are exact"
           : !isfinite(most)                   ? "%s has NaN or infinity here, and the exact result is finite"
           : largest == 0                      ? "the error of %s is largest here, %.3g; all finite exact results are 0"
                                               : "the error of %s is largest here, %.3g of the largest exact result",
           r->name[0], largest == 0 ? most : most / largest);
  smma_locale_leave(locale);
  return true;
}

/* Chooses the element in which two results differ most. If the user supplied two results, compares these. If the user
   supplied one, or the two are the same, compares the first with that of the first target. If none of these differ,
   compares every two targets. */
static void choose_worst(study *x) {
  const smma_own_result *own = x->request->own;
  smma_trace_result *r = x->result;
  const size_t owns = x->request->owns;
  const named_result first = {r->name[0], x->d[0]};
  worst most = {.differ = 0};
  if (owns > 1) take_worst(x, (named_result){own[0].name, own[0].d}, (named_result){own[1].name, own[1].d}, &most);
  if (owns && !most.differ) take_worst(x, (named_result){own[0].name, own[0].d}, first, &most);
  const bool alike = !most.differ;
  for (size_t i = 0; alike && i < x->request->targets; i++)
    for (size_t j = 0; j < i; j++)
      take_worst(x, (named_result){r->name[j], x->d[j]}, (named_result){r->name[i], x->d[i]}, &most);
  if (!most.differ)
    snprintf(r->why, sizeof r->why,
             x->request->targets + owns > 1 ? "all results are the same" : "there is one result alone");
}

static void compare_owns(study *x) {
  const size_t at = x->result->at[0] * x->request->n + x->result->at[1];
  for (size_t o = 0; o < x->request->owns; o++) {
    const void *d = x->request->own[o].d;
    x->result->own[o] = smma_load(smma_format_bytes(x->result->d_format), d, at);
    for (size_t i = 0; x->result->whole && i < x->request->targets; i++)
      x->result->own_differ[o][i] = find_worst(x, d, x->d[i]).differ;
  }
}

/* ---- The trace ---- */

/* Reports whether the targets' results differ. Targets may diverge and become equal again. */
static bool results_differ(const smma_trace_result *r) {
  for (size_t i = 1; i < r->request->targets; i++) {
    const smma_trace *t = &r->trace[i], *first = &r->trace[0];
    const double value = smma_format_decode(t->d_format, t->d), other = smma_format_decode(first->d_format, first->d);
    const bool same = t->d_format == first->d_format ? smma_same_element(t->d_format, t->d, first->d)
                                                     : value == other || (isnan(value) && isnan(other));
    if (!same) return true;
  }
  return false;
}

/* Sets r->divergence to the two targets that diverge after the fewest products. */
static void find_first_divergence(smma_trace_result *r) {
  smma_explained_divergence *first = &r->divergence;
  for (size_t i = 0; i < r->request->targets; i++)
    for (size_t j = 0; j < i; j++) {
      const smma_divergence p = smma_find_divergence(&r->trace[j], &r->trace[i]);
      if (!p.diverges || (first->found.diverges && first->found.products <= p.products)) continue;
      first->found = p, first->target[0] = j, first->target[1] = i;
    }
}

static bool trace_all(study *x, smma_error *error) {
  smma_trace_result *r = x->result;
  for (size_t i = 0; i < x->request->targets; i++) {
    const smma_gemm_arguments *g = &x->product[i];
    const bool whole = g->m == x->request->m && g->n == x->request->n;
    const smma_status status = smma_trace_element(x->request->target[i].instruction, g, whole ? r->at[0] : 0,
                                                  whole ? r->at[1] : 0, &r->trace[i]);
    if (status != SMMA_OK) return smma_fail(error, "%s", smma_status_text(status));
  }
  find_first_divergence(r);
  r->differ = results_differ(r);
  return smma_explain_divergence(r) || smma_no_memory(error);
}

static bool check(const smma_trace_request *r, smma_format d_format, smma_error *error) {
  if (!r->targets || r->targets > SMMA_MOST_TRACED)
    return smma_fail(error, "on: %zu targets; give 1 to %d", r->targets, SMMA_MOST_TRACED);
  if (!r->is_chosen && d_format == SMMA_NO_FORMAT)
    return smma_fail(error,
                     "at: results of the targets are in different formats, which are not compared; give an "
                     "element");
  if (r->owns && d_format == SMMA_NO_FORMAT)
    return smma_fail(error, "d: results of the targets are in different formats; give targets with one");
  if (!r->m || !r->n) return smma_fail(error, "the product has no elements: it is %zu x %zu", r->m, r->n);
  if (r->is_chosen && (r->at[0] >= r->m || r->at[1] >= r->n))
    return smma_fail(error, "at: [%zu, %zu] is not in the product, which is %zu x %zu", r->at[0], r->at[1], r->m, r->n);
  for (size_t i = 0; i < r->targets; i++) {
    const smma_gemm_arguments *g = &r->target[i].product;
    const bool part = r->is_chosen && g->m == 1 && g->n == 1, whole = g->m == r->m && g->n == r->n;
    if ((!part && !whole) || g->k != r->k)
      return smma_fail(error, "the product of %s is %zu x %zu x %zu, not %zu x %zu x %zu", r->target[i].label, g->m,
                       g->n, g->k, r->m, r->n, r->k);
    if (!smma_check_target(&r->target[i], error)) return false;
  }
  return true;
}

bool smma_trace_run(const smma_trace_request *request, smma_trace_result *result, smma_error *error) {
  study x = {.result = result,
             .request = request,
             .elements = request->m * request->n,
             .passes = {request->watch, request->context, 0, request->targets + searches_errors(request), false}};
  bool done = true;
  memset(result, 0, sizeof *result);
  result->request = request, result->d_format = smma_common_d(request->target, request->targets);
  if (!check(request, result->d_format, error)) return false;
  name_targets(&x);
  for (size_t i = 0; done && i < request->targets; i++) {
    x.product[i] = request->target[i].product;
    done = smma_complete_product(&x.product[i], &x.neutral[i]) || smma_no_memory(error);
  }
  if (request->is_chosen) memcpy(result->at, request->at, sizeof result->at);
  if (!request->is_chosen) done = done && compute(&x, error);
  if (!request->is_chosen && done) {
    if (searches_errors(request))
      done = choose_largest_error(&x) || (x.passes.stopped ? smma_fail(error, "interrupted") : smma_no_memory(error));
    else
      choose_worst(&x);
  }
  if (done) compare_owns(&x);
  done = done && trace_all(&x, error);
  for (size_t i = 0; i < request->targets; i++) free(x.neutral[i]), free(x.d[i]);
  return done;
}

void smma_trace_result_free(smma_trace_result *result) {
  for (size_t i = 0; i < SMMA_MOST_TRACED; i++) smma_trace_free(&result->trace[i]);
  smma_explained_divergence_free(&result->divergence);
}
