/* Measures the error of the Ozaki scheme by the number of slices and the gap between exponents in a row. */
#include <math.h>
#include <stdlib.h>

#include "experiment/experiment.h"
#include "experiment/plot.h"
#include "experiment/random.h"
#include "host/order.h"
#include "numerics/exact.h"
#include "softmma/accurate.h"

enum { MOST_GAP = 500, MOST_SLICES = 200, MOST_SIDE = 64, GAP_CURVES = 5, MOST_LINES = 12 };

typedef struct {
  const smma_instruction *instruction;
  size_t gap_step, slices, side, bits;
} settings;

static const char *const kinds[] = {"leading", "all"}; /* in order of smma_products */

static bool prepare(smma_experiment_run *run, size_t *cells, smma_error *error) {
  settings *s = run->context;
  size_t greatest;
  s->instruction = smma_find("hopper", "wgmma.m64n8k32.s32.s8.s8", NULL);
  if (!smma_parameter_count(run, "greatest-gap", 0, MOST_GAP, &greatest, error) ||
      !smma_parameter_count(run, "gap-step", 1, MOST_GAP, &s->gap_step, error) ||
      !smma_parameter_count(run, "slices", 1, MOST_SLICES, &s->slices, error) ||
      !smma_parameter_count(run, "slice-bits", 1, 7, &s->bits, error) ||
      !smma_parameter_count(run, "side", 1, MOST_SIDE, &s->side, error))
    return false;
  *cells = greatest / s->gap_step + 1;
  return true;
}

/* ---- Cells ---- */

/* The products of a cell: all pairs of `side` rows (2^-gap x, 1) of A and `side` columns (2^gap y, 1) of B. */
typedef struct {
  size_t side;
  double a[2 * MOST_SIDE], b[2 * MOST_SIDE], d[MOST_SIDE * MOST_SIDE];
  double errors[MOST_SIDE * MOST_SIDE];
} products;

static void fill(const smma_experiment_run *run, uint32_t cell, int gap, products *p) {
  for (size_t i = 0; i < p->side; i++) {
    p->a[2 * i] = ldexp(smma_random_normal(run->seed, cell, 2 * i), -gap);
    p->b[2 * i] = ldexp(smma_random_normal(run->seed, cell, 2 * i + 1), gap);
    p->a[2 * i + 1] = p->b[2 * i + 1] = 1;
  }
}

/* Adds a row: the median and the greatest of |d - c| / |c|. */
static void add_row(smma_experiment_run *run, int gap, const char *kind, size_t slices, products *p) {
  size_t pairs = p->side * p->side;
  for (size_t e = 0; e < pairs; e++) {
    smma_double_double exact = smma_exact_dot(p->a + 2 * (e / p->side), p->b + 2 * (e % p->side), 2);
    p->errors[e] = fabs(smma_difference_from(p->d[e], exact) / exact.high);
  }
  qsort(p->errors, pairs, sizeof *p->errors, smma_order_f64);
  smma_row_count(run, (size_t)gap);
  smma_row_text(run, kind);
  smma_row_count(run, slices);
  smma_row_number(run, p->errors[pairs / 2]);
  smma_row_number(run, p->errors[pairs - 1]);
}

static bool multiply(const settings *s, smma_slices how, products *p, smma_error *error) {
  smma_f64_product product;
  smma_status status;
  smma_f64_product_defaults(&product, sizeof product);
  product.m = product.n = p->side, product.k = 2;
  product.a = p->a, product.b = p->b, product.d = p->d;
  product.order_b = SMMA_COLUMN_MAJOR;
  product.threads = 1;
  status = smma_gemm_slices(s->instruction, &product, &how);
  return status == SMMA_OK || smma_fail(error, "%s", smma_status_text(status));
}

static void multiply_in_f64(products *p) {
  for (size_t e = 0; e < p->side * p->side; e++) {
    const double *a = p->a + 2 * (e / p->side), *b = p->b + 2 * (e % p->side);
    p->d[e] = a[0] * b[0] + a[1] * b[1];
  }
}

static bool compute(smma_experiment_run *run, size_t cell, smma_error *error) {
  const settings *s = run->context;
  int gap = (int)(cell * s->gap_step);
  products p = {.side = s->side};
  fill(run, (uint32_t)cell, gap, &p);
  for (size_t kind = 0; kind < 2; kind++) {
    for (size_t slices = 1; slices <= s->slices; slices++) {
      smma_slices how;
      smma_slices_defaults(&how, sizeof how);
      how.slices = (int)slices, how.bits = (int)s->bits;
      how.products = (smma_products)kind, how.sum = SMMA_SLICES_F64;
      if (!multiply(s, how, &p, error)) return false;
      add_row(run, gap, kinds[kind], slices, &p);
    }
  }
  multiply_in_f64(&p);
  add_row(run, gap, "f64", 0, &p);
  return true;
}

/* ---- Words and pictures ---- */

/* Returns the number of table rows for each gap. All gaps have the same number of rows, and the rows are ordered by
   gap. */
static size_t rows_of_gap(const smma_experiment_run *run) {
  const char *first = smma_table_text(run, 0, "gap");
  const char *const where[] = {"gap", first, NULL};
  size_t rows = 0;
  while (rows < smma_table_rows(run) && smma_table_has(run, rows, where)) rows++;
  return rows;
}

/* Returns the least number of slices whose median error is at most twice that of FP64, or 0 if no number is sufficient.
 */
