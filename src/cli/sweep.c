#include "cli/sweep.h"

#include <math.h>
#include <string.h>

#include "cli/output.h"
#include "cli/program.h"

/* ---- Text ---- */

static void print_heads(const smma_sweep_result *x, const smma_product_target *t) {
  char inputs[SMMA_INPUTS_TEXT_SIZE];
  if (x->request->sweep.kind == SMMA_SWEEP_FORMAT)
    printf("\n%s", t->label);
  else
    printf("\n%s, %s, %s", t->label, smma_inputs_text(t->instruction, inputs), t->instruction->name);
  printf("%s%s\n%-16s  %8s  %8s  %8s  %8s  %9s  %13s\n", t->plan ? ", " : "", t->plan ? t->plan : "",
         x->request->sweep.name, "50 %", "99 %", "max", "bound", "bound/max", "exact |x| 50 %");
}

static void print_row(const smma_sweep_result *x, const smma_sweep_row *row) {
  const double *error = row->error.error, most = error[SMMA_QUANTILES - 1];
  const double bound = row->error.unbounded ? NAN : row->error.most_bound;
  char text[5][32], share[32] = "-";
  if (most > 0 && !isnan(bound)) snprintf(share, sizeof share, "%.2f", bound / most);
  printf("%-16s  %8s  %8s  %8s  %8s  %9s  %13s\n", x->request->sweep.value[row->value],
         smma_number_text(error[0], text[0]), smma_number_text(error[2], text[1]), smma_number_text(most, text[2]),
         smma_number_text(bound, text[3]), share, smma_number_text(row->exact[0], text[4]));
}

/* Prints the values of a sweep over formats that the GPU of a target does not have. */
static void print_missing(const smma_sweep_request *r, const char *label) {
  for (size_t v = 0; v < r->sweep.values; v++) {
    bool has = false;
    for (size_t t = 0; t < r->of.targets; t++)
      has = has || (strcmp(r->of.target[t].label, label) == 0 && smma_sweep_has(r, v, t));
    if (!has) printf("%-16s  not on %s\n", r->sweep.value[v], label);
  }
}

void smma_sweep_print(const smma_sweep_result *x) {
  const smma_sweep_request *r = x->request;
  const bool formats = r->sweep.kind == SMMA_SWEEP_FORMAT;
  const char *label = NULL;
  char text[SMMA_OPERANDS_TEXT];
  size_t special = 0;
  printf("|result - exact| over %s; ", r->sweep.name);
  if (r->sweep.kind != SMMA_SWEEP_K) printf("K = %zu, ", x->row[0].k);
  printf("%s; measured on %zu elements (%zu x %zu)\n",
         r->sweep.kind == SMMA_SWEEP_DATA ? "data of each kind" : smma_sweep_operands(r, text), x->rows * x->columns,
         x->rows, x->columns);
  for (const smma_sweep_row *row = x->row; row < x->row + x->count; row++) {
    const smma_product_target *t = &r->of.target[row->target];
    const bool begins = row == x->row || (formats ? strcmp(label, t->label) != 0 : row->target != row[-1].target);
    if (begins && formats && label) print_missing(r, label);
    if (begins) print_heads(x, t);
    label = t->label;
    print_row(x, row);
    special += row->error.special;
  }
  if (formats) print_missing(r, label);
  if (r->sweep.kind == SMMA_SWEEP_SLICES)
    printf("\nauto takes %d slices of A and %d of B; the product is then exact, and rounded once\n", x->automatic[0],
           x->automatic[1]);
  if (special) printf("%zu elements are left out, because operands of theirs are NaN or infinite\n", special);
}

/* ---- The picture ---- */

static bool is_svg(const char *path) { return smma_ends_with(path, ".svg"); }

bool smma_check_picture(const char *path, smma_error *error) {
  smma_error why;
  if (!is_svg(path) && !smma_ends_with(path, ".png"))
    return smma_fail(error, "--plot: '%s' ends with neither .svg nor .png", path);
  return smma_check_writable(path, "--plot", error) &&
         (smma_program_is_there(&smma_gnuplot, &why) || smma_fail(error, "--plot: %s", why.text));
}

static bool write_svg(FILE *script, const void *sweep, smma_error *error) {
  return smma_sweep_plot(sweep, "svg", script, error);
}

static bool write_png(FILE *script, const void *sweep, smma_error *error) {
  return smma_sweep_plot(sweep, "pngcairo", script, error);
}

int smma_sweep_draw(const smma_sweep_result *x, const char *path) {
  smma_error error;
  return smma_draw_file(&smma_gnuplot, is_svg(path) ? write_svg : write_png, x, path, &error)
             ? SMMA_EXIT_EQUAL
             : smma_complain("--plot: %s", error.text);
}
