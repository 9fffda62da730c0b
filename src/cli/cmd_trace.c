/* softmma trace: follows one element of a product, and shows where targets diverge. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/matrices.h"
#include "cli/output.h"
#include "cli/target.h"
#include "compare/files.h"
#include "host/utf8.h"
#include "trace/table.h"

typedef struct {
  smma_prepared_targets targets;
  const char *path[2];
  smma_own_files own;
  smma_trace_request request;
  smma_trace_result result;
} trace_study;

typedef struct {
  smma_choice choice;
  const char *gpus, *plans, *round_in, *c, *bias, *scale_a, *scale_b, *at, *own, *svg;
  double alpha, beta, scale_d;
  long long every;
  int transpose_a, transpose_b, json, worst;
} trace_options;

static const trace_options defaults = {.alpha = 1, .beta = 1, .scale_d = 1};

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

static void find_targets(const trace_options *o, trace_study *x, smma_files *f) {
  smma_prepared_targets *t = &x->targets;
  smma_error error;
  t->notes = &smma_notes_printed;
  smma_add_targets_of_files(t, o->gpus, SMMA_MOST_TRACED, &o->choice, f);
  smma_end_of_checks();
  smma_require(smma_plan_targets(t, o->plans, o->round_in, &error) && smma_refuse_same_targets(t, &error), &error);
  check_places(o, t);
  x->request.names_rounding = o->round_in && strchr(o->round_in, ',');
}

/* ---- Operands ---- */

/* Reads the matrices of the files. Ends the program if an option gives one that the product cannot take. */
static void load_files(trace_study *x, smma_files *f) {
  smma_trace_request *r = &x->request;
  smma_error error;
  smma_require(smma_files_read(f, &x->targets, &error), &error);
  r->m = f->of[SMMA_OF_A].rows, r->k = f->of[SMMA_OF_A].columns, r->n = f->of[SMMA_OF_B].columns;
  if (!r->m || !r->n) smma_die("%s times %s has no elements: it is %zu x %zu", x->path[0], x->path[1], r->m, r->n);
  smma_require(smma_files_read_others(f, &x->targets, &error), &error);
}

static void describe_products(const trace_options *o, trace_study *x, smma_files *f) {
  smma_gemm_arguments g;
  smma_error error;
  smma_gemm_defaults(&g, sizeof g);
  g.alpha = o->alpha, g.beta = o->beta, g.scale_d = o->scale_d;
  for (size_t i = 0; i < x->targets.count; i++) {
    smma_require(smma_files_convert(f, &x->targets, &x->targets.target[i], &error), &error);
    smma_describe_target(&x->targets, i, &g);
  }
  smma_files_free(f);
}

/* ---- Which element ---- */

static void parse_at(const char *text, smma_trace_request *r) {
  unsigned long long i, j;
  char end;
  if (sscanf(text, "%llu,%llu%c", &i, &j, &end) != 2 || strchr(text, '-') || strchr(text, '+'))
    smma_die("--at: '%s' is not I,J such as 3,5; --worst finds the element with the largest error", text);
  if (i >= r->m || j >= r->n)
    smma_die("--at: [%llu, %llu] is not in the product, which is %zu x %zu", i, j, r->m, r->n);
  r->at[0] = (size_t)i, r->at[1] = (size_t)j, r->is_chosen = true;
}

/* ---- Results given by --d ---- */

static void load_owns(const trace_options *o, smma_format format, trace_study *x) {
  smma_trace_request *r = &x->request;
  smma_error error;
  smma_require(smma_own_files_read(&x->own, o->own, SMMA_MOST_OWN, format, r->m, r->n, smma_raw_encodings,
                                   &smma_notes_printed, &error),
               &error);
  r->owns = x->own.count;
  memcpy(r->own, x->own.result, r->owns * sizeof *r->own);
}

/* ---- The study ---- */

static bool write_picture(FILE *stream, const void *content, smma_error *error) {
  const trace_study *x = content;
  char subtitle[400];
  char path[2][160];
  for (int i = 0; i < 2; i++) {
    snprintf(path[i], sizeof path[i], "%s", x->path[i]);
    smma_utf8_trim(path[i]);
  }
  snprintf(subtitle, sizeof subtitle, "%s times %s", path[0], path[1]);
  return smma_trace_draw(stream, &x->result, subtitle) || smma_no_memory(error);
}

