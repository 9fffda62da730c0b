#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/choose.h"
#include "cli/matrices.h"
#include "cli/plans.h"
#include "cli/target.h"
#include "isa/key.h"
#include "numerics/compare.h"

enum { MOST_UNITS = 32 };

typedef struct {
  char label[512]; /* a GPU, or the file of a custom unit */
  const smma_instruction *instruction;
  char inputs[SMMA_INPUTS_TEXT_SIZE];
  char shown[SMMA_INPUTS_TEXT_SIZE + 520]; /* with the plan */
  smma_target_plan *plan;
  smma_target_rounding rounding;
  smma_tensor a, b, d;
  smma_comparison difference;          /* from the first unit */
  smma_product_error error, own_error; /* against the exact product of the files, and of the rounded inputs */
} unit;

typedef struct {
  const char *path[2];
  smma_tensor a, b; /* as the files hold them */
  size_t m, n, k;
  smma_formats formats; /* of units that name none */
  smma_format d;        /* of all results */
  bool planned;         /* units have plans */
  unit unit[MOST_UNITS];
  smma_target_plan plan[MOST_UNITS];
  int units, passes; /* passes over all products that are done: of each unit, the product and two exact ones */
  smma_progress progress;
} comparison;

/* A file says its formats itself. */
static const smma_instruction *require_custom(const comparison *x, const smma_target *target) {
  const smma_instruction *i = target->custom;
  if (i->d == x->formats.d) return i;
  smma_die("--on: %s has results in %s, not in %s; give --out", target->text, smma_format_text(i->d),
           smma_format_text(x->formats.d));
}

static const smma_instruction *require_on(const comparison *x, char *label) {
  smma_formats formats = x->formats;
  const char *inputs;
  const smma_target target = smma_require_target_and_more(label, &inputs);
  if (target.custom) return require_custom(x, &target);
  if (inputs) formats = smma_require_formats(inputs, "--on", smma_format_text(x->formats.d));
  return smma_require_by_formats(label, &formats, "--on");
}

/* "GPU", "GPU:FORMAT", "GPU:FORMAT:FORMAT" or a custom unit's file. */
static void add_unit(comparison *x, const char *text, size_t length) {
  unit *u = &x->unit[x->units];
  if (x->units == MOST_UNITS) smma_die("--on: more than %d GPUs", MOST_UNITS);
  if (length == 0 || length >= sizeof u->label) smma_die("--on: '%.*s' is not the name of a GPU", (int)length, text);
  memcpy(u->label, text, length);
  u->label[length] = 0;
  x->units++;
  u->instruction = require_on(x, u->label);
  smma_inputs_text(u->instruction, u->inputs);
}

static void add_units(comparison *x, const char *list) {
  while (*list) {
    size_t length = strcspn(list, ",");
    add_unit(x, list, length);
    list += length + (list[length] == ',');
  }
}

/* How A and B are rounded is shown where --round-in says it. */
static void add_roundings(comparison *x, const char *list) {
  const smma_instruction *instructions[MOST_UNITS];
  smma_target_rounding rounding[MOST_UNITS];
  for (int i = 0; i < x->units; i++) instructions[i] = x->unit[i].instruction;
  smma_require_roundings(list, instructions, x->plan, (size_t)x->units, rounding);
  for (int i = 0; i < x->units; i++) {
    unit *u = &x->unit[i];
    u->rounding = rounding[i];
    if (list) smma_append_text(u->shown, sizeof u->shown, ", %s", smma_roundings[rounding[i].a]);
  }
}

static void refuse_single(const comparison *x) {
  if (x->units < 2) smma_die("--on: one target has nothing to be compared with; for example --on V100,A100,H100");
  for (int i = 0; i < x->units; i++)
    for (int j = 0; j < i; j++)
      if (smma_same_rounding(x->unit[i].rounding, x->unit[j].rounding))
        smma_refuse_same_target(x->unit[i].label, x->unit[i].instruction, &x->plan[i], x->unit[j].label,
                                x->unit[j].instruction, &x->plan[j]);
}

/* Plans may have another D than the instruction, but all units' results are of one format. */
static void add_plans(comparison *x, const char *list) {
  const smma_instruction *instructions[MOST_UNITS];
  for (int i = 0; i < x->units; i++) instructions[i] = x->unit[i].instruction;
  smma_require_plans(list, instructions, (size_t)x->units, x->plan);
  x->planned = list != NULL;
  x->d = smma_plan_d_format(x->plan[0].plan, instructions[0]);
  for (int i = 0; i < x->units; i++) {
    unit *u = &x->unit[i];
    const smma_format d = smma_plan_d_format(x->plan[i].plan, instructions[i]);
    u->plan = &x->plan[i];
    snprintf(u->shown, sizeof u->shown, "%s%s%s", u->inputs, list ? ", " : "", u->plan->text);
    if (d != x->d)
      smma_die("--plan: results of %s are in %s with %s and those of %s in %s with %s; give plans with the same D",
               x->unit[0].label, smma_format_text(x->d), x->plan[0].text, u->label, smma_format_text(d), u->plan->text);
  }
}

