/* softmma trace: follows one element of a product, and shows where targets diverge. */
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/target.h"
#include "cli/trace.h"
#include "plan/scales.h"
#include "trace/table.h"

typedef struct {
  smma_choice choice;
  const char *gpus, *plans, *round_in, *c, *bias, *scale_a, *scale_b, *at, *own, *svg;
  double alpha, beta, scale_d;
  long long every;
  int transpose_a, transpose_b, threads, json;
} trace_options;

static const trace_options defaults = {.alpha = 1, .beta = 1, .scale_d = 1};

/* The matrices of the files: whole, or only the row and the column that the traced element needs. */
typedef struct {
  smma_tensor a, b, c, bias, scale_a, scale_b;
} files;

/* ---- Targets ---- */

/* Ends the program if an option gives an operand or factor that a target's plan cannot use. */
static void check_places(const trace_options *o, const smma_prepared_targets *x) {
  smma_gemm_arguments g;
  smma_error error;
  if (!o->scale_a != !o->scale_b) smma_die("--scale-a, --scale-b: one goes with the other");
  smma_gemm_defaults(&g, sizeof g);
  g.c = o->c, g.alpha = o->alpha, g.beta = o->beta, g.scale_d = o->scale_d;
  g.bias = (const void *)o->bias, g.scale_a = o->scale_a;
  smma_require(smma_check_places(x, &g, "-C", &error), &error);
}

static void find_targets(const trace_options *o, smma_command_trace_study *x) {
  smma_prepared_targets *t = &x->targets;
  smma_error error;
  t->notes = &smma_notes_printed;
  smma_require(smma_add_targets(t, o->gpus, SMMA_MOST_TRACED, &o->choice, &error) &&
                   smma_plan_targets(t, o->plans, o->round_in, &error) && smma_refuse_same_targets(t, &error),
               &error);
  check_places(o, t);
  x->request.shows_rounding = o->round_in && strchr(o->round_in, ',');
}

/* ---- Operands ---- */

static void take_part(smma_tensor *t, size_t row, size_t rows, size_t column, size_t columns) {
  smma_tensor part;
  smma_error error;
  smma_require(smma_tensor_part(t, row, rows, column, columns, &part, &error), &error);
  smma_replace_tensor(t, &part);
}

static void transpose(smma_tensor *t) {
  smma_tensor turned;
  smma_error error;
  smma_require(smma_tensor_transpose(t, &turned, &error), &error);
  smma_replace_tensor(t, &turned);
}

static void load_files(const trace_options *o, const char **paths, smma_command_trace_study *x, files *f) {
  smma_trace_request *r = &x->request;
  smma_error error;
  x->path[0] = paths[0], x->path[1] = paths[1];
  smma_require(smma_load_matrix(paths[0], &f->a, &error) && smma_load_matrix(paths[1], &f->b, &error) &&
                   smma_check_meanings(&x->targets, &f->a, &f->b, paths, SMMA_ONE_FORMAT, &error),
               &error);
  for (int n = 0; n < 2; n++)
    if ((n ? o->scale_b : o->scale_a) && (n ? f->b : f->a).stored)
      smma_die("--scale-%c: %s is quantised, so that it has its own factors; leave it out", n ? 'b' : 'a', paths[n]);
  if (o->transpose_a) transpose(&f->a);
  if (o->transpose_b) transpose(&f->b);
  r->m = f->a.rows, r->k = f->a.columns, r->n = f->b.columns;
  smma_require(smma_check_inner(&f->a, &f->b, paths, o->transpose_a ? " transposed" : "",
                                o->transpose_b ? " transposed" : "", " (--transpose-a, --transpose-b)", &error),
               &error);
  if (!r->m || !r->n) smma_die("%s times %s has no elements: it is %zu x %zu", paths[0], paths[1], r->m, r->n);
  smma_require((!o->c || smma_load_shaped(o->c, "-C", r->m, r->n, "A*B is", &f->c, &error)) &&
                   (!o->bias || smma_load_shaped(o->bias, "--bias", 1, r->n, "this product needs", &f->bias, &error)),
               &error);
}

/* Loads the scale factors of blocks or of a plan's parts. Ends the program if the targets need
   different numbers of scale factors. */