static void prepare(const trace_options *o, const char **paths, trace_study *x) {
  smma_files f = {.path = {[SMMA_OF_A] = paths[0],
                           [SMMA_OF_B] = paths[1],
                           [SMMA_OF_C] = o->c,
                           [SMMA_OF_BIAS] = o->bias,
                           [SMMA_OF_SCALE_A] = o->scale_a,
                           [SMMA_OF_SCALE_B] = o->scale_b},
                  .raw = smma_raw_encodings,
                  .transpose_a = o->transpose_a,
                  .transpose_b = o->transpose_b,
                  .hint = " (--transpose-a, --transpose-b)"};
  smma_format d;
  smma_error error;
  x->path[0] = paths[0], x->path[1] = paths[1];
  find_targets(o, x, &f);
  d = smma_common_d(x->targets.product, x->targets.count);
  if (!o->at && d == SMMA_NO_FORMAT)
    smma_die("--at I,J is missing: results of the targets are in different formats, which are not compared");
  if (o->own && d == SMMA_NO_FORMAT)
    smma_die("--d: results of the targets are in different formats; give targets with one");
  smma_require(!o->svg || smma_check_writable(o->svg, "--svg", &error), &error);
  load_files(x, &f);
  smma_require(smma_check_plans(&x->targets, x->request.k, &error), &error);
  if (o->own) load_owns(o, d, x);
  x->request.finds_error = o->worst;
  if (o->at) parse_at(o->at, &x->request);
  for (size_t i = 0; o->at && !o->scale_a && i < x->targets.count; i++)
    smma_require(smma_find_factors(&x->targets.target[i], &f.of[SMMA_OF_A], &f.of[SMMA_OF_B], x->path, &error), &error);
  smma_require(!o->at || smma_files_keep_element(&f, x->request.at[0], x->request.at[1], &error), &error);
  describe_products(o, x, &f);
  x->request.target = x->targets.product, x->request.targets = x->targets.count;
}

static int run(const trace_options *o, const char **paths) {
  static trace_study x;
  smma_progress progress;
  smma_error error;
  prepare(o, paths, &x);
  x.request.watch = smma_progress_watch, x.request.context = &progress;
  smma_progress_start(&progress, "products", (double)x.request.n * (double)x.request.k);
  if (!smma_trace_run(&x.request, &x.result, &error)) smma_die_of(&error);
  smma_progress_end();
  if (o->svg && smma_write_output(o->svg, "--svg", write_picture, &x) != SMMA_EXIT_EQUAL) return SMMA_EXIT_FAILED;
  if (o->json)
    smma_print_datum(smma_trace_datum(&x.result, (size_t)o->every));
  else if (!smma_print_trace(stdout, &x.result, x.path, smma_terminal_width()))
    smma_die("out of memory");
  smma_trace_result_free(&x.result);
  smma_free_targets(&x.targets);
  smma_own_files_free(&x.own);
  return smma_finish_output(x.result.differ ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}

int smma_command_trace(int argc, const char **argv) {
  trace_options o = defaults;
  const char **paths, *row = NULL, *column = NULL;
  char at[64];
  smma_error error;
  int status;
  struct poptOption options[] = {
      SMMA_LIST_OF_TARGETS(&o.gpus, "the targets"),
      SMMA_CHOICE_OPTIONS(o.choice, " (default: f16)"),
      {"c", 'C', POPT_ARG_STRING, &o.c, 0, "the matrix C (default: zero)", "FILE"},
      {"at", 0, POPT_ARG_STRING, &o.at, 0,
       "the element's row and column, counted from 0 (default: the element that differs most)", "I,J"},
      {"row", 'i', POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, &row, 0, "I of --at", "I"},
      {"col", 'j', POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, &column, 0, "J of --at", "J"},
      {"worst", 0, POPT_ARG_NONE, &o.worst, 0,
       "trace the element with the largest error against the exact product; with several targets or --d, the element "
       "that differs most",
       NULL},
      {"d", 0, POPT_ARG_STRING, &o.own, 0, "one or two results of your own, whose worst element is traced",
       "FILE[,FILE]"},
      {"svg", 0, POPT_ARG_STRING, &o.svg, 0, "also draw the error over k into this file", "FILE"},
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
      POPT_TABLEEND};
  paths = smma_parse_options(
      argc, argv, options, 2, 3,
      "Prints each target's sum after each instruction of one element of A B, how far that sum is from the\n"
      "exact one, and where the targets diverge. Exit status 1 reports that their results differ.\n"
      "Two plans on one GPU: softmma trace --on H100,H100 --plan none,deepgemm --in e4m3 A.npy B.npy\n",
      &status);
  if (!paths) return status;
  if (paths[2] && (o.at || row || column || !isdigit((unsigned char)*paths[2]) || access(paths[2], F_OK) == 0))
    smma_die("unexpected argument '%s'; C is -C FILE, a result of your own --d FILE, and the element --at I,J",
             paths[2]);
  if (paths[2]) o.at = paths[2];
  if (!row != !column || (row && o.at)) smma_die("--row and --col name the element together, without --at");
  if (row) snprintf(at, sizeof at, "%s,%s", row, column), o.at = at;
  smma_require(smma_is_given(o.gpus, "--on", "V100,H100", &error), &error);
  if (o.every < 0 || (o.every && !o.json)) smma_die("--every: it is a number from 1 that goes with --json");
  smma_require(!o.svg || smma_check_file(o.svg, "--svg", o.json ? "the JSON" : "the text", &error), &error);
  if (!o.every) o.every = 1;
  if (o.at && strcmp(o.at, "worst") == 0) o.worst = 1, o.at = NULL;
  if (o.worst && o.at) smma_die("--worst: --at names the element; leave one out");
  return run(&o, paths);
}
