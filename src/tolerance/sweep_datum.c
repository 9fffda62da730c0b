/* Writes the result of a sweep as a record, and as a picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/locale.h"
#include "isa/format_name.h"
#include "page/gnuplot.h"
#include "tolerance/measured.h"
#include "tolerance/sweep.h"

bool smma_sweep_number(const smma_sweep *s, size_t value, double *number) {
  char *end;
  *number = (double)strtol(s->value[value], &end, 10);
  return !*end;
}

const char *smma_sweep_operands(const smma_sweep_request *r, char text[SMMA_OPERANDS_TEXT]) {
  const unsigned long long seed = r->of.data.seed;
  if (r->sweep.kind == SMMA_SWEEP_DATA) {
    snprintf(text, SMMA_OPERANDS_TEXT, seed ? "data of each kind, seed %llu" : "data of each kind", seed);
    return text;
  }
  if (!r->a) return smma_tolerance_operands(&r->of, text);
  snprintf(text, SMMA_OPERANDS_TEXT, "%s times %s", r->of.a, r->of.b);
  return text;
}

/* ---- The record ---- */

static smma_datum *value_datum(const smma_sweep *s, size_t value) {
  double number;
  return smma_sweep_number(s, value, &number) ? smma_datum_count((int64_t)number) : smma_datum_text(s->value[value]);
}

static smma_datum *row_datum(const smma_sweep_result *x, const smma_sweep_row *row) {
  const smma_sweep_request *r = x->request;
  smma_datum *record = smma_datum_record();
  smma_datum_put(record, "value", value_datum(&r->sweep, row->value));
  smma_put_target_error(record, &r->of.target[row->target], &row->error);
  smma_put_count(record, "k", row->k);
  smma_put_text(record, "stored", smma_format_text(row->error.stored));
  smma_datum_put(record, "exact", smma_quantiles_datum(row->exact));
  return record;
}

smma_datum *smma_sweep_datum(const smma_sweep_result *x) {
  const smma_sweep_request *r = x->request;
  smma_datum *record = smma_datum_record(), *values = smma_datum_list(), *rows = smma_datum_list();
  char text[SMMA_OPERANDS_TEXT];
  for (size_t v = 0; v < r->sweep.values; v++) smma_datum_append(values, value_datum(&r->sweep, v));
  for (size_t i = 0; i < x->count; i++) smma_datum_append(rows, row_datum(x, &x->row[i]));
  smma_put_text(record, "sweep", r->sweep.name);
  smma_datum_put(record, "values", values);
  smma_put_count(record, "m", x->m);
  smma_put_count(record, "n", x->n);
  smma_put_text(record, "data", smma_sweep_operands(r, text));
  smma_put_count(record, "elements", x->rows * x->columns);
  smma_datum_put(record, "rows", rows);
  if (r->sweep.kind == SMMA_SWEEP_SLICES)
    smma_datum_put(record, "auto",
                   smma_datum_list_of(2, smma_datum_count(x->automatic[0]), smma_datum_count(x->automatic[1])));
  return record;
}

/* ---- The picture ---- */

/* Reports whether all values are numbers. If not, the picture shows them at equal distances, labelled with their
   text. */
static bool are_numbers(const smma_sweep *s) {
  double number;
  for (size_t v = 0; v < s->values; v++)
    if (!smma_sweep_number(s, v, &number)) return false;
  return true;
}

static double place_of(const smma_sweep *s, size_t value) {
  double number;
  return are_numbers(s) && smma_sweep_number(s, value, &number) ? number : (double)value;
}

/* Reports whether the axis is logarithmic: all values are numbers, and the greatest is at least 16 times the least. */
static bool is_wide(const smma_sweep *s) {
  double least = INFINITY, greatest = 0;
  for (size_t v = 0; v < s->values; v++) least = fmin(least, place_of(s, v)), greatest = fmax(greatest, place_of(s, v));
  return are_numbers(s) && least > 0 && greatest >= 16 * least;
}

/* Reports whether two targets are points of one curve. */
static bool are_joined(const smma_sweep_request *r, size_t x, size_t y) {
  return r->sweep.kind == SMMA_SWEEP_FORMAT && strcmp(r->of.target[x].label, r->of.target[y].label) == 0;
}

/* Returns the first target of a target's curve. */
static size_t curve_of(const smma_sweep_request *r, size_t target) {
  for (size_t first = 0; first < target; first++)
    if (are_joined(r, first, target)) return first;
  return target;
}

/* Writes the points of a curve in order of the values; NaN for numbers that a logarithmic axis cannot show. Reports
   whether any error is above 0. */