static size_t enough_slices(const smma_experiment_run *run, const char *gap, const char *kind) {
  const char *const reference[] = {"gap", gap, "products", "f64", NULL};
  double limit = 2 * smma_table_find(run, reference, "median_error");
  for (size_t row = 0; row < smma_table_rows(run); row++) {
    const char *const where[] = {"gap", gap, "products", kind, NULL};
    if (smma_table_has(run, row, where) && smma_table_number(run, row, "median_error") <= limit)
      return (size_t)smma_table_number(run, row, "slices");
  }
  return 0;
}

static void summarise(const smma_experiment_run *run, FILE *out) {
  size_t of_gap = rows_of_gap(run), gaps = smma_table_rows(run) / of_gap, step = (gaps + MOST_LINES - 1) / MOST_LINES;
  fputs(
      "Slices for the accuracy of FP64 (median error at most twice that of FP64), over the gap between\n"
      "the exponents of a row, in powers of two; - where none of the slices tried is enough.\n\n"
      "gap   leading products   all products\n",
      out);
  for (size_t i = 0; i < gaps; i += step) {
    const char *gap = smma_table_text(run, i * of_gap, "gap");
    fprintf(out, "%3s", gap);
    for (size_t kind = 0; kind < 2; kind++) {
      char text[24] = "-";
      size_t enough = enough_slices(run, gap, kinds[kind]);
      if (enough) snprintf(text, sizeof text, "%zu", enough);
      fprintf(out, "%*s", kind ? 15 : 19, text);
    }
    fputc('\n', out);
  }
}

/* Plots the error of leading products as a map. Errors below the resolution of FP64 are drawn as 1e-17. */
static void plot_map(const smma_experiment_run *run, FILE *script) {
  static const char *const where[] = {"products", "leading", NULL};
  static const char *const columns[] = {"slices", "gap", "median_error", NULL};
  smma_plot_block(run, script, "$map", where, columns);
  fputs(
      "set title 'median |error| / |c|, leading products'\nset xlabel 'slices of each number'\n"
      "set ylabel 'gap between exponents, powers of two'\n"
      "set palette defined (0 '#440154', 1 '#31688e', 2 '#35b779', 3 '#fde725')\nset logscale cb 10\nset cbrange "
      "[1e-17:1]\nset format cb '10^{%L}'\n"
      "set format x '%g'\nset format y '%g'\nset autoscale fix\nunset key\n"
      "plot $map using 1:2:($3 > 1e-17 ? ($3 < 1 ? $3 : 1) : 1e-17) with image\n",
      script);
}

/* Plots the error over the number of slices, for some of the computed gaps, evenly spread. */
static void plot_curves(const smma_experiment_run *run, FILE *script) {
  static const char *const columns[] = {"slices", "median_error", NULL};
  size_t of_gap = rows_of_gap(run), gaps = smma_table_rows(run) / of_gap;
  size_t curves = gaps < GAP_CURVES ? gaps : GAP_CURVES;
  const char *gap[GAP_CURVES];
  for (size_t i = 0; i < curves; i++) {
    char block[32];
    size_t cell = curves > 1 ? i * (gaps - 1) / (curves - 1) : 0;
    gap[i] = smma_table_text(run, cell * of_gap, "gap");
    for (size_t kind = 0; kind < 2; kind++) {
      const char *const where[] = {"products", kinds[kind], "gap", gap[i], NULL};
      snprintf(block, sizeof block, "$%s%zu", kinds[kind], i);
      smma_plot_block(run, script, block, where, columns);
    }
  }
  fputs(
      "set title 'leading products (lines), all products (plus signs)'\nset ylabel 'median |error| / |c|'\n"
      "set logscale y 10\nset yrange [1e-17:10]\nset format y '10^{%L}'\n"
      "set key at screen 0.99,0.7 right top title 'gap'\nplot ",
      script);
  for (size_t i = 0; i < curves; i++)
    fprintf(script,
            "$leading%zu with linespoints linetype %zu title '%s', "
            "$all%zu with points linetype %zu pointtype 1 notitle, ",
            i, i + 1, gap[i], i, i + 1);
  fputs("\nunset multiplot\n", script);
}

static void plot(const smma_experiment_run *run, FILE *script) {
  fputs("set multiplot layout 1,2 margins 0.07,0.88,0.18,0.9 spacing 0.19,0.1\n", script);
  plot_map(run, script);
  plot_curves(run, script);
}

static const smma_experiment_parameter parameters[] = {
    {"greatest-gap", "70", "21", "the greatest phi: rows of A are (2^-phi x, 1), columns of B (2^phi y, 1)"},
    {"gap-step", "1", "7", "from one phi, beginning with 0, to the next"},
    {"slices", "24", "8", "the most slices of each number"},
    {"slice-bits", "7", "7", "bits of a slice without its sign"},
    {"side", "32", "8", "numbers x and numbers y, N(0, 1): side^2 dot products for each phi"},
    {NULL, NULL, NULL, NULL}};

static const char *const columns[] = {"gap", "products", "slices", "median_error", "greatest_error", NULL};

const smma_experiment smma_experiment_ozaki = {
    .name = "ozaki",
    .title = "error of integer slices over their number and the gap between exponents",
    .source =
        "A. Abdelfattah et al., Analysis of Floating-Point Matrix Multiplication Computed via Integer Arithmetic, "
        "2025; "
        "M. Mikaitis, Accurate Matrix Multiplication with Low- and Mixed-Precision Matrix Multiply-Add Units, slides, "
        "2025: shared-place splitting",
    .parameters = parameters,
    .columns = columns,
    .width = 1150,
    .height = 460,
    .context_bytes = sizeof(settings),
    .prepare = prepare,
    .compute = compute,
    .summarise = summarise,
    .plot = plot,
};