static void load_scales(const trace_options *o, const smma_command_trace_study *x, files *f) {
  const smma_prepared_target *t = x->targets.target;
  const smma_trace_request *r = &x->request;
  const smma_scales scales = smma_scales_of(t->plan.plan, t->instruction);
  const size_t factors = smma_scales_along(scales, r->k);
  smma_error error;
  for (size_t i = 1; i < x->targets.count; i++)
    if (smma_scales_of(t[i].plan.plan, t[i].instruction).each != scales.each)
      smma_die("--scale-a: scale factors of %s are of other products than those of %s", t[i].label, t->label);
  smma_require(smma_load_shaped(o->scale_a, "--scale-a", r->m, factors, "this product needs", &f->scale_a, &error) &&
                   smma_load_shaped(o->scale_b, "--scale-b", factors, r->n, "this product needs", &f->scale_b, &error),
               &error);
}

/* Reduces the matrices to the product that gives element [i, j]: row i of A times column j of B. */
static void take_element(const smma_trace_request *r, files *f) {
  const size_t i = r->at[0], j = r->at[1];
  take_part(&f->a, i, 1, 0, r->k), take_part(&f->b, 0, r->k, j, 1);
  if (f->c.data) take_part(&f->c, i, 1, j, 1);
  if (f->bias.data) take_part(&f->bias, 0, 1, j, 1);
  if (f->scale_a.data) take_part(&f->scale_a, i, 1, 0, f->scale_a.columns);
  if (f->scale_b.data) take_part(&f->scale_b, 0, f->scale_b.rows, j, 1);
}

/* Takes a matrix that may be missing. */
static void take_given(const smma_tensor *from, smma_format target_format, smma_rounding rounding, smma_label label,
                       const smma_notes *notes, smma_tensor *taken) {
  smma_error error;
  *taken = (smma_tensor){.format = SMMA_NO_FORMAT};
  smma_require(!from->data || smma_take_matrix(from, target_format, rounding, label, notes, taken, &error), &error);
}

static void convert(const trace_options *o, const smma_command_trace_study *x, const files *f,
                    smma_prepared_target *t) {
  const smma_instruction *i = t->instruction;
  const smma_notes *notes = smma_notes_of_target(&x->targets, t);
  const smma_format scale = smma_scales_of(t->plan.plan, i).format;
  const smma_rounding nearest = SMMA_ROUND_NEAREST_EVEN;
  smma_error error;
  if (i->scale_block && o->scale_a) { /* A and B are quantised already, with these scale factors */
    take_given(&f->a, i->a, t->rounding.a, (smma_label){"A", x->path[0]}, notes, &t->a);
    take_given(&f->b, i->b, t->rounding.b, (smma_label){"B", x->path[1]}, notes, &t->b);
  } else {
    smma_require(smma_convert_operands(&x->targets, t, &f->a, &f->b, x->path, &error), &error);
  }
  if (f->scale_a.data) {
    take_given(&f->scale_a, scale, nearest, (smma_label){"--scale-a", o->scale_a}, NULL, &t->scale_a);
    take_given(&f->scale_b, scale, nearest, (smma_label){"--scale-b", o->scale_b}, NULL, &t->scale_b);
    transpose(&t->scale_b); /* the library takes scale factors of B column by column */
  }
  take_given(&f->c, i->c, nearest, (smma_label){"C", o->c}, notes, &t->c);
  take_given(&f->bias, SMMA_F32, nearest, (smma_label){"--bias", o->bias}, notes, &t->bias);
}

static void describe_products(const trace_options *o, smma_command_trace_study *x, files *f) {
  smma_gemm_arguments g;
  smma_gemm_defaults(&g, sizeof g);
  g.alpha = o->alpha, g.beta = o->beta, g.scale_d = o->scale_d, g.threads = o->threads;
  for (size_t i = 0; i < x->targets.count; i++) {
    convert(o, x, f, &x->targets.target[i]);
    smma_describe_target(&x->targets, i, &g);
  }
  for (smma_tensor *t[] = {&f->a, &f->b, &f->c, &f->bias, &f->scale_a, &f->scale_b}, **e = t; e < t + 6; e++)
    smma_tensor_free(*e);
}

/* ---- Which element ---- */

static void parse_at(const char *text, smma_trace_request *r) {
  unsigned long long i, j;
  char end;
  if (sscanf(text, "%llu,%llu%c", &i, &j, &end) != 2 || strchr(text, '-') || strchr(text, '+'))
    smma_die("--at: '%s' is not I,J such as 3,5; without --at, two targets are followed where they differ most", text);
  if (i >= r->m || j >= r->n)
    smma_die("--at: [%llu, %llu] is not in the product, which is %zu x %zu", i, j, r->m, r->n);
  r->at[0] = (size_t)i, r->at[1] = (size_t)j, r->is_chosen = true;
}