static bool write_points(const smma_sweep_result *x, size_t curve, FILE *script) {
  const smma_sweep *s = &x->request->sweep;
  bool any = false;
  fprintf(script, "$curve%zu << END\n", curve);
  for (size_t v = 0; v < s->values; v++)
    for (const smma_sweep_row *row = x->row; row < x->row + x->count; row++) {
      const double most = row->error.error[SMMA_QUANTILES - 1], bound = row->error.most_bound;
      if (row->value != v || curve_of(x->request, row->target) != curve) continue;
      any = any || most > 0;
      fprintf(script, "%.17g %.17g %.17g\n", place_of(s, v), most > 0 ? most : NAN,
              bound > 0 && !row->error.unbounded ? bound : NAN);
    }
  fputs("END\n", script);
  return any;
}

static void write_x_axis(const smma_sweep *s, FILE *script) {
  fputs("set xtics (", script);
  for (size_t v = 0; v < s->values; v++)
    if (s->values <= 16 || !are_numbers(s) || v % (s->values / 16 + 1) == 0) {
      fputs(v ? ", " : "", script);
      smma_gnuplot_text(script, s->value[v]);
      fprintf(script, " %.17g", place_of(s, v));
    }
  fputs(")\n", script);
  if (is_wide(s)) fputs("set logscale x 2\n", script);
  if (!are_numbers(s)) fprintf(script, "set xrange [-0.3:%g]\n", (double)s->values - 0.7);
}

/* Marks the number of slices that `auto` takes. */
static void write_mark(const smma_sweep_result *x, FILE *script) {
  const int most = x->automatic[0] > x->automatic[1] ? x->automatic[0] : x->automatic[1];
  if (x->request->sweep.kind != SMMA_SWEEP_SLICES || !are_numbers(&x->request->sweep)) return;
  fprintf(script,
          "set arrow from first %d, graph 0 to first %d, graph 1 nohead linecolor '#404040' dashtype '-'\n"
          "set label 'auto: %d and %d' at first %d, graph 1.02 center\n",
          most, most, x->automatic[0], x->automatic[1], most);
  fprintf(script, "set xrange [:%g]\n", fmax(most, place_of(&x->request->sweep, x->request->sweep.values - 1)));
}

/* Writes the curves of the greatest errors, with their names, or of the bounds. */
static void write_curves(const smma_sweep_result *x, bool of_bounds, FILE *script) {
  const smma_sweep_request *r = x->request;
  const bool formats = r->sweep.kind == SMMA_SWEEP_FORMAT;
  char inputs[SMMA_INPUTS_TEXT_SIZE], title[1024];
  for (size_t t = 0, curves = 0; t < r->of.targets; t++) {
    const smma_product_target *of = &r->of.target[t];
    if (curve_of(r, t) != t) continue;
    curves++;
    fprintf(script, "$curve%zu using 1:%s linetype %zu %stitle ", t, of_bounds ? "3 with lines" : "2 with linespoints",
            curves, of_bounds ? "dashtype '.' " : "");
    if (of_bounds)
      snprintf(title, sizeof title, "%s", curves == 1 ? "proved bounds (dotted)" : "");
    else
      snprintf(title, sizeof title, "%s%s%s%s%s", of->label, formats ? "" : " ",
               formats ? "" : smma_inputs_text(of->instruction, inputs), of->plan ? ", " : "",
               of->plan ? of->plan : "");
    smma_gnuplot_text(script, title);
    fputs(", ", script);
  }
}

bool smma_sweep_plot(const smma_sweep_result *x, const char *terminal, FILE *script, smma_error *error) {
  const smma_sweep_request *r = x->request;
  const smma_locale locale = smma_locale_enter();
  bool any = false;
  smma_gnuplot_head(script, terminal, 760, 480);
  for (size_t t = 0; t < r->of.targets; t++)
    if (curve_of(r, t) == t) any = write_points(x, t, script) || any;
  fputs("set logscale y 10\nset ylabel '|result - exact|'\nset key outside bottom center horizontal noenhanced\n",
        script);
  fprintf(script, "set xlabel '%s' noenhanced\n", r->sweep.name);
  write_x_axis(&r->sweep, script);
  write_mark(x, script);
  fputs("plot ", script);
  write_curves(x, false, script);
  if (!smma_sweep_is_accurate(&r->sweep)) write_curves(x, true, script);
  fputc('\n', script);
  smma_locale_leave(locale);
  return any || smma_fail(error, "no error is above 0, so there is nothing to draw");
}
