/* Prints the errors of products, the tolerances that accept them, and the wrong results that these refuse. */
#include <math.h>
#include <stdlib.h>

#include "compare/columns.h"
#include "host/count.h"
#include "isa/format_name.h"
#include "tolerance/tolerance.h"

static const char *const quantile_names[SMMA_QUANTILES] = {"50 %", "90 %", "99 %", "99.9 %", "max"};

/* Prints the formats in which results are stored, "f32" or "f32 and f16"; or those from which they are rounded before.
 */
static void print_formats(FILE *stream, const smma_tolerance_result *x, bool are_stored, const char *before) {
  for (size_t i = 0; i < x->request->targets; i++) {
    const smma_target_error *t = &x->target[i];
    bool known = !are_stored && t->d == t->stored;
    for (const smma_target_error *u = x->target; u < t && !known; u++)
      known = are_stored ? u->stored == t->stored : u->d == t->d;
    if (known) continue;
    fprintf(stream, "%s%s", before, smma_format_text(are_stored ? t->stored : t->d));
    before = " and ";
  }
}

static void print_heading(FILE *stream, const smma_tolerance_result *x) {
  const size_t elements = x->rows * x->columns;
  char text[SMMA_OPERANDS_TEXT];
  fprintf(stream, "%zu x %zu x %zu (M x N x K), %s", x->m, x->n, x->k, smma_tolerance_operands(x->request, text));
  print_formats(stream, x, true, ", results in ");
  print_formats(stream, x, false, ", rounded from ");
  if (x->rows == x->m && x->columns == x->n)
    fprintf(stream, "; measured on %zu element%s (%zu x %zu)\n", elements, smma_plural(elements), x->rows, x->columns);
  else
    fprintf(stream, "; measured on %zu element%s of this K (%zu x %zu x %zu)\n", elements, smma_plural(elements),
            x->rows, x->columns, x->k);
  fprintf(stream, "exact results: |x| 50 %% %.3g, 99 %% %.3g, max %.3g\n\n", x->exact[0], x->exact[2], x->exact[4]);
}

static size_t unbounded_of(const smma_target_error *t) { return t->unbounded; }
static size_t special_of(const smma_target_error *t) { return t->special; }

/* Returns words before the largest of the targets' counts. */
static const char *up_to(const smma_tolerance_result *x, size_t (*count_of)(const smma_target_error *t)) {
  bool same = true;
  for (size_t i = 1; i < x->request->targets; i++) same = same && count_of(&x->target[i]) == count_of(&x->target[0]);
  return same ? "" : "up to ";
}

static void print_errors(FILE *stream, const smma_tolerance_result *x) {
  const smma_product_target *target = x->request->target;
  const size_t targets = x->request->targets;
  const int labels = smma_column_width(target, targets, SMMA_COLUMN_LABEL, 6),
            inputs = smma_column_width(target, targets, SMMA_COLUMN_INPUTS, 8),
            names = smma_column_width(target, targets, SMMA_COLUMN_INSTRUCTION, 24);
  char text[32], shown[SMMA_SHOWN_INPUTS_SIZE];
  size_t unbounded = 0, special = 0;
  fprintf(stream, "%-*s  %-*s  %-*s", labels, "GPU", inputs, smma_inputs_heading(target, targets), names,
          "|result - exact|");
  for (int i = 0; i < SMMA_QUANTILES; i++) fprintf(stream, "  %8s", quantile_names[i]);
  fprintf(stream, "  %8s  %9s\n", "bound", "bound/max");
  for (size_t i = 0; i < targets; i++) {
    const smma_target_error *t = &x->target[i];
    const double most = t->error[SMMA_QUANTILES - 1];
    fprintf(stream, "%-*s  %-*s  %-*s", labels, target[i].label, inputs, smma_shown_inputs(&target[i], shown), names,
            target[i].instruction->name);
    for (int q = 0; q < SMMA_QUANTILES; q++) fprintf(stream, "  %8s", smma_error_text(t->error[q], text));
    fprintf(stream, "  %8s", smma_error_text(t->unbounded ? NAN : t->most_bound, text));
    if (most > 0 && !t->unbounded)
      fprintf(stream, "  %9.2f\n", t->most_bound / most);
    else
      fprintf(stream, "  %9s\n", "-");
    unbounded = smma_most(unbounded, t->unbounded), special = smma_most(special, t->special);
  }
  fprintf(stream,
          "bound: the greatest of all elements' bounds, which no result of the unit can exceed (docs/tolerance.md)\n");
  if (unbounded)
    fprintf(stream, "%s%zu element%s no bound: a sum may overflow, or the unit is a composition\n",
            up_to(x, unbounded_of), unbounded, unbounded == 1 ? " has" : "s have");
  if (special)
    fprintf(stream, "%s%zu element%s left out, because operands are NaN or infinite\n", up_to(x, special_of), special,
            special == 1 ? " is" : "s are");
  for (size_t i = 0; i < targets; i++)
    if (x->target[i].overflowed)
      fprintf(stream, "%s, %s: %zu result%s from the exact one%s; at least one of the two is infinite or NaN\n",
              target[i].label, target[i].instruction->name, x->target[i].overflowed,
              x->target[i].overflowed == 1 ? " differs" : "s differ", x->target[i].overflowed == 1 ? "" : "s");
}

