#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace.h"
#include "cli/values.h"
#include "host/load.h"
#include "numerics/compare.h"

/* Rows of the table at most, but for folds and what follows the sum; a shorter sum is shown whole. */
enum { MOST_ROWS = 24 };

/* ---- Words ---- */

void smma_traced_plan_text(const smma_traced *u, char *text, size_t size) {
  if (u->plan->plan)
    snprintf(text, size, "plan %s", u->plan->text);
  else
    snprintf(text, size, "one chain");
}

void smma_k_text(const smma_trace *t, size_t instruction, char *text, size_t size) {
  const size_t each = t->schedule.k_per_step, *k = t->schedule.k + instruction * each;
  size_t used = (size_t)snprintf(text, size, "%s", k[0] == SMMA_NO_PRODUCT ? "-" : "");
  for (size_t i = 0, last; i < each && k[i] != SMMA_NO_PRODUCT && used < size; i = last + 1) {
    for (last = i; last + 1 < each && k[last + 1] == k[last] + 1;) last++;
    used += (size_t)snprintf(text + used, size - used, "%s%zu", i ? ", " : "", k[i]);
    if (last > i && used < size) used += (size_t)snprintf(text + used, size - used, "..%zu", k[last]);
  }
}

static void fold_text(const smma_task *task, char *text, size_t size) {
  static const char *const what[] = {
      [SMMA_WITH_ADD] = "added", [SMMA_WITH_FMA] = "scaled and added", [SMMA_WITH_MULTIPLY_FMA] = "scaled and added"};
  size_t used = (size_t)snprintf(text, size, "part %s", task->kind == SMMA_TASK_MOVE ? "moved" : what[task->with]);
  if (task->to == task->from) used = (size_t)snprintf(text, size, "C begins a total"); /* and is rounded */
  if (task->stored >= 0 && used < size)
    used += (size_t)snprintf(text + used, size - used, " in %s", smma_format_text((smma_format)task->stored));
  if (task->total >= 0 && used < size)
    snprintf(text + used, size - used, ", total to %s", smma_format_text((smma_format)task->total));
}

void smma_event_text(const smma_trace *t, const smma_trace_event *e, char *text, size_t size) {
  static const char *const names[] = {"alpha", "alpha x + beta c", "bias", "scale-d", "relu", "round", "clamp"};
  const smma_epilogue *operation = &t->epilogue[e->kind == SMMA_TRACE_EPILOGUE ? e->index : 0];
  const bool to = operation->kind == SMMA_EPILOGUE_ROUND || operation->kind == SMMA_EPILOGUE_CLAMP;
  switch (e->kind) {
    case SMMA_TRACE_START: snprintf(text, size, "C"); break;
    case SMMA_TRACE_INSTRUCTION: snprintf(text, size, "instruction %zu", e->index); break;
    case SMMA_TRACE_FOLD: fold_text(&t->schedule.task[e->index], text, size); break;
    case SMMA_TRACE_EPILOGUE:
      snprintf(text, size, "%s%s%s", names[operation->kind], to ? " " : "",
               to ? smma_format_text(operation->format) : "");
      break;
    case SMMA_TRACE_STORE: snprintf(text, size, "stored in %s", smma_format_text(t->d_format)); break;
  }
}

/* ---- What there is to say of a trace ---- */

/* The greatest error, and the greatest that one event has made; NO_EVENT where there is none. */
typedef struct {
  size_t error, loss;
} extremes;

#define NO_EVENT SIZE_MAX

static double loss_of(const smma_trace *t, size_t event) {
  return t->event[event].error - (event ? t->event[event - 1].error : 0);
}

static extremes extremes_of(const smma_trace *t) {
  extremes x = {NO_EVENT, NO_EVENT};
  double most_error = 0, most_loss = 0;
  for (size_t e = 0; e < t->events; e++) {
    const double error = fabs(t->event[e].error), loss = fabs(loss_of(t, e));
    if (error > most_error) most_error = error, x.error = e;
    if (loss > most_loss && t->event[e].kind != SMMA_TRACE_EPILOGUE) most_loss = loss, x.loss = e;
  }
  return x;
}