/* ---- Results given by --d ---- */

/* Loads a result of --d. Ends the program if D's format does not have all its values: they are not rounded. */
static void load_own(const char *path, smma_format format, smma_command_trace_study *x) {
  const size_t m = x->request.m, n = x->request.n;
  smma_tensor file, numbers, d;
  smma_conversion conversion = {0};
  smma_error error;
  smma_require(smma_load_shaped(path, "--d", m, n, "the product is", &file, &error) &&
                   smma_take_numbers(&file, format, (smma_label){"--d", path}, &smma_notes_printed, &numbers, &error),
               &error);
  smma_replace_tensor(&file, &numbers);
  if (smma_is_raw(&file, format)) {
    take_given(&file, format, SMMA_ROUND_NEAREST_EVEN, (smma_label){"D", path}, NULL, &d);
  } else {
    smma_require(smma_tensor_new(format, m, n, &d, &error), &error);
    smma_convert(file.format, file.data, format, d.data, m * n, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY,
                 &conversion);
    if (conversion.changed)
      smma_die(
          "--d: %s is in %s, and %zu of its values are not numbers of %s, the format of the targets' results (--out, "
          "or a plan's \"d\")",
          path, smma_format_text(file.format), conversion.changed, smma_format_text(format));
  }
  smma_tensor_free(&file);
  x->own[x->request.owns] = d;
  x->request.own[x->request.owns++] = (smma_own_result){path, d.data};
}

static void load_owns(const trace_options *o, smma_format format, smma_command_trace_study *x) {
  static char first[4096];
  const char *comma = strchr(o->own, ',');
  const size_t length = comma ? (size_t)(comma - o->own) : strlen(o->own);
  if (!length || length >= sizeof first || (comma && (!comma[1] || strchr(comma + 1, ','))))
    smma_die("--d: '%s' is not FILE or FILE,FILE", o->own);
  memcpy(first, o->own, length);
  load_own(first, format, x);
  if (comma) load_own(comma + 1, format, x);
}

/* ---- The study ---- */

static void draw(const smma_command_trace_study *x, const char *path) {
  char subtitle[400];
  smma_output output;
  smma_error error;
  snprintf(subtitle, sizeof subtitle, "%.150s times %.150s", x->path[0], x->path[1]);
  smma_require(smma_begin_output(path, "--svg", &output, &error), &error);
  if (!smma_trace_draw(output.stream, &x->result, subtitle)) {
    smma_drop_output(&output);
    smma_die("out of memory");
  }
  if (smma_end_output(&output, "--svg") != SMMA_EXIT_EQUAL) exit(SMMA_EXIT_FAILED);
}

static void prepare(const trace_options *o, const char **paths, smma_command_trace_study *x) {
  files f = {.c = {.data = NULL}};
  smma_format d;
  smma_error error;
  find_targets(o, x);
  d = smma_common_d(x->targets.product, x->targets.count);
  if (!o->at && d == SMMA_NO_FORMAT)
    smma_die("--at I,J is missing: results of the targets are in different formats, which are not compared");
  if (o->own && d == SMMA_NO_FORMAT)
    smma_die("--d: results of the targets are in different formats; give targets with one");
  smma_require(!o->svg || smma_check_writable(o->svg, "--svg", &error), &error);
  load_files(o, paths, x, &f);
  if (o->scale_a) load_scales(o, x, &f);
  smma_require(smma_check_plans(&x->targets, x->request.k, &error), &error);
  if (o->own) load_owns(o, d, x);
  if (o->at) parse_at(o->at, &x->request);
  for (size_t i = 0; o->at && !o->scale_a && i < x->targets.count; i++)
    smma_require(smma_find_factors(&x->targets.target[i], &f.a, &f.b, x->path, &error), &error);
  if (o->at) take_element(&x->request, &f);
  describe_products(o, x, &f);
  x->request.target = x->targets.product, x->request.targets = x->targets.count;
}