static void print_tolerance(FILE *stream, const char *what, smma_tolerance t) {
  fprintf(stream, "%-24s  %8.1e  %8.1e\n", what, t.relative, t.absolute);
}

static const char *verdict_text(double refused, char text[32]) {
  if (refused == 0) return "accepted";
  snprintf(text, 32, refused >= 0.001 ? "refused by %.3g %%" : "refused by %.2g %%", 100 * refused);
  return text;
}

static void print_verdicts(FILE *stream, const smma_tolerance_result *x) {
  char measured[32], proven[32], bound[32];
  fprintf(stream, "\n%-30s  %-19s  %-19s  %-19s\n", "wrong result", "measured", "proven", "each element's bound");
  for (int m = 0; m < SMMA_MUTANTS; m++) {
    const smma_verdict *v = &x->verdict[m];
    if (!v->applies) continue;
    fprintf(stream, "%-30s  %-19s  %-19s  %s\n", smma_mutant_name((smma_mutant)m),
            x->is_measured ? verdict_text(v->measured, measured) : "-",
            x->is_proven ? verdict_text(v->proven, proven) : "-", verdict_text(v->bound, bound));
  }
  fprintf(stream, "in percent of the elements, on the GPU where they are fewest\n");
}

/* Prints the wrong results that the measured rtol and atol do not reject, and whether a bound for each element does. */
static void print_impossible(FILE *stream, const smma_tolerance_result *x) {
  for (int m = 0; m < SMMA_MUTANTS; m++) {
    const smma_verdict *v = &x->verdict[m];
    if (!v->applies || v->measured > 0 || !x->is_measured) continue;
    fprintf(stream, "%s: %s; each element's bound (softmma.assert_close) %s\n", smma_mutant_name((smma_mutant)m),
            v->possible ? "an rtol and atol can refuse it only without a margin, or by refusing fewer other results"
                        : "no rtol and atol that accept these GPUs can refuse it on all of them",
            v->bound > 0  ? "refuses it"
            : v->possible ? "accepts it"
                          : "accepts it, too");
  }
}

bool smma_print_tolerance(FILE *stream, const smma_tolerance_result *x) {
  char what[64], *paste = smma_tolerance_paste(x);
  if (!paste) return false;
  print_heading(stream, x);
  print_errors(stream, x);
  if (x->is_measured) {
    fprintf(stream, "\n%-24s  %8s  %8s\n", "accepts all of these", "rtol", "atol");
    snprintf(what, sizeof what, "measured, times %g", x->request->margin);
    print_tolerance(stream, what, x->measured);
  } else {
    fprintf(stream, "\nno rtol and atol accept all of these results\n");
  }
  if (x->is_proven) print_tolerance(stream, "proven", x->proven);
  print_verdicts(stream, x);
  print_impossible(stream, x);
  if (*paste) fprintf(stream, "\n%s", paste);
  free(paste);
  return true;
}