/* The event behind which a target has summed so many products, or NO_EVENT; `folded`: behind its folds, too. */
static size_t event_at(const smma_trace *t, size_t products, bool folded) {
  size_t low = 0, high = t->events;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (t->event[middle].products < products)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == t->events || t->event[low].products != products || t->event[low].kind >= SMMA_TRACE_EPILOGUE)
    return NO_EVENT;
  while (folded && low + 1 < t->events && t->event[low + 1].kind == SMMA_TRACE_FOLD &&
         t->event[low + 1].products == products)
    low++;
  return low;
}

/* ---- Which rows ---- */

typedef struct {
  size_t *products; /* in ascending order */
  size_t count, all;
} rows;

static int compare_sizes(const void *x, const void *y) {
  const size_t a = *(const size_t *)x, b = *(const size_t *)y;
  return (a > b) - (a < b);
}

static void *require_memory(void *memory) {
  if (!memory) smma_die("out of memory");
  return memory;
}

/* Sorts, and takes each once. */
static void tidy(rows *r) {
  size_t kept = 0;
  qsort(r->products, r->count, sizeof *r->products, compare_sizes);
  for (size_t i = 0; i < r->count; i++)
    if (!kept || r->products[kept - 1] != r->products[i]) r->products[kept++] = r->products[i];
  r->count = kept;
}

/* Numbers of products behind which every target has a sum. */
static rows common_rows(const smma_traced_element *x) {
  const smma_trace *first = &x->unit[0].trace;
  rows r = {.products = require_memory(malloc((first->events + 1) * sizeof *r.products))};
  for (size_t e = 0; e < first->events; e++) {
    const size_t n = first->event[e].products;
    bool everywhere = first->event[e].kind == SMMA_TRACE_INSTRUCTION;
    for (size_t u = 1; everywhere && u < x->units; u++) everywhere = event_at(&x->unit[u].trace, n, false) != NO_EVENT;
    if (everywhere) r.products[r.count++] = n;
  }
  r.all = r.count;
  return r;
}

/* The first and last rows, those at powers of two, around each target's parting and at its extremes. */
static rows chosen_rows(const smma_traced_element *x) {
  const rows all = common_rows(x);
  rows r = {.products = require_memory(malloc((2 * MOST_ROWS + 200) * sizeof *r.products)), .all = all.count};
  const size_t least = x->parting.parted ? x->parting.products : 0;
  if (all.count <= MOST_ROWS) {
    for (; r.count < all.count; r.count++) r.products[r.count] = all.products[r.count];
  } else {
    for (size_t i = 0; i < 2; i++)
      r.products[r.count++] = all.products[i], r.products[r.count++] = all.products[all.count - 1 - i];
    for (size_t step = 1; step < all.count; step *= 2 + 2 * (all.count > 4096))
      r.products[r.count++] = all.products[step - 1];
    for (size_t i = 0; i < all.count; i++)
      if (all.products[i] >= least && least) {
        if (i) r.products[r.count++] = all.products[i - 1];
        r.products[r.count++] = all.products[i];
        if (i + 1 < all.count) r.products[r.count++] = all.products[i + 1];
        break;
      }
  }
  for (size_t u = 0; u < x->units; u++) {
    const smma_trace *t = &x->unit[u].trace;
    const extremes e = extremes_of(t);
    if (e.error != NO_EVENT && t->event[e.error].products) r.products[r.count++] = t->event[e.error].products;
    if (e.loss != NO_EVENT && t->event[e.loss].products) r.products[r.count++] = t->event[e.loss].products;
  }
  if (x->parting.parted) { /* the steps between: few, or only the last */
    for (int p = 0; p < 2; p++) {
      const smma_trace *t = &x->unit[x->parted[p]].trace;
      const size_t last = x->parting.last[p], first = x->parting.first[p];
      for (size_t e = last >= first + 4 ? last - 3 : first; e <= last && e < t->events; e++)
        if (t->event[e].products) r.products[r.count++] = t->event[e].products;
    }
  }
  free(all.products);
  tidy(&r);
  return r;
}

/* ---- The table ---- */

typedef struct {
  char line[2048]; /* that is being written */
  size_t used;
  const smma_traced_element *x;
  bool one_exact; /* all targets have the same exact sums */
  int digits, first_width;
  int exact_width, width[SMMA_MOST_TRACED]; /* of exact sums, and of each target's */
  int k_width[SMMA_MOST_TRACED];            /* of targets that take k in another order; 0 */
} table;

__attribute__((format(printf, 2, 3))) static void put(table *t, const char *format, ...) {
  va_list arguments;
  int length;
  va_start(arguments, format);
  length = vsnprintf(t->line + t->used, sizeof t->line - t->used, format, arguments);
  va_end(arguments);
  t->used += (size_t)length;
  if (t->used >= sizeof t->line) t->used = sizeof t->line - 1;
}