static smma_encoded_matrix encoded(const smma_tensor *t) {
  return (smma_encoded_matrix){t->format, t->rows, t->columns, t->data};
}

/* Raw files hold the format of --in. */
static void settle_raw(smma_tensor *t, smma_format in, const char *what, const char *path) {
  smma_tensor typed;
  smma_settle_integers(t, in, what, path);
  if (!smma_is_raw(t, in)) return;
  typed = smma_matrix_as(t, in, what, path, false);
  smma_tensor_free(t);
  *t = typed;
}

/* Whether an earlier unit has the same input formats, so that its rounding has been noted. */
static bool format_told(const comparison *x, const unit *u) {
  for (const unit *earlier = x->unit; earlier < u; earlier++)
    if (strcmp(earlier->inputs, u->inputs) == 0 && smma_same_rounding(earlier->rounding, u->rounding)) return true;
  return false;
}

static bool show_progress(size_t rows_done, size_t rows, void *context) {
  comparison *x = context;
  smma_progress_show(&x->progress, (size_t)x->passes * rows + rows_done, 3 * (size_t)x->units * rows);
  return 0;
}

static smma_product_error require_error(const smma_encoded_matrix *a, const smma_encoded_matrix *b,
                                        const smma_encoded_matrix *d, comparison *x) {
  smma_product_error error;
  if (!smma_error_against_exact(a, b, d, show_progress, x, &error)) smma_die("out of memory");
  return error;
}

/* The unit's product of what it is given; then the errors of its results. */
static void multiply(comparison *x, unit *u, smma_gemm_arguments *g) {
  smma_encoded_matrix a, b, d;
  smma_status status;
  void *neutral;
  u->d = smma_new_matrix(x->d, x->m, x->n);
  g->m = x->m, g->n = x->n, g->k = x->k, g->d = u->d.data;
  g->progress = show_progress, g->progress_context = x;
  neutral = smma_take_plan(u->plan->plan, g);
  status = smma_gemm(u->instruction, g);
  free(neutral);
  if (status != SMMA_OK) smma_die("%s", smma_status_text(status));
  x->passes++;
  u->difference = smma_compare_results(x->d, x->unit[0].d.data, u->d.data, x->m * x->n);
  d = encoded(&u->d);
  a = encoded(&x->a), b = encoded(&x->b);
  u->error = require_error(&a, &b, &d, x);
  x->passes++;
  a = encoded(&u->a), b = encoded(&u->b);
  u->own_error = require_error(&a, &b, &d, x);
  x->passes++;
}

static void run_unit(comparison *x, unit *u) {
  smma_gemm_arguments g;
  bool told = format_told(x, u);
  smma_gemm_defaults(&g, sizeof g);
  if (u->instruction->scale_block) {
    smma_block_format f[2] = {smma_input_of(u->instruction, true), smma_input_of(u->instruction, false)};
    smma_blocks a = smma_matrix_in_blocks(&x->a, true, &f[0], "A", x->path[0], told);
    smma_blocks b = smma_matrix_in_blocks(&x->b, false, &f[1], "B", x->path[1], told);
    g.a = a.values.data, g.b = b.values.data, g.scale_a = a.scales.data, g.scale_b = b.scales.data;
    u->a = a.products, u->b = b.products;
    multiply(x, u, &g);
    a.products.data = b.products.data = NULL; /* the unit's now */
    smma_blocks_free(&a);
    smma_blocks_free(&b);
  } else {
    u->a = smma_matrix_rounded(&x->a, u->instruction->a, u->rounding.a, "A", x->path[0], told);
    u->b = smma_matrix_rounded(&x->b, u->instruction->b, u->rounding.b, "B", x->path[1], told);
    g.a = u->a.data, g.b = u->b.data;
    multiply(x, u, &g);
  }
}

/* Whether all results are the same. */
static bool run_units(comparison *x) {
  bool same = true;
  smma_progress_start(&x->progress, "products", (double)x->n * (double)x->k);
  for (int i = 0; i < x->units; i++) {
    run_unit(x, &x->unit[i]);
    same &= x->unit[i].difference.different == 0;
  }
  smma_progress_end();
  return same;
}

