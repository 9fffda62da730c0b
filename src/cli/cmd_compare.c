/* softmma compare: computes one product on several targets, and reports differences and errors, also of results of the
   user's own. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "cli/matrices.h"
#include "cli/output.h"
#include "cli/target.h"
#include "compare/compare.h"
#include "compare/files.h"

/* A comparison: its targets, the matrices of its files, the results of the user's own, and its result. */
typedef struct {
  smma_prepared_targets targets;
  smma_files files;
  const smma_tensor *a, *b; /* of the files */
  smma_format d;            /* format of all results */
  smma_own_files own;
  smma_compare_request request;
  smma_compare_result result;
} comparison;

#define NO_TOLERANCE (-DBL_MAX) /* the value of --rtol and --atol that are not given */

/* ---- Targets ---- */

/* Ends the program unless all results have the same format. A plan may change the format of D. */
static void require_one_format(comparison *x) {
  const smma_prepared_target *first = &x->targets.target[0];
  x->d = smma_plan_d_format(first->plan.plan, first->instruction);
  for (const smma_prepared_target *t = first; t < first + x->targets.count; t++) {
    const smma_format d = smma_plan_d_format(t->plan.plan, t->instruction);
    if (d != x->d && !x->targets.has_plans)
      smma_die("--on: results of %s are in %s, those of %s in %s; give targets with one format of D, or --out",
               first->label, smma_format_text(x->d), t->label, smma_format_text(d));
    if (d != x->d)
      smma_die("--plan: results of %s are in %s with %s and those of %s in %s with %s; give plans with the same D",
               first->label, smma_format_text(x->d), first->plan.text, t->label, smma_format_text(d), t->plan.text);
  }
}

/* ---- Matrices ---- */

static void load_matrices(comparison *x) {
  smma_error error;
  smma_require(smma_files_read(&x->files, &x->targets, &error), &error);
  x->a = &x->files.of[SMMA_OF_A], x->b = &x->files.of[SMMA_OF_B];
}

/* Makes each target's own A and B, and room for its D. */
static void describe_products(comparison *x) {
  smma_gemm_arguments g;
  smma_error error;
  smma_gemm_defaults(&g, sizeof g);
  for (size_t i = 0; i < x->targets.count; i++) {
    smma_prepared_target *t = &x->targets.target[i];
    smma_require(smma_files_convert(&x->files, &x->targets, t, &error) &&
                     smma_tensor_new(x->d, x->a->rows, x->b->columns, &t->d, &error),
                 &error);
    smma_describe_target(&x->targets, i, &g);
  }
}

static void run(comparison *x) {
  smma_compare_request *r = &x->request;
  smma_progress progress;
  smma_error error;
  r->target = x->targets.product, r->targets = x->targets.count;
  r->own = x->own.result, r->owns = x->own.count;
  r->a = (smma_encoded_matrix){x->a->format, x->a->rows, x->a->columns, x->a->data};
  r->b = (smma_encoded_matrix){x->b->format, x->b->rows, x->b->columns, x->b->data};
  r->watch = smma_progress_watch, r->context = &progress;
  smma_progress_start(&progress, "products", (double)x->b->columns * (double)x->a->columns);
  if (!smma_compare_run(r, &x->result, &error)) smma_die_of(&error);
  smma_progress_end();
}

/* ---- The command ---- */

static void load_owns(comparison *x, const char *list) {
  const size_t most = SMMA_MOST_TARGETS - x->targets.count;
  smma_error error;
  smma_require(smma_own_files_read(&x->own, list, most, x->d, x->a->rows, x->b->columns, smma_raw_encodings,
                                   &smma_notes_printed, &error),
               &error);
}

/* Reports whether a file's name is the letter of a matrix, as in "results/D.npy" and "d_h100.npy". */
static bool is_file_of(const char *path, char letter) {
  const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  return tolower((unsigned char)*name) == letter && !isalpha((unsigned char)name[1]);
}

/* Takes --rtol and --atol; one that is not given is 0 beside the other. */
static void take_tolerances(smma_compare_request *r) {
  smma_error error;
  r->has_tolerances = r->rtol != NO_TOLERANCE || r->atol != NO_TOLERANCE;
  if (r->rtol == NO_TOLERANCE) r->rtol = 0;
  if (r->atol == NO_TOLERANCE) r->atol = 0;
  if (!smma_check_tolerances(r, &error)) smma_die_of(&error);
}

/* Random A and B, if no files are given. */
static const smma_random_matrices *random_matrices(const char *shape, const char *data, long long k, long long seed) {
  static smma_random_matrices r;
  smma_error error;
  if (shape && k) smma_die("--k: --shape gives it; leave one out");
  if (k < 0 || k > 1 << 30) smma_die("--k: %lld is not a number from 1 to %d", k, 1 << 30);
  if (!smma_data_from_text(data ? data : "normal", &r.data, &error)) smma_die("--data: %s", error.text);
  r.data.seed = (uint64_t)seed;
  smma_require(smma_read_shape(shape ? shape : "64x64x4096", &r.m, &r.n, &r.k, &error), &error);
  if (k) r.k = (size_t)k;
  return &r;
}

static const char *random_name(char matrix, long long seed, char text[48]) {
  snprintf(text, 48, seed ? "random %c of seed %lld" : "random %c", matrix, seed);
  return text;
}

