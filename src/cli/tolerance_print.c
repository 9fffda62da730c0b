#include <math.h>
#include <string.h>

#include "cli/tolerance.h"
#include "plan/plan.h"

static const char *const quantile_names[SMMA_QUANTILES] = {"50 %", "90 %", "99 %", "99.9 %", "max"};

static const char *data_text(const smma_tolerance_study *x, char text[512]) {
  char kind[32];
  if (x->path[0])
    snprintf(text, 512, "%s times %s", x->path[0], x->path[1]);
  else
    snprintf(text, 512, "data %s", smma_data_text(x->data, kind));
  return text;
}

static void print_heading(const smma_tolerance_study *x) {
  const smma_tolerance_target *t = x->target;
  char text[512];
  printf("%zu x %zu x %zu (M x N x K), %s, results in %s", x->m, x->n, x->k, data_text(x, text),
         smma_format_text(t->stored));
  if (t->stored != t->d) printf(", rounded from %s", smma_format_text(t->d));
  printf("; measured on %zu elements (%zu x %zu)\n", smma_tolerance_count(x), x->rows, x->columns);
  printf("exact results: |x| 50 %% %.3g, 99 %% %.3g, max %.3g\n\n", x->exact[0], x->exact[2], x->exact[4]);
}

typedef enum { LABELS, INPUTS, NAMES } column;

static int width_of(const smma_tolerance_study *x, column of) {
  static const size_t least[] = {6, 8, 24};
  size_t width = least[of];
  for (int i = 0; i < x->targets; i++) {
    const smma_tolerance_target *t = &x->target[i];
    const size_t length = strlen(of == LABELS ? t->label : of == INPUTS ? t->shown : t->instruction->name);
    if (length > width) width = length;
  }
  return (int)width;
}

/* A number of ten columns; "-" for NaN. */
static const char *number(double value, char text[32]) {
  snprintf(text, 32, isnan(value) ? "-" : "%.2e", value);
  return text;
}

static void print_errors(const smma_tolerance_study *x) {
  const int labels = width_of(x, LABELS), inputs = width_of(x, INPUTS), names = width_of(x, NAMES);
  char text[32];
  size_t unbounded = 0, special = 0;
  printf("%-*s  %-*s  %-*s", labels, "GPU", inputs, x->options->plans ? "inputs, plan" : "inputs", names,
         "|result - exact|");
  for (int i = 0; i < SMMA_QUANTILES; i++) printf("  %8s", quantile_names[i]);
  printf("  %8s  %9s\n", "bound", "bound/max");
  for (int i = 0; i < x->targets; i++) {
    const smma_tolerance_target *t = &x->target[i];
    const double most = t->error[SMMA_QUANTILES - 1];
    printf("%-*s  %-*s  %-*s", labels, t->label, inputs, t->shown, names, t->instruction->name);
    for (int q = 0; q < SMMA_QUANTILES; q++) printf("  %8s", number(t->error[q], text));
    printf("  %8s", number(t->unbounded ? NAN : t->most_bound, text));
    if (most > 0 && !t->unbounded)
      printf("  %9.2f\n", t->most_bound / most);
    else
      printf("  %9s\n", "-");
    unbounded += t->unbounded, special += t->special;
  }
  printf("bound: the greatest of all elements' bounds, which no result of the unit can exceed (docs/tolerance.md)\n");
  if (unbounded)
    printf("%zu elements have no bound: a sum of theirs may overflow, or the unit is a composition\n", unbounded);
  if (special) printf("%zu elements are left out, because operands of theirs are NaN or infinite\n", special);
}

static void print_tolerance(const char *what, smma_tolerance t) {
  printf("%-24s  %8.1e  %8.1e\n", what, t.relative, t.absolute);
}

static const char *verdict_text(double refused, char text[32]) {
  if (refused == 0) return "accepted";
  snprintf(text, 32, refused >= 0.001 ? "refused by %.3g %%" : "refused by %.2g %%", 100 * refused);
  return text;
}

static void print_verdicts(const smma_tolerance_study *x) {
  char measured[32], proven[32], bound[32];
  printf("\n%-30s  %-19s  %-19s  %-19s\n", "wrong result", "measured", "proven", "each element's bound");
  for (int m = 0; m < SMMA_MUTANTS; m++) {
    const smma_verdict *v = &x->verdict[m];
    if (!v->applies) continue;
    printf("%-30s  %-19s  %-19s  %s\n", smma_mutant_name((smma_mutant)m), verdict_text(v->measured, measured),
           x->is_proven ? verdict_text(v->proven, proven) : "-", verdict_text(v->bound, bound));
  }
  printf("in percent of the elements, on the GPU where they are fewest\n");
}

/* What no rtol and atol can do, and what can. */
static void print_impossible(const smma_tolerance_study *x) {
  for (int m = 0; m < SMMA_MUTANTS; m++) {
    const smma_verdict *v = &x->verdict[m];
    if (!v->applies || v->measured > 0) continue;
    printf("%s: %s; each element's bound (softmma.assert_close) %s\n", smma_mutant_name((smma_mutant)m),
           v->possible ? "only an rtol and atol with no margin for other data, or that refuse less of the rest, do"
                       : "no rtol and atol that accept these GPUs refuse it on each of them",
           v->bound > 0  ? "does"
           : v->possible ? "does not"
                         : "does not either");
  }
}