static void load_matrices(comparison *x, const char **paths) {
  x->path[0] = paths[0], x->path[1] = paths[1];
  x->a = smma_load_matrix(paths[0]), x->b = smma_load_matrix(paths[1]);
  for (int i = 0; i < x->units; i++) {
    if (x->a.format != SMMA_NO_FORMAT || x->a.integers)
      smma_require_meaning(&x->a, x->unit[i].instruction->a, "A", paths[0]);
    if (x->b.format != SMMA_NO_FORMAT || x->b.integers)
      smma_require_meaning(&x->b, x->unit[i].instruction->b, "B", paths[1]);
  }
  x->m = x->a.rows, x->k = x->a.columns, x->n = x->b.columns;
  if (x->b.rows != x->k)
    smma_die("%s is %zu x %zu and %s is %zu x %zu: the columns of the first must be the rows of the second", paths[0],
             x->m, x->k, paths[1], x->b.rows, x->n);
  if (x->formats.scale_block) return; /* there are no raw files of numbers with scale factors */
  settle_raw(&x->a, x->formats.a, "A", paths[0]);
  settle_raw(&x->b, x->formats.b, "B", paths[1]);
}

static void free_matrices(comparison *x) {
  for (int i = 0; i < x->units; i++) {
    smma_tensor_free(&x->unit[i].a);
    smma_tensor_free(&x->unit[i].b);
    smma_tensor_free(&x->unit[i].d);
  }
  smma_tensor_free(&x->a);
  smma_tensor_free(&x->b);
}

/* "-" where nothing finite could be compared. */
static const char *error_text(double error, char text[32]) {
  snprintf(text, 32, isnan(error) ? "-" : "%.2e", error);
  return text;
}

static int wider(int width, const char *text) { return (int)strlen(text) > width ? (int)strlen(text) : width; }

/* Of the columns of input formats, with plans, and of instructions. */
static int inputs_width(const comparison *x) {
  int width = 9;
  for (int i = 0; i < x->units; i++) width = wider(width, x->unit[i].shown);
  return width;
}

static int names_width(const comparison *x) {
  int width = 32;
  for (int i = 0; i < x->units; i++) width = wider(width, x->unit[i].instruction->name);
  return width;
}

static void print_row(const comparison *x, int i) {
  const unit *u = &x->unit[i];
  char differ[32] = "-", largest[40] = "-", total[32], own[32];
  if (i) {
    snprintf(differ, sizeof differ, "%zu (%.1f %%)", u->difference.different,
             x->m && x->n ? 100.0 * (double)u->difference.different / (double)(x->m * x->n) : 0);
    if (u->difference.special < u->difference.different || u->difference.different == 0)
      snprintf(largest, sizeof largest, "%.2e", smma_relative_difference(u->difference));
  }
  printf("%-14s %-*s %-*s  %21s  %13s  %11s  %11s\n", u->label, inputs_width(x), u->shown, names_width(x),
         u->instruction->name, differ, largest, error_text(u->error.largest, total),
         error_text(u->own_error.largest, own));
}

static void print_table(const comparison *x) {
  size_t special = 0, left_out = 0;
  printf("%s (%zu x %zu) times %s (%zu x %zu): %zu results in %s\n\n", x->path[0], x->m, x->k, x->path[1], x->k, x->n,
         x->m * x->n, smma_format_text(x->d));
  printf("%-14s %-*s %-*s  %12s %-8.8s  %13s  %11s  %11s\n", "GPU", inputs_width(x),
         x->planned ? "inputs, plan" : "inputs", names_width(x), "instruction", "differ from", x->unit[0].label,
         "at most by", "total error", "unit's part");
  for (int i = 0; i < x->units; i++) {
    print_row(x, i);
    special += x->unit[i].difference.special;
    left_out += x->unit[i].error.left_out;
  }
  printf(
      "\ndiffer: results that are not the same bits, and the largest difference of two results over the largest "
      "result\n"
      "of %s. total error: the largest |result - exact product of the files| over the largest exact one.\n"
      "unit's part: the same against the product of the matrices rounded to its inputs.\n",
      x->unit[0].label);
  if (special) printf("%zu differences have NaN or infinity on one side and are not in the largest.\n", special);
  if (left_out) printf("%zu results have no finite error, because they or the exact ones are not finite.\n", left_out);
}

static void print_pairs(const comparison *x) {
  if (x->units < 3) return;
  printf("\nresults that differ, pair by pair:\n%-*s", 15 + inputs_width(x), "");
  for (int j = 0; j < x->units; j++) printf(" %*s", wider(12, x->unit[j].shown), x->unit[j].label);
  printf("\n%-*s", 15 + inputs_width(x), "");
  for (int j = 0; j < x->units; j++) printf(" %*s", wider(12, x->unit[j].shown), x->unit[j].shown);
  putchar('\n');
  for (int i = 0; i < x->units; i++) {
    printf("%-14s %-*s", x->unit[i].label, inputs_width(x), x->unit[i].shown);
    for (int j = 0; j <= i; j++)
      printf(" %*zu", wider(12, x->unit[j].shown),
             smma_compare_results(x->d, x->unit[i].d.data, x->unit[j].d.data, x->m * x->n).different);
    putchar('\n');
  }
}

