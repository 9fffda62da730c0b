/* Prints the errors of a sweep, target by target. */
#include <math.h>
#include <string.h>

#include "compare/columns.h"
#include "host/count.h"
#include "tolerance/sweep.h"

static void print_heads(FILE *stream, const smma_sweep_result *x, const smma_product_target *t) {
  char inputs[SMMA_INPUTS_TEXT_SIZE];
  if (x->request->sweep.kind == SMMA_SWEEP_FORMAT)
    fprintf(stream, "\n%s", t->label);
  else
    fprintf(stream, "\n%s, %s, %s", t->label, smma_inputs_text(t->instruction, inputs), t->instruction->name);
  fprintf(stream, "%s%s\n%-16s  %8s  %8s  %8s  %8s  %9s  %13s\n", t->plan ? ", " : "", t->plan ? t->plan : "",
          x->request->sweep.name, "50 %", "99 %", "max", "bound", "bound/max", "exact |x| 50 %");
}

static void print_row(FILE *stream, const smma_sweep_result *x, const smma_sweep_row *row) {
  const double *error = row->error.error, most = error[SMMA_QUANTILES - 1];
  const double bound = row->error.unbounded ? NAN : row->error.most_bound;
  char text[5][32], share[32] = "-";
  if (most > 0 && !isnan(bound)) snprintf(share, sizeof share, "%.2f", bound / most);
  fprintf(stream, "%-16s  %8s  %8s  %8s  %8s  %9s  %13s\n", x->request->sweep.value[row->value],
          smma_error_text(error[0], text[0]), smma_error_text(error[2], text[1]), smma_error_text(most, text[2]),
          smma_error_text(bound, text[3]), share, smma_error_text(row->exact[0], text[4]));
}

/* Prints the values of a sweep over formats that the GPU of a target does not have. */
static void print_missing(FILE *stream, const smma_sweep_request *r, const char *label) {
  for (size_t v = 0; v < r->sweep.values; v++) {
    bool has = false;
    for (size_t t = 0; t < r->of.targets; t++)
      has = has || (strcmp(r->of.target[t].label, label) == 0 && smma_sweep_has(r, v, t));
    if (!has) fprintf(stream, "%-16s  not on %s\n", r->sweep.value[v], label);
  }
}

void smma_print_sweep(FILE *stream, const smma_sweep_result *x) {
  const smma_sweep_request *r = x->request;
  const bool formats = r->sweep.kind == SMMA_SWEEP_FORMAT;
  const char *label = NULL;
  char text[SMMA_OPERANDS_TEXT];
  size_t special = 0, overflowed = 0;
  fprintf(stream, "|result - exact| over %s; ", r->sweep.name);
  if (r->sweep.kind != SMMA_SWEEP_K) fprintf(stream, "K = %zu, ", x->row[0].k);
  fprintf(stream, "%s; measured on %zu element%s (%zu x %zu)\n", smma_sweep_operands(r, text), x->rows * x->columns,
          smma_plural(x->rows * x->columns), x->rows, x->columns);
  for (const smma_sweep_row *row = x->row; row < x->row + x->count; row++) {
    const smma_product_target *t = &r->of.target[row->target];
    const bool begins = row == x->row || (formats ? strcmp(label, t->label) != 0 : row->target != row[-1].target);
    if (begins && formats && label) print_missing(stream, r, label);
    if (begins) print_heads(stream, x, t);
    label = t->label;
    print_row(stream, x, row);
    special = smma_most(special, row->error.special), overflowed = smma_most(overflowed, row->error.overflowed);
  }
  if (formats) print_missing(stream, r, label);
  if (r->sweep.kind == SMMA_SWEEP_SLICES)
    fprintf(stream, "\nauto takes %d slice%s of A and %d of B; the product is then exact, and rounded once\n",
            x->automatic[0], smma_plural((size_t)x->automatic[0]), x->automatic[1]);
  if (special)
    fprintf(stream, "a line leaves out up to %zu element%s with operands that are NaN or infinite\n", special,
            smma_plural(special));
  if (overflowed)
    fprintf(stream,
            "a line leaves out up to %zu result%s from the exact one%s; at least one of the two is infinite or NaN\n",
            overflowed, overflowed == 1 ? " that differs" : "s that differ", smma_plural(overflowed));
}