static int run(const trace_options *o, const char **paths) {
  static smma_command_trace_study x;
  smma_error error;
  prepare(o, paths, &x);
  if (!smma_trace_run(&x.request, &x.result, &error)) smma_die_of(&error);
  if (o->svg) draw(&x, o->svg);
  if (o->json)
    smma_print_datum(smma_trace_datum(&x.result, (size_t)o->every));
  else
    smma_require(smma_trace_print(&x, &error), &error);
  smma_trace_result_free(&x.result);
  smma_free_targets(&x.targets);
  for (size_t i = 0; i < x.request.owns; i++) smma_tensor_free(&x.own[i]);
  return smma_finish_output(x.result.differ ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}

int smma_command_trace(int argc, const char **argv) {
  trace_options o = defaults;
  const char **paths;
  smma_error error;
  int status;
  struct poptOption options[] = {
      SMMA_LIST_OF_TARGETS(&o.gpus, "the targets"),
      SMMA_CHOICE_OPTIONS(o.choice, " (default: f16)"),
      {"c", 'C', POPT_ARG_STRING, &o.c, 0, "the matrix C (default: zero)", "FILE"},
      {"at", 0, POPT_ARG_STRING, &o.at, 0,
       "the element's row and column, counted from 0 (default: the element that differs most)", "I,J"},
      {"d", 0, POPT_ARG_STRING, &o.own, 0, "one or two results of your own, whose worst element is traced",
       "FILE[,FILE]"},
      {"svg", 0, POPT_ARG_STRING, &o.svg, 0, "also draw the error over k into this file", "FILE"},
      {NULL, 'o', POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, &o.svg, 0, "--svg", NULL},
      {"every", 0, POPT_ARG_LONGLONG, &o.every, 0, "with --json: print every N-th step (default: 1)", "N"},
      {"json", 0, POPT_ARG_NONE, &o.json, 0, "print as JSON", NULL},
      SMMA_OPTION_GROUP("Operands:"),
      SMMA_RAW_OPTION,
      {"transpose-a", 0, POPT_ARG_NONE, &o.transpose_a, 0, "the file of A holds its transpose", NULL},
      {"transpose-b", 0, POPT_ARG_NONE, &o.transpose_b, 0, "the file of B holds its transpose", NULL},
      SMMA_ROUND_IN_OPTION(&o.round_in, "MODE,..."),
      {"scale-a", 0, POPT_ARG_STRING, &o.scale_a, 0,
       "for a block-scaled instruction: its scale factors of A, M x K/block (default: A and B are quantised). For a "
       "plan with scale factors: FP32 factors of A's parts, M x parts of K (default: 1)",
       "FILE"},
      {"scale-b", 0, POPT_ARG_STRING, &o.scale_b, 0,
       "likewise for B: K/block x N for the instruction, parts of K x N for the plan", "FILE"},
      SMMA_OPTION_GROUP("Sums and epilogue:"),
      SMMA_PLANS_OPTION(&o.plans, "targets"),
      {"alpha", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.alpha, 0, "factor of A B", "X"},
      {"beta", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.beta, 0, "factor of C", "X"},
      {"bias", 0, POPT_ARG_STRING, &o.bias, 0, "for a plan's epilogue: a row of N numbers (default: 0)", "FILE"},
      {"scale-d", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.scale_d, 0, "for a plan's epilogue: a factor of D",
       "X"},
      SMMA_OPTION_GROUP("Execution, which does not change the result:"),
      {"threads", 't', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &o.threads, 0,
       "number of threads, 0 for all cores; results do not depend on it", "N"},
      POPT_TABLEEND};
  paths = smma_parse_options(
      argc, argv, options, 2, 2,
      "Prints each target's sum after each instruction of one element of A B, how far that sum is from the\n"
      "exact one, and where the targets diverge. Exit status 1 reports that their results differ.\n"
      "Two plans on one GPU: softmma trace --on H100,H100 --plan none,deepgemm --in e4m3 A.npy B.npy\n",
      &status);
  if (!paths) return status;
  smma_require(smma_is_given(o.gpus, "--on", "V100,H100", &error), &error);
  if (o.every < 0 || (o.every && !o.json)) smma_die("--every: it is a number from 1 that goes with --json");
  smma_require(!o.svg || smma_check_file(o.svg, "--svg", o.json ? "the JSON" : "the text", &error), &error);
  if (o.threads < 0 || o.threads > 1024)
    smma_die("--threads: %d is not a number from 0 (all cores) to 1024", o.threads);
  if (!o.every) o.every = 1;
  return run(&o, paths);
}