static json_t *error_json(smma_product_error e) {
  return json_pack("{s:o, s:o, s:I}", "largest", smma_json_value(e.largest), "rms", smma_json_value(e.root_mean_square),
                   "left_out", (json_int_t)e.left_out);
}

/* A JSON integer has 63 bits; beyond them a real number. */
static json_t *ulps_json(uint64_t ulps) {
  return ulps <= INT64_MAX ? json_integer((json_int_t)ulps) : json_real((double)ulps);
}

static json_t *difference_json(smma_comparison d) {
  return json_pack("{s:I, s:o, s:o, s:I}", "different", (json_int_t)d.different, "largest_ulps",
                   ulps_json(d.largest_ulps), "largest_difference", smma_json_value(smma_relative_difference(d)),
                   "special", (json_int_t)d.special);
}

static void print_json(const comparison *x) {
  json_t *units = json_array(), *pairs = json_array();
  for (int i = 0; i < x->units; i++) {
    const unit *u = &x->unit[i];
    json_t *plan = x->planned ? smma_json_text(u->plan->text) : NULL;
    const char *rounding = u->instruction->scale_block ? NULL : smma_roundings[u->rounding.a];
    json_array_append_new(units, json_pack("{s:o, s:o, s:s, s:s, s:s*, s:o*, s:o, s:o}", "on", smma_json_text(u->label),
                                           "arch", smma_json_text(smma_arch_name(u->instruction)), "instruction",
                                           u->instruction->name, "in", u->inputs, "round_in", rounding, "plan", plan,
                                           "error", error_json(u->error), "unit_error", error_json(u->own_error)));
    for (int j = 0; j < i; j++) {
      json_t *pair = difference_json(smma_compare_results(x->d, x->unit[j].d.data, u->d.data, x->m * x->n));
      json_object_set_new(pair, "first", json_integer(j));
      json_object_set_new(pair, "second", json_integer(i));
      json_array_append_new(pairs, pair);
    }
  }
  smma_print_json(json_pack("{s:I, s:I, s:I, s:s, s:o, s:o}", "m", (json_int_t)x->m, "n", (json_int_t)x->n, "k",
                            (json_int_t)x->k, "out", smma_format_text(x->d), "units", units, "pairs", pairs));
}

int smma_command_compare(int argc, const char **argv) {
  static comparison x;
  const char *gpus = NULL, *in = "f16", *out = NULL, *plans = NULL, *roundings = NULL, **paths;
  int json = 0;
  bool same;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &gpus, 0, "GPUs or architectures, each with ':FORMAT' or ':A:B' if not that of --in",
       "GPU[:FORMAT],..."},
      {"in", 0, POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &in, 0, "format of A and B, or A,B", "FORMAT"},
      {"out", 0, POPT_ARG_STRING, &out, 0, "format of the results: f32 (f64 for f64, s32 for integers) without it",
       "FORMAT"},
      {"plan", 0, POPT_ARG_STRING, &plans, 0,
       "how the library around the instruction sums: one for all GPUs or one for each, 'none' for one chain",
       "FILE|NAME,..."},
      SMMA_RAW_OPTION,
      SMMA_ROUND_IN_OPTION(&roundings, "MODE,..."),
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  paths =
      smma_parse_options(argc, argv, options, 2, 2,
                         "Each GPU computes with its preferred instruction for the format. C is zero, scale factors\n"
                         "of a plan's parts are 1, its bias 0. Exit status 1 if results differ; any two NaN are equal\n"
                         "('softmma campaign' compares their bits).\n"
                         "Example: softmma compare --on V100,H100,H100:e4m3,MI300X A.npy B.npy\n");
  x.formats = smma_require_formats(in, "--in", out);
  add_units(&x, smma_require_option(gpus, "--on", "V100,A100,H100"));
  if (x.units == 0) smma_die("--on: the list of GPUs is empty; for example --on V100,A100,H100");
  add_plans(&x, plans);
  add_roundings(&x, roundings);
  refuse_single(&x);
  load_matrices(&x, paths);
  for (int i = 0; i < x.units; i++) smma_check_plan(x.unit[i].plan, x.unit[i].instruction, x.k);
  same = run_units(&x);
  if (json) {
    print_json(&x);
  } else {
    print_table(&x);
    print_pairs(&x);
  }
  free_matrices(&x);
  for (int i = 0; i < x.units; i++) smma_plan_free(x.plan[i].plan);
  return smma_finish_output(same ? SMMA_EXIT_EQUAL : SMMA_EXIT_DIFFERENT);
}