int smma_command_compare(int argc, const char **argv) {
  static comparison x = {.targets = {.notes = &smma_notes_printed},
                         .request = {.rtol = NO_TOLERANCE, .atol = NO_TOLERANCE}};
  const char *given, *gpus = NULL, *plans = NULL, *roundings = NULL, *own = NULL, *shape = NULL, *data = NULL, **paths;
  static char name[2][48];
  long long k = 0, seed = 0;
  smma_choice choice = {.instr = NULL};
  smma_error error;
  int json = 0, status;
  struct poptOption options[] = {
      SMMA_LIST_OF_TARGETS(&gpus, "the targets"),
      SMMA_CHOICE_OPTIONS(choice, " (default: f16)"),
      SMMA_PLANS_OPTION(&plans, "GPUs"),
      {"d", 0, POPT_ARG_STRING, &own, 0, "results of your own, M x N, to be compared with those of the targets",
       "FILE,..."},
      {"rtol", 0, POPT_ARG_DOUBLE, &x.request.rtol, 0,
       "results are equal within atol + rtol times the first target's, as for "
       "numpy.isclose (default: only if they are the same bits)",
       "R"},
      {"atol", 0, POPT_ARG_DOUBLE, &x.request.atol, 0, "see --rtol", "A"},
      SMMA_RAW_OPTION,
      SMMA_ROUND_IN_OPTION(&roundings, "MODE,..."),
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
      SMMA_OPTION_GROUP("Random data in place of A and B:"),
      {"shape", 0, POPT_ARG_STRING, &shape, 0, "shape of the product (default: 64x64x4096)", "MxNxK"},
      {"k", 'k', POPT_ARG_LONGLONG, &k, 0, "K of a product 64 x 64 x K, instead of --shape", "K"},
      {"data", 0, POPT_ARG_STRING, &data, 0, "kind of data, as 'softmma tolerance --help' lists them (default: normal)",
       "KIND[=AMOUNT]"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random data", "S"},
      POPT_TABLEEND};
  paths = smma_parse_options(
      argc, argv, options, 0, 3,
      "Without --instr, each GPU computes with its preferred instruction for the format. C and a plan's\n"
      "bias are 0, and the scale factors of a plan's parts are 1. Exit status 1: results differ. Any two\n"
      "NaN are equal ('softmma test' compares the bits of NaN). A third matrix D is a result of your own;\n"
      "'softmma trace TARGET A B --d D' follows the element in which it differs most. Without files, A and\n"
      "B are random numbers in FP32, the same on every machine.\n",
      &status);
  if (!paths) return status;
  take_tolerances(&x.request);
  if (paths[0] && !paths[1]) smma_die("two files are needed, A and B; or none, for random data");
  if (paths[0] && (given = smma_given_option("shape data k seed")))
    smma_die("--%s: the files give it; leave it out", given);
  if (!paths[0] && own) smma_die("--d: a result of your own needs the files A and B of which it is the product");
  if (!paths[0] && smma_raw_encodings) smma_die("--raw: it is for files; leave it out");
  if (paths[2] && own) smma_die("unexpected argument '%s'; give all results to --d, separated by commas", paths[2]);
  if (paths[2]) own = paths[2];
  if (paths[2] && is_file_of(paths[0], 'd') && is_file_of(paths[2], 'b'))
    smma_die("the order of the files is A B D, not D A B; a result that is not the last file is --d %s", paths[0]);
  smma_require(smma_is_given(gpus, "--on", "V100,A100,H100", &error), &error);
  if (paths[2] && is_file_of(paths[2], 'c'))
    smma_die("%s: compare adds no C; a result of your own of this name is --d %s", paths[2], paths[2]);
  x.files = (smma_files){.path = {[SMMA_OF_A] = paths[0] ? paths[0] : random_name('A', seed, name[0]),
                                  [SMMA_OF_B] = paths[0] ? paths[1] : random_name('B', seed, name[1])},
                         .random = paths[0] ? NULL : random_matrices(shape, data, k, seed),
                         .raw = smma_raw_encodings,
                         .hint = SMMA_NO_TRANSPOSE};
  smma_add_targets_of_files(&x.targets, gpus, SMMA_MOST_TARGETS, &choice, &x.files);
  smma_end_of_checks();
  smma_require(smma_label_by_gpu(&x.targets, &error) && smma_plan_targets(&x.targets, plans, roundings, &error),
               &error);
  require_one_format(&x);
  if (x.targets.count < 2 && !own)
    smma_die(
        "--on: one target has nothing to be compared with; for example --on V100,A100,H100, or --d D.npy, a result of "
        "your own");
  smma_require(smma_refuse_same_targets(&x.targets, &error), &error);
  load_matrices(&x);
  if (own) load_owns(&x, own);
  if (paths[2]) smma_note("%s is a result of your own, to be compared; no C is added to the products", paths[2]);
  smma_require(smma_check_plans(&x.targets, x.a->columns, &error), &error);
  describe_products(&x);
  run(&x);
  const char *const names[2] = {x.files.path[SMMA_OF_A], x.files.path[SMMA_OF_B]};
  if (json)
    smma_print_datum(smma_compare_datum(&x.result));
  else
    smma_print_comparison(stdout, &x.result, names);
  smma_free_targets(&x.targets);
  smma_own_files_free(&x.own);
  smma_files_free(&x.files);
  return smma_finish_output(x.result.same ? SMMA_EXIT_EQUAL : SMMA_EXIT_DIFFERENT);
}