/* Without the blanks at its end. */
static void end_line(table *t) {
  while (t->used > 0 && t->line[t->used - 1] == ' ') t->used--;
  printf("%.*s\n", (int)t->used, t->line);
  t->used = 0;
}

static double last_exact(const smma_trace *t) { return t->events ? t->event[t->events - 1].exact : 0; }

static bool same_exact(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

/* Whether targets have the same exact sum behind each row, and at the end. */
static bool have_one_exact(const smma_traced_element *x, const rows *r) {
  for (size_t u = 1; u < x->units; u++)
    if (!same_exact(last_exact(&x->unit[u].trace), last_exact(&x->unit[0].trace))) return false;
  for (size_t i = 0; i < r->count; i++) {
    const smma_trace *first = NULL;
    size_t at = 0;
    for (size_t u = 0; u < x->units; u++) {
      const smma_trace *t = &x->unit[u].trace;
      const size_t e = event_at(t, r->products[i], false);
      if (e == NO_EVENT) continue;
      if (first && !same_exact(t->event[e].exact, first->event[at].exact)) return false;
      if (!first) first = t, at = e;
    }
  }
  return true;
}

static void number(char text[48], double value, int digits) {
  if (isnan(value))
    snprintf(text, 48, "NaN");
  else
    snprintf(text, 48, "%.*g", digits, value);
}

static void error_cell(char text[48], double error) {
  if (isnan(error))
    snprintf(text, 48, "-");
  else
    snprintf(text, 48, error == 0 ? "0" : "%+.2e", error);
}

static void print_cells(table *t, size_t unit, const smma_trace_event *e, const char *k) {
  char value[48] = "", exact[48] = "", error[48] = "";
  if (e) number(value, e->value + e->rest, t->digits), number(exact, e->exact, t->digits), error_cell(error, e->error);
  if (t->k_width[unit]) put(t, "  %*s", t->k_width[unit], k);
  if (!t->one_exact) put(t, "  %*s", t->exact_width, exact);
  put(t, "  %*s  %9s", t->width[unit], value, error);
}

static void print_head(table *t) {
  const smma_traced_element *x = t->x;
  put(t, "%*s", t->first_width, "products");
  if (t->one_exact) put(t, "  %*s", t->exact_width, "exact");
  for (size_t u = 0; u < x->units; u++) {
    if (t->k_width[u]) put(t, "  %*s", t->k_width[u], "k");
    if (!t->one_exact) put(t, "  %*s", t->exact_width, "exact");
    put(t, "  %*s  %9s", t->width[u], x->unit[u].name, "error");
  }
  end_line(t);
}

static void print_label(table *t, const char *label, const double *exact) {
  char text[48] = "";
  if (exact) number(text, *exact, t->digits);
  put(t, "%*s", t->first_width, label);
  if (t->one_exact) put(t, "  %*s", t->exact_width, text);
}

static const double *exact_at(const table *t, size_t products) {
  for (size_t u = 0; u < t->x->units; u++) {
    const smma_trace *trace = &t->x->unit[u].trace;
    const size_t e = event_at(trace, products, false);
    if (e != NO_EVENT) return &trace->event[e].exact;
  }
  return NULL;
}

static bool folds_change(const smma_traced_element *x, size_t products) {
  for (size_t u = 0; u < x->units; u++) {
    const smma_trace *t = &x->unit[u].trace;
    const size_t before = event_at(t, products, false), behind = event_at(t, products, true);
    if (before != behind &&
        (t->event[before].value != t->event[behind].value || t->event[before].rest != t->event[behind].rest))
      return true;
  }
  return false;
}

/* What stands behind a row. */
static void print_remark(table *t, size_t products) {
  const smma_traced_element *x = t->x;
  if (x->parting.parted && x->parting.products == products && x->parting.kind != SMMA_TRACE_EPILOGUE)
    put(t, "  %s and %s part", x->unit[x->parted[0]].name, x->unit[x->parted[1]].name);
  end_line(t);
}

static void print_row(table *t, size_t products) {
  const smma_traced_element *x = t->x;
  char label[32], k[128];
  snprintf(label, sizeof label, "%zu", products);
  print_label(t, label, exact_at(t, products));
  for (size_t u = 0; u < x->units; u++) {
    const smma_trace *trace = &x->unit[u].trace;
    const size_t e = event_at(trace, products, false);
    k[0] = 0;
    if (e != NO_EVENT && t->k_width[u]) smma_k_text(trace, trace->event[e].index, k, sizeof k);
    print_cells(t, u, e == NO_EVENT ? NULL : &trace->event[e], k);
  }
  print_remark(t, products);
  if (!folds_change(x, products)) return;
  print_label(t, "folded", NULL);
  for (size_t u = 0; u < x->units; u++) {
    const smma_trace *trace = &x->unit[u].trace;
    const size_t before = event_at(trace, products, false), behind = event_at(trace, products, true);
    print_cells(t, u, before == behind ? NULL : &trace->event[behind], "");
  }
  end_line(t);
}

/* What follows the sum: a row for each operation that some target has next. */
static void print_epilogues(table *t) {
  const smma_traced_element *x = t->x;
  size_t at[SMMA_MOST_TRACED];
  char label[64], other[64];
  for (size_t u = 0; u < x->units; u++)
    for (at[u] = x->unit[u].trace.events; at[u] > 0 && x->unit[u].trace.event[at[u] - 1].kind >= SMMA_TRACE_EPILOGUE;)
      at[u]--;
  for (;;) {
    const double *exact = NULL;
    label[0] = 0;
    for (size_t u = 0; u < x->units && !exact; u++)
      if (at[u] < x->unit[u].trace.events) {
        exact = &x->unit[u].trace.event[at[u]].exact;
        smma_event_text(&x->unit[u].trace, &x->unit[u].trace.event[at[u]], label, sizeof label);
      }
    if (!exact) return;
    print_label(t, label, exact);
    for (size_t u = 0; u < x->units; u++) {
      const smma_trace *trace = &x->unit[u].trace;
      const smma_trace_event *e = NULL;
      if (at[u] < trace->events) smma_event_text(trace, &trace->event[at[u]], other, sizeof other);
      if (at[u] < trace->events && strcmp(label, other) == 0) e = &trace->event[at[u]++];
      print_cells(t, u, e, "");
    }
    end_line(t);
  }
}

static int wider(int width, size_t length) { return (int)length > width ? (int)length : width; }

static void measure(table *t, const rows *r) {
  const smma_traced_element *x = t->x;
  char text[128];
  t->first_width = 8;
  t->digits = x->unit[0].trace.outer == SMMA_F64 ? 17 : 9;
  t->exact_width = t->digits + 5;
  for (size_t u = 0; u < x->units; u++) {
    t->width[u] = wider(t->exact_width, strlen(x->unit[u].name));
    const smma_trace *trace = &x->unit[u].trace;
    for (size_t e = trace->events; e > 0 && trace->event[e - 1].kind >= SMMA_TRACE_EPILOGUE; e--) {
      smma_event_text(trace, &trace->event[e - 1], text, sizeof text);
      t->first_width = wider(t->first_width, strlen(text));
    }
    for (size_t i = 0; !trace->in_order && i < r->count; i++) {
      const size_t e = event_at(trace, r->products[i], false);
      if (e == NO_EVENT || trace->event[e].kind != SMMA_TRACE_INSTRUCTION) continue;
      smma_k_text(trace, trace->event[e].index, text, sizeof text);
      t->k_width[u] = wider(t->k_width[u], strlen(text));
    }
  }
}

static void print_table(const smma_traced_element *x) {
  const rows r = chosen_rows(x);
  table t = {.x = x, .one_exact = have_one_exact(x, &r)};
  const rows all = common_rows(x);
  size_t at = 0;
  measure(&t, &r);
  print_head(&t);
  if (event_at(&x->unit[0].trace, 0, false) != NO_EVENT) print_row(&t, 0);
  for (size_t i = 0; i < r.count; i++) {
    size_t left = 0;
    for (; at < all.count && all.products[at] < r.products[i]; at++) left++;
    if (left) printf("%*s\n", t.first_width, "...");
    print_row(&t, r.products[i]);
    at += at < all.count && all.products[at] == r.products[i];
  }
  print_epilogues(&t);
  free(r.products), free(all.products);
}

/* ---- The whole ---- */

static void print_heading(const smma_traced_element *x) {
  printf("[%zu, %zu] of %s (%zu x %zu) times %s (%zu x %zu)", x->at[0], x->at[1], x->path[0], x->m, x->k, x->path[1],
         x->k, x->n);
  if (x->why[0]) printf(":\n%s", x->why);
  putchar('\n');
  for (size_t i = 0; i < x->units; i++) {
    const smma_traced *u = &x->unit[i];
    const smma_schedule *s = &u->trace.schedule;
    const size_t summed = u->trace.events ? u->trace.event[u->trace.events - 1].products : 0;
    char plan[600];
    smma_traced_plan_text(u, plan, sizeof plan);
    printf("%s: %s, %s: %zu instruction%s", u->name, u->instruction->name, plan, s->steps, s->steps == 1 ? "" : "s");
    if (u->trace.folds) printf(", %zu fold%s", u->trace.folds, u->trace.folds == 1 ? "" : "s");
    if (!u->trace.in_order) printf("; k in another order than 0, 1, ...");
    if (summed < x->k) printf("; %zu products are lost", x->k - summed);
    putchar('\n');
  }
  putchar('\n');
}

/* How many encodings D is away from the exact result, rounded once. */
static void ulps_text(const smma_trace *t, char text[48]) {
  const size_t bytes = smma_format_bytes(t->d_format);
  uint64_t d = 0, best = 0;
  smma_comparison c;
  smma_store(bytes, &d, 0, t->d);
  smma_store(bytes, &best, 0, t->best);
  c = smma_compare_results(t->d_format, &d, &best, 1);
  if (!t->has_best || c.special)
    snprintf(text, 48, "-");
  else
    snprintf(text, 48, "%llu", (unsigned long long)c.largest_ulps);
}

/* "1.2e-07 at 4096" */
static void extreme_text(const smma_trace *t, size_t event, double value, char text[64]) {
  if (event == NO_EVENT)
    snprintf(text, 64, "0");
  else
    snprintf(text, 64, "%.2e at %zu", fabs(value), t->event[event].products);
}

static void print_results(const smma_traced_element *x) {
  int width = 6;
  for (size_t i = 0; i < x->units; i++) width = wider(width, strlen(x->unit[i].name));
  printf("\n%-*s  %-18s  %16s  %9s  %6s  %20s  %20s\n", width, "target", "D", "", "error", "ulp", "largest error",
         "most lost at once");
  for (size_t i = 0; i < x->units; i++) {
    const smma_traced *u = &x->unit[i];
    const smma_trace *t = &u->trace;
    const extremes e = extremes_of(t);
    char hex[24], value[40], error[48] = "0", ulps[48], largest[64], lost[64];
    if (t->events) error_cell(error, t->event[t->events - 1].error);
    ulps_text(t, ulps);
    extreme_text(t, e.error, e.error == NO_EVENT ? 0 : t->event[e.error].error, largest);
    extreme_text(t, e.loss, e.loss == NO_EVENT ? 0 : loss_of(t, e.loss), lost);
    printf("%-*s  %-18s  %16s  %9s  %6s  %20s  %20s\n", width, u->name, smma_hex_text(t->d_format, t->d, hex),
           smma_value_text(t->d_format, t->d, value), error, ulps, largest, lost);
  }
  printf(
      "error: what is summed so far less the exact sum of the same products, whose factors are as the target takes\n"
      "them; largest and most lost at once: behind so many products. ulp: D from the exact result, rounded once.\n");
}

static void print_owns(const smma_traced_element *x) {
  for (size_t r = 0; r < x->owns; r++) {
    const smma_own_result *own = &x->own[r];
    char hex[24], value[40];
    bool any = false;
    printf("%s%s: %s = %s here", r ? "" : "\n", own->path, smma_hex_text(x->d_format, own->element, hex),
           smma_value_text(x->d_format, own->element, value));
    for (size_t i = 0; i < x->units; i++) {
      if (!smma_same_element(x->d_format, own->element, x->unit[i].trace.d)) continue;
      printf("%s%s", any ? " and " : ", as ", x->unit[i].name);
      any = true;
    }
    if (!any) printf(", as no target");
    putchar('\n');
    for (size_t i = 0; x->whole && i < x->units; i++)
      printf("  %zu of %zu elements are those of %s\n", x->m * x->n - own->differ[i], x->m * x->n, x->unit[i].name);
  }
}

void smma_trace_print(const smma_traced_element *x) {
  print_heading(x);
  print_table(x);
  print_results(x);
  print_owns(x);
  smma_trace_print_parting(x);
}
