/* Prints a trace as a table of intermediate sums and errors, one line for each number of products. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "host/count.h"
#include "rows/datum.h"
#include "trace/table.h"
#include "trace/trace.h"

/* ---- The table ---- */

typedef struct {
  char line[2048]; /* the line that is being written */
  size_t used;
  FILE *stream;
  const smma_trace_result *x;
  bool one_exact; /* as in smma_trace_table */
  int digits, first_width;
  int exact_width, width[SMMA_MOST_TRACED]; /* of the exact sums, and of each target's sums */
  int k_width[SMMA_MOST_TRACED];            /* for targets with another order of k; otherwise 0 */
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

/* Prints the line without its trailing blanks. */
static void end_line(table *t) {
  while (t->used > 0 && t->line[t->used - 1] == ' ') t->used--;
  fprintf(t->stream, "%.*s\n", (int)t->used, t->line);
  t->used = 0;
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
  const smma_trace_result *x = t->x;
  put(t, "%*s", t->first_width, "products");
  if (t->one_exact) put(t, "  %*s", t->exact_width, "exact");
  for (size_t u = 0; u < x->request->targets; u++) {
    if (t->k_width[u]) put(t, "  %*s", t->k_width[u], "k");
    if (!t->one_exact) put(t, "  %*s", t->exact_width, "exact");
    put(t, "  %*s  %9s", t->width[u], x->name[u], "error");
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
  for (size_t u = 0; u < t->x->request->targets; u++) {
    const smma_trace *trace = &t->x->trace[u];
    const size_t e = smma_trace_event_at(trace, products, false);
    if (e != SMMA_NO_EVENT) return &trace->event[e].exact;
  }
  return NULL;
}

/* Prints the remark after a line, and ends the line. */
static void print_remark(table *t, size_t products) {
  const smma_trace_result *x = t->x;
  if (x->divergence.found.diverges && x->divergence.found.products == products &&
      x->divergence.found.kind != SMMA_TRACE_EPILOGUE)
    put(t, "  %s and %s diverge", x->name[x->divergence.target[0]], x->name[x->divergence.target[1]]);
  end_line(t);
}

static void print_row(table *t, size_t products) {
  const smma_trace_result *x = t->x;
  char label[32], k[128];
  snprintf(label, sizeof label, "%zu", products);
  print_label(t, label, exact_at(t, products));
  for (size_t u = 0; u < x->request->targets; u++) {
    const smma_trace *trace = &x->trace[u];
    const size_t e = smma_trace_event_at(trace, products, false);
    k[0] = 0;
    if (e != SMMA_NO_EVENT && t->k_width[u]) smma_k_text(trace, trace->event[e].index, k, sizeof k);
    print_cells(t, u, e == SMMA_NO_EVENT ? NULL : &trace->event[e], k);
  }
  print_remark(t, products);
  if (!smma_trace_folds_change(x, products)) return;
  print_label(t, "folded", NULL);
  for (size_t u = 0; u < x->request->targets; u++) {
    const smma_trace *trace = &x->trace[u];
    const size_t before = smma_trace_event_at(trace, products, false),
                 behind = smma_trace_event_at(trace, products, true);
    print_cells(t, u, before == behind ? NULL : &trace->event[behind], "");
  }
  end_line(t);
}

/* Prints the operations after the sum: a line for each operation that is next for some target. */
static void print_epilogues(table *t) {
  const smma_trace_result *x = t->x;
  size_t at[SMMA_MOST_TRACED];
  char label[64], other[64];
  for (size_t u = 0; u < x->request->targets; u++)
    for (at[u] = x->trace[u].events; at[u] > 0 && x->trace[u].event[at[u] - 1].kind >= SMMA_TRACE_EPILOGUE;) at[u]--;
  for (;;) {
    const double *exact = NULL;
    label[0] = 0;
    for (size_t u = 0; u < x->request->targets && !exact; u++)
      if (at[u] < x->trace[u].events) {
        exact = &x->trace[u].event[at[u]].exact;
        smma_event_text(&x->trace[u], &x->trace[u].event[at[u]], label, sizeof label);
      }
    if (!exact) return;
    print_label(t, label, exact);
    for (size_t u = 0; u < x->request->targets; u++) {
      const smma_trace *trace = &x->trace[u];
      const smma_trace_event *e = NULL;
      if (at[u] < trace->events) smma_event_text(trace, &trace->event[at[u]], other, sizeof other);
      if (at[u] < trace->events && strcmp(label, other) == 0) e = &trace->event[at[u]++];
      print_cells(t, u, e, "");
    }
    end_line(t);
  }
}

static void measure(table *t, const smma_trace_table *of) {
  const smma_trace_result *x = t->x;
  char text[128];
  t->first_width = 8;
  t->digits = x->trace[0].outer == SMMA_F64 ? 17 : 9;
  t->exact_width = t->digits + 5;
  for (size_t u = 0; u < x->request->targets; u++) {
    t->width[u] = smma_maximum(t->exact_width, (int)strlen(x->name[u]));
    const smma_trace *trace = &x->trace[u];
    for (size_t e = trace->events; e > 0 && trace->event[e - 1].kind >= SMMA_TRACE_EPILOGUE; e--) {
      smma_event_text(trace, &trace->event[e - 1], text, sizeof text);
      t->first_width = smma_maximum(t->first_width, (int)strlen(text));
    }
    for (size_t i = 0; !trace->in_order && i < of->count; i++) {
      const size_t e = smma_trace_event_at(trace, of->line[i].products, false);
      if (e == SMMA_NO_EVENT || trace->event[e].kind != SMMA_TRACE_INSTRUCTION) continue;
      smma_k_text(trace, trace->event[e].index, text, sizeof text);
      t->k_width[u] = smma_maximum(t->k_width[u], (int)strlen(text));
    }
  }
}

static bool print_table(FILE *stream, const smma_trace_result *x) {
  smma_trace_table of;
  smma_error error;
  if (!smma_trace_table_of(x, &of, &error)) return free(of.line), false;
  table t = {.stream = stream, .x = x, .one_exact = of.one_exact};
  measure(&t, &of);
  print_head(&t);
  if (smma_trace_event_at(&x->trace[0], 0, false) != SMMA_NO_EVENT) print_row(&t, 0);
  for (const smma_trace_line *line = of.line; line < of.line + of.count; line++) {
    if (line->follows_gap) fprintf(stream, "%*s\n", t.first_width, "...");
    print_row(&t, line->products);
  }
  print_epilogues(&t);
  free(of.line);
  return true;
}

/* ---- The report ---- */

/* Prints how instructions are added without a plan. */
static void print_order(FILE *stream, const smma_gemm_arguments *g) {
  if (g->split_k > 1) fprintf(stream, "%zu slices of K%s", g->split_k, g->promote_every ? ", " : "");
  if (g->promote_every) fprintf(stream, "promoted every %zu", g->promote_every);
  if (g->split_k <= 1 && !g->promote_every) fprintf(stream, "one chain");
}

static void print_heading(FILE *stream, const smma_trace_result *x, const char *const matrix[2]) {
  const smma_trace_request *r = x->request;
  fprintf(stream, "[%zu, %zu] of %s (%zu x %zu) times %s (%zu x %zu)", x->at[0], x->at[1], matrix[0], r->m, r->k,
          matrix[1], r->k, r->n);
  if (x->why[0]) fprintf(stream, ":\n%s", x->why);
  fputc('\n', stream);
  for (size_t i = 0; i < r->targets; i++) {
    const smma_product_target *target = &r->target[i];
    const smma_trace *t = &x->trace[i];
    const size_t summed = t->events ? t->event[t->events - 1].products : 0;
    fprintf(stream, "%s: %s, ", x->name[i], target->instruction->name);
    if (target->plan && target->product.plan)
      fprintf(stream, "plan %s", target->plan);
    else
      print_order(stream, &target->product);
    fprintf(stream, ": %zu instruction%s", t->schedule.steps, smma_plural(t->schedule.steps));
    if (t->folds) fprintf(stream, ", %zu fold%s", t->folds, smma_plural(t->folds));
    if (!t->in_order) fprintf(stream, "; k in another order than 0, 1, ...");
    if (summed < r->k) fprintf(stream, "; %zu product%s left out", r->k - summed, r->k - summed == 1 ? " is" : "s are");
    fputc('\n', stream);
  }
  fputc('\n', stream);
}

/* Writes an extreme, such as "1.2e-07 at 4096", or "-" if errors are not known. */
static void extreme_text(const smma_trace *t, size_t event, double value, char text[64]) {
  bool known = true;
  for (size_t e = 0; e < t->events; e++) known = known && !isnan(t->event[e].error);
  if (event == SMMA_NO_EVENT)
    snprintf(text, 64, "%s", known ? "0" : "-");
  else
    snprintf(text, 64, "%.2e at %zu", fabs(value), t->event[event].products);
}

static void print_results(FILE *stream, const smma_trace_result *x) {
  int width = 6;
  for (size_t i = 0; i < x->request->targets; i++) width = smma_maximum(width, (int)strlen(x->name[i]));
  fprintf(stream, "\n%-*s  %-18s  %16s  %9s  %6s  %20s  %20s\n", width, "target", "D", "", "error", "ulp",
          "largest error", "largest step loss");
  for (size_t i = 0; i < x->request->targets; i++) {
    const smma_trace *t = &x->trace[i];
    const smma_trace_extremes e = smma_trace_extremes_of(t);
    char hex[24], value[40], error[48] = "0", ulps[48] = "-", largest[64], lost[64];
    uint64_t distance;
    if (t->events) error_cell(error, t->event[t->events - 1].error);
    if (smma_trace_ulps(t, &distance)) snprintf(ulps, sizeof ulps, "%llu", (unsigned long long)distance);
    extreme_text(t, e.error, e.error == SMMA_NO_EVENT ? 0 : t->event[e.error].error, largest);
    extreme_text(t, e.loss, e.loss == SMMA_NO_EVENT ? 0 : smma_trace_loss(t, e.loss), lost);
    fprintf(stream, "%-*s  %-18s  %16s  %9s  %6s  %20s  %20s\n", width, x->name[i],
            smma_hex_text(t->d_format, t->d, hex), smma_value_text(t->d_format, t->d, value), error, ulps, largest,
            lost);
  }
  fprintf(
      stream,
      "error: the sum minus the exact sum of the same products, with factors as the target takes them. \"at\": after "
      "this\n"
      "many products. ulp: distance of D from the exact result rounded once, in units in the last place.\n");
}

/* Returns the last event of the sum, before the epilogue, or NULL. */
static const smma_trace_event *end_of_sum(const smma_trace *t) {
  size_t e = t->events;
  while (e > 0 && t->event[e - 1].kind >= SMMA_TRACE_EPILOGUE) e--;
  return e ? &t->event[e - 1] : NULL;
}

/* Prints how far the exact sums of the two targets that diverge are apart. They differ if the targets round A and B to
   different formats, or if a plan leaves out products. If the targets have different factors alpha, such as those of
   NVFP4's tensors, compares the sums times alpha. */
static void print_exact_difference(FILE *stream, const smma_trace_result *x) {
  const smma_trace_event *sum[2];
  double alpha[2], exact[2];
  bool scaled;
  if (!x->divergence.found.diverges) return;
  for (int s = 0; s < 2; s++) {
    sum[s] = end_of_sum(&x->trace[x->divergence.target[s]]);
    if (!sum[s]) return;
    alpha[s] = x->request->target[x->divergence.target[s]].product.alpha;
  }
  scaled = alpha[0] != alpha[1];
  for (int s = 0; s < 2; s++) {
    if (!scaled) alpha[s] = 1;
    exact[s] = alpha[s] * sum[s]->exact;
  }
  if (!(fabs(exact[0] - exact[1]) > 0)) return; /* a NaN has no distance */
  fprintf(stream,
          "\n%s and %s add different products: their exact sums%s differ by %.2e.\nThe errors of these sums are %.2e "
          "and %.2e.\n",
          x->name[x->divergence.target[0]], x->name[x->divergence.target[1]], scaled ? ", times alpha," : "",
          fabs(exact[0] - exact[1]), fabs(alpha[0] * sum[0]->error), fabs(alpha[1] * sum[1]->error));
}

static void print_owns(FILE *stream, const smma_trace_result *x) {
  const smma_trace_request *of = x->request;
  for (size_t r = 0; r < of->owns; r++) {
    char hex[24], value[40];
    bool any = false;
    fprintf(stream, "%s%s: %s = %s here", r ? "" : "\n", of->own[r].name, smma_hex_text(x->d_format, x->own[r], hex),
            smma_value_text(x->d_format, x->own[r], value));
    for (size_t i = 0; i < of->targets; i++) {
      if (!smma_same_element(x->d_format, x->own[r], x->trace[i].d)) continue;
      fprintf(stream, "%s%s", any ? " and " : ", as ", x->name[i]);
      any = true;
    }
    if (!any) fprintf(stream, ", as no target");
    fputc('\n', stream);
    for (size_t i = 0; x->whole && i < of->targets; i++)
      fprintf(stream, "  %zu of %zu elements are those of %s\n", of->m * of->n - x->own_differ[r][i], of->m * of->n,
              x->name[i]);
  }
}

/* ---- Where targets diverge ---- */

static const smma_trace *trace_of(const smma_trace_result *x, int side) {
  return &x->trace[x->divergence.target[side]];
}

static const char *name_of(const smma_trace_result *x, int side) { return x->name[x->divergence.target[side]]; }

/* Prints the instructions of one target at which the results diverge. */
static void print_alone(FILE *stream, const smma_trace_result *x, int side, int width) {
  const smma_explained_divergence *p = &x->divergence;
  const smma_trace *t = trace_of(x, side);
  const size_t count = smma_divergence_instructions(x, side);
  if (count > p->steps[side])
    fprintf(stream, "%s: the last %zu of %zu instructions between\n", name_of(x, side), p->steps[side], count);
  for (const smma_explained_step *step = p->step[side]; step < p->step[side] + p->steps[side]; step++) {
    char text[128], k[256];
    smma_event_text(t, &t->event[step->event], text, sizeof text);
    smma_k_text(t, t->event[step->event].index, k, sizeof k);
    fprintf(stream, "\n%s: %s, k = %s\n", name_of(x, side), text, k);
    smma_explain_print(stream, &step->operation, &step->explanation, width);
  }
}

/* Prints why the two targets cannot be drawn side by side, if they start from different sums. */
static void print_reason(FILE *stream, const smma_trace_result *x) {
  char value[2][40];
  for (int s = 0; s < 2; s++)
    smma_value_text(trace_of(x, s)->operation.d, x->divergence.steps[s] ? x->divergence.step[s]->row.c : 0, value[s]);
  if (strcmp(value[0], value[1]) == 0)
    fputs(":\n", stream);
  else
    fprintf(stream, ": the former starts from %s, the latter from %s\n", value[0], value[1]);
}

static void print_folds(FILE *stream, const smma_trace_result *x) {
  const smma_divergence *p = &x->divergence.found;
  for (int s = 0; s < 2; s++) {
    const smma_trace *t = trace_of(x, s);
    for (size_t e = p->first[s]; e <= p->last[s] && e < t->events; e++) {
      char text[128];
      smma_event_text(t, &t->event[e], text, sizeof text);
      fprintf(stream, "%s: %s: %.17g%s\n", name_of(x, s), text, t->event[e].value,
              t->event[e].rest != 0 ? " and more" : "");
    }
  }
}

static void print_together(FILE *stream, const smma_trace_result *x, int width) {
  const smma_trace *t = trace_of(x, 0);
  const smma_explained_step *const first = x->divergence.step[0], *const second = x->divergence.step[1];
  const smma_explained both[2] = {first->explained, second->explained};
  fprintf(stream, ", where k = %zu is a[0]*b[0]:\n",
          t->schedule.k[t->event[first->event].index * t->schedule.k_per_step]);
  smma_explain_print_two(stream, both, width);
}

static void print_divergence(FILE *stream, const smma_trace_result *x, int width) {
  const smma_divergence *found = &x->divergence.found;
  if (!found->diverges) return;
  fprintf(stream, "\n%s and %s ", name_of(x, 0), name_of(x, 1));
  switch (found->kind) {
    case SMMA_TRACE_FOLD:
      fprintf(stream, "diverge after %zu products, where parts are folded:\n", found->products);
      print_folds(stream, x);
      return;
    case SMMA_TRACE_EPILOGUE:
      fprintf(stream, "diverge after the sum, which is the same:\n");
      print_folds(stream, x);
      return;
    default: break;
  }
  fprintf(stream, "diverge between %zu and %zu products", found->before, found->products);
  if (x->divergence.together) {
    print_together(stream, x, width);
    return;
  }
  print_reason(stream, x);
  for (int s = 0; s < 2; s++) print_alone(stream, x, s, width);
}

bool smma_print_trace(FILE *stream, const smma_trace_result *x, const char *const matrix[2], int width) {
  print_heading(stream, x, matrix);
  if (!print_table(stream, x)) return false;
  print_results(stream, x);
  print_exact_difference(stream, x);
  print_owns(stream, x);
  print_divergence(stream, x, width);
  return true;
}
