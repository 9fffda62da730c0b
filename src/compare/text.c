/* Prints a comparison as a table, with the number of different results for each two of several targets. */
#include <string.h>

#include "compare/columns.h"
#include "compare/compare.h"
#include "core/bits.h"
#include "host/count.h"
#include "isa/format_name.h"

/* The texts of a line of the table: of a target, or of a result of the user's own, whose operands are not known. */
typedef struct {
  const char *label;
  char inputs[SMMA_SHOWN_INPUTS_SIZE];
  const char *instruction;
} line_text;

static bool is_own(const smma_compare_result *x, size_t i) { return i >= x->request->targets; }
static size_t lines_of(const smma_compare_result *x) { return x->request->targets + x->request->owns; }
static size_t results_of(const smma_compare_result *x) { return x->request->a.rows * x->request->b.columns; }

static line_text text_of(const smma_compare_result *x, size_t i) {
  const smma_compare_request *r = x->request;
  line_text text;
  if (is_own(x, i)) return (line_text){r->own[i - r->targets].name, "-", "your result"};
  text = (line_text){.label = r->target[i].label, .instruction = r->target[i].instruction->name};
  smma_shown_inputs(&r->target[i], text.inputs);
  return text;
}

/* Width of the first column, which has the files of own results. */
static int labels_width(const smma_compare_result *x) {
  int width = 14;
  for (size_t i = 0; i < x->request->owns; i++) width = smma_maximum(width, (int)strlen(x->request->own[i].name));
  return width;
}

static int inputs_width(const smma_compare_result *x) {
  return smma_column_width(x->request->target, x->request->targets, SMMA_COLUMN_INPUTS, 9);
}
static int names_width(const smma_compare_result *x) {
  return smma_column_width(x->request->target, x->request->targets, SMMA_COLUMN_INSTRUCTION, 32);
}

static void print_row(FILE *stream, const smma_compare_result *x, size_t i) {
  const line_text t = text_of(x, i);
  const smma_comparison *c = &x->pair[0][i];
  const size_t results = results_of(x);
  char differ[32] = "-", largest[40] = "-", total[32], own[32] = "-";
  if (i) {
    snprintf(differ, sizeof differ, "%zu (%.1f %%)", c->different,
             results ? 100.0 * (double)c->different / (double)results : 0);
    if (c->special < c->different || c->different == 0)
      snprintf(largest, sizeof largest, "%.2e", smma_relative_difference(*c));
  }
  if (!is_own(x, i)) smma_error_text(x->unit_error[i].largest, own);
  fprintf(stream, "%-*s %-*s %-*s  %21s  %13s  %16s  %24s\n", labels_width(x), t.label, inputs_width(x), t.inputs,
          names_width(x), t.instruction, differ, largest, smma_error_text(x->error[i].largest, total), own);
}

static size_t special_of(const smma_compare_result *x, size_t i) { return x->pair[0][i].special; }
static size_t left_out_of(const smma_compare_result *x, size_t i) { return x->error[i].left_out; }
static size_t beyond_of(const smma_compare_result *x, size_t i) { return x->beyond[i]; }

/* Prints a sentence about the results that `count` counts, with the number of each line of the table that has any. */
static void print_counts(FILE *stream, const smma_compare_result *x, const char *what,
                         size_t (*count)(const smma_compare_result *, size_t)) {
  const char *before = what;
  for (size_t i = 0; i < lines_of(x); i++) {
    const line_text t = text_of(x, i);
    if (!count(x, i)) continue;
    fprintf(stream, "%s%zu of %zu %s %s", before, count(x, i), results_of(x), is_own(x, i) ? "of" : "on", t.label);
    if (!is_own(x, i)) fprintf(stream, " (%s)", t.inputs);
    before = ", ";
  }
  if (before != what) fputc('\n', stream);
}

/* Prints how many results are not close to those of the first target. */
static void print_beyond(FILE *stream, const smma_compare_result *x) {
  const smma_compare_request *r = x->request;
  char what[256];
  if (!r->has_tolerances) return;
  snprintf(what, sizeof what, "differ by more than atol %g + rtol %g times the result of %.100s: ", r->atol, r->rtol,
           r->target[0].label);
  if (x->same)
    fprintf(stream, "%snone\n", what);
  else
    print_counts(stream, x, what, beyond_of);
}

static void print_table(FILE *stream, const smma_compare_result *x, const char *const matrix[2]) {
  const smma_compare_request *r = x->request;
  fprintf(stream, "%s (%zu x %zu) times %s (%zu x %zu): %zu result%s in %s\n\n", matrix[0], r->a.rows, r->a.columns,
          matrix[1], r->b.rows, r->b.columns, results_of(x), smma_plural(results_of(x)), smma_format_text(x->d));
  fprintf(stream, "%-*s %-*s %-*s  %12s %-8.8s  %13s  %16s  %24s\n", labels_width(x), "GPU", inputs_width(x),
          smma_inputs_heading(r->target, r->targets), names_width(x), "instruction", "differ from", r->target[0].label,
          "at most by", "end-to-end error", "error of the matrix unit");
  for (size_t i = 0; i < lines_of(x); i++) print_row(stream, x, i);
  fprintf(stream,
          "\ndiffer: results that are not the same bits, and the largest difference of two results over the largest "
          "result\n"
          "of %s. end-to-end error: the largest |result - exact product of the given matrices| over the largest exact "
          "one.\n"
          "error of the matrix unit: the same against the product of the matrices rounded to its inputs.\n",
          r->target[0].label);
  print_beyond(stream, x);
  print_counts(stream, x, "NaN or infinity on one side, not in the largest difference: ", special_of);
  print_counts(stream, x, "no finite error, because they or the exact results are not finite: ", left_out_of);
}

static int column_width(const smma_compare_result *x, size_t i) {
  const line_text t = text_of(x, i);
  return smma_maximum(12, smma_maximum((int)strlen(t.inputs), is_own(x, i) ? (int)strlen(t.label) : 0));
}

static void print_pairs(FILE *stream, const smma_compare_result *x) {
  const size_t count = lines_of(x);
  const int before = labels_width(x) + 1 + inputs_width(x);
  if (count < 3) return;
  fprintf(stream, "\nresults that differ, pair by pair:\n%-*s", before, "");
  for (size_t j = 0; j < count; j++) fprintf(stream, " %*s", column_width(x, j), text_of(x, j).label);
  fprintf(stream, "\n%-*s", before, "");
  for (size_t j = 0; j < count; j++) fprintf(stream, " %*s", column_width(x, j), text_of(x, j).inputs);
  fputc('\n', stream);
  for (size_t i = 0; i < count; i++) {
    fprintf(stream, "%-*s %-*s", labels_width(x), text_of(x, i).label, inputs_width(x), text_of(x, i).inputs);
    for (size_t j = 0; j <= i; j++) fprintf(stream, " %*zu", column_width(x, j), x->pair[j][i].different);
    fputc('\n', stream);
  }
}

void smma_print_comparison(FILE *stream, const smma_compare_result *x, const char *const matrix[2]) {
  print_table(stream, x, matrix);
  print_pairs(stream, x);
}