/* Whether the exact result is more than alpha A B + beta C. */
static bool means_more(const smma_plan *p) {
  return p && (smma_plan_scaled_k(p) || smma_plan_has(p, SMMA_EPILOGUE_BIAS) || smma_plan_has(p, SMMA_EPILOGUE_RELU) ||
               smma_plan_has(p, SMMA_EPILOGUE_SCALE_D) || smma_plan_has(p, SMMA_EPILOGUE_CLAMP));
}

static void print_expression(const smma_tolerance_study *x) {
  const smma_tolerance_options *o = x->options;
  for (int i = 0; i < x->targets; i++)
    if (means_more(x->plan[i].plan)) {
      printf("expected"); /* the plan's own, in double precision */
      return;
    }
  if (o->alpha != 1) printf("%.9g * (", o->alpha);
  printf("A.double() @ B.double()%s", o->alpha != 1 ? ")" : "");
  if (x->target[0].c.data && o->beta == 1) printf(" + C.double()");
  if (x->target[0].c.data && o->beta != 1) printf(" + %.9g * C.double()", o->beta);
}

static void print_paste_line(const smma_tolerance_study *x, smma_tolerance t, const char *what) {
  char text[512];
  printf("# softmma tolerance: %s; K = %zu, %s", what, x->k, data_text(x, text));
  for (int i = 0; i < x->targets; i++) {
    const char *plan = x->plan[i].text;
    printf("%s%s%s%s", i ? ", " : "; ", x->target[i].label, *plan ? " with plan " : "", plan);
  }
  printf("\ntorch.testing.assert_close(D.double(), ");
  print_expression(x);
  printf(", rtol=%.1e, atol=%.1e)\n", t.relative, t.absolute);
}

void smma_tolerance_print_paste(const smma_tolerance_study *x) {
  char what[64];
  snprintf(what, sizeof what, x->options->margin == 1 ? "measured" : "%g times what was measured", x->options->margin);
  print_paste_line(x, x->measured, what);
  if (x->is_proven) print_paste_line(x, x->proven, "proven for these operands");
}

void smma_tolerance_print_text(const smma_tolerance_study *x) {
  char what[64];
  print_heading(x);
  print_errors(x);
  printf("\n%-24s  %8s  %8s\n", "accepts all of these", "rtol", "atol");
  snprintf(what, sizeof what, "measured, times %g", x->options->margin);
  print_tolerance(what, x->measured);
  if (x->is_proven) print_tolerance("proven", x->proven);
  print_verdicts(x);
  print_impossible(x);
  putchar('\n');
  smma_tolerance_print_paste(x);
}

static json_t *tolerance_json(bool there, smma_tolerance t) {
  return there ? json_pack("{s:o, s:o}", "rtol", smma_json_value(t.relative), "atol", smma_json_value(t.absolute))
               : json_null();
}

static json_t *target_json(const smma_tolerance_target *t) {
  json_t *errors = json_object();
  for (int q = 0; q < SMMA_QUANTILES; q++) {
    char name[16];
    snprintf(name, sizeof name, q == SMMA_QUANTILES - 1 ? "max" : "%g", 100 * smma_quantiles[q]);
    json_object_set_new(errors, name, smma_json_value(t->error[q]));
  }
  json_t *plan = *t->plan->text ? smma_json_text(t->plan->text) : NULL;
  return json_pack("{s:o, s:s, s:s, s:s, s:o*, s:o, s:o, s:I, s:I}", "on", smma_json_text(t->label), "arch",
                   smma_arch_name(t->instruction), "instruction", t->instruction->name, "in", t->inputs, "plan", plan,
                   "error", errors, "bound", t->unbounded ? json_null() : smma_json_value(t->most_bound), "unbounded",
                   (json_int_t)t->unbounded, "left_out", (json_int_t)t->special);
}

void smma_tolerance_print_json(const smma_tolerance_study *x) {
  json_t *units = json_array(), *mutants = json_array();
  char text[512];
  for (int i = 0; i < x->targets; i++) json_array_append_new(units, target_json(&x->target[i]));
  for (int m = 0; m < SMMA_MUTANTS; m++) {
    const smma_verdict *v = &x->verdict[m];
    if (!v->applies) continue;
    json_array_append_new(
        mutants, json_pack("{s:s, s:o, s:o, s:o, s:b}", "wrong", smma_mutant_name((smma_mutant)m), "measured",
                           json_real(v->measured), "proven", x->is_proven ? json_real(v->proven) : json_null(), "bound",
                           json_real(v->bound), "some_tolerance_refuses", v->possible));
  }
  smma_print_json(json_pack("{s:I, s:I, s:I, s:o, s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "m", (json_int_t)x->m, "n",
                            (json_int_t)x->n, "k", (json_int_t)x->k, "data", smma_json_text(data_text(x, text)),
                            "stored", smma_format_text(x->target[0].stored), "elements",
                            (json_int_t)smma_tolerance_count(x), "margin", smma_json_value(x->options->margin), "units",
                            units, "measured", tolerance_json(true, x->measured), "proven",
                            tolerance_json(x->is_proven, x->proven), "mutants", mutants));
}
