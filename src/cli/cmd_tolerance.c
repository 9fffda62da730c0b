/* softmma tolerance: measures and bounds the error of a product, and derives rtol and atol. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/matrices.h"
#include "cli/output.h"
#include "cli/sweep.h"
#include "cli/target.h"
#include "compare/files.h"
#include "matrix/stored.h"

typedef struct {
  smma_choice choice;
  const char *gpus, *shape, *data, *c, *store, *plans, *round_in, *sweep, *plot;
  double alpha, beta, margin;
  long long k, seed, split_k, promote_every;
  int with_c, json, paste;
} tolerance_options;

/* ---- Targets ---- */

/* Adds every architecture that has the formats. */
static void add_all(const tolerance_options *o, smma_prepared_targets *x) {
  const char *in = o->choice.in ? o->choice.in : "f16";
  smma_formats formats;
  smma_error error;
  size_t count;
  smma_require(smma_formats_of_options(in, "--in", o->choice.out, &formats, &error), &error);
  count = smma_find_targets(&formats, x->product);
  for (size_t i = 0; i < count; i++)
    smma_require(smma_add_target(x, x->product[i].label, x->product[i].instruction, &error), &error);
  if (!count) smma_die("--in: no GPU has %s with results in %s", in, smma_format_text(formats.d));
}

/* Adds the targets of a sweep over formats: every format of the sweep that a GPU of --on has. */
static void add_formats(const tolerance_options *o, const smma_sweep *sweep, smma_prepared_targets *x) {
  const char *list = o->gpus;
  char text[SMMA_TARGET_SIZE];
  smma_error error;
  if (!list)
    smma_die("--sweep: a sweep over formats needs the names of GPUs; for example softmma tolerance H100 MI300X");
  while (*list) {
    const size_t before = x->count;
    smma_formats formats;
    smma_target target;
    smma_require((list = smma_next_target(list, text, &error)) && smma_read_target(text, &target, &error), &error);
    if (target.custom || target.more)
      smma_die("--on: %s has a format of its own; a sweep over formats needs the name of a GPU alone", text);
    for (size_t v = 0; v < sweep->values; v++) {
      smma_require(smma_formats_of_options(sweep->value[v], "--sweep", o->choice.out, &formats, &error), &error);
      const smma_instruction *i = smma_resolve_formats(target.gpu, &formats, NULL);
      if (i && x->count == SMMA_MOST_TARGETS)
        smma_die("--sweep: more than %d formats of GPUs; name fewer GPUs or formats", SMMA_MOST_TARGETS);
      smma_require(!i || smma_add_target(x, target.gpu, i, &error), &error);
    }
    if (x->count > before) continue;
    smma_require(smma_formats_of_options(sweep->value[0], "--sweep", o->choice.out, &formats, &error) &&
                     smma_by_formats(target.gpu, &formats, "--sweep", &error),
                 &error);
  }
}

/* Ends the program if an option gives an operand or factor that a target's plan cannot use. */
static void check_places(const tolerance_options *o, const smma_prepared_targets *x) {
  smma_gemm_arguments g;
  smma_error error;
  smma_gemm_defaults(&g, sizeof g);
  g.c = o->c || o->with_c ? o : NULL, g.alpha = o->alpha, g.beta = o->beta;
  g.split_k = (size_t)o->split_k, g.promote_every = (size_t)o->promote_every;
  smma_require(smma_check_places(x, &g, o->with_c ? "--with-c" : "-C", &error), &error);
}

/* Finds the targets. `files` are those of A and B, or NULL. */
static void find_targets(const tolerance_options *o, const smma_sweep *sweep, smma_prepared_targets *x,
                         smma_files *files) {
  const bool formats = sweep && sweep->kind == SMMA_SWEEP_FORMAT;
  smma_error error;
  if (formats && (o->choice.in || o->choice.instr))
    smma_die("%s: --sweep gives it; leave it out", o->choice.in ? "--in" : "--instr");
  if (o->choice.instr && !o->gpus) smma_die("--on GPU is missing; for example --on H100");
  if (sweep && smma_sweep_is_accurate(sweep) && !o->gpus)
    smma_die("--on: name a target; for example H100:%s", sweep->kind == SMMA_SWEEP_SLICES ? "s8" : "bf16");
  if (formats) {
    add_formats(o, sweep, x);
  } else if (!o->gpus) {
    add_all(o, x);
  } else if (files) {
    smma_add_targets_of_files(x, o->gpus, SMMA_MOST_TARGETS, &o->choice, files);
    smma_end_of_checks();
  } else {
    smma_require(smma_add_targets(x, o->gpus, SMMA_MOST_TARGETS, &o->choice, &error), &error);
  }
  smma_require((!o->gpus || smma_label_by_gpu(x, &error)) && smma_plan_targets(x, o->plans, o->round_in, &error),
               &error);
  check_places(o, x);
}

/* ---- Operands ---- */

/* Reads the numbers of the files, not their stored forms, so that every target rounds or quantises them. */
static void take_files(const tolerance_options *o, smma_files *f, smma_prepared_targets *x) {
  smma_tensor *a = &f->of[SMMA_OF_A], *b = &f->of[SMMA_OF_B], *c = &f->of[SMMA_OF_C];
  smma_error error;
  smma_require(smma_files_read(f, x, &error) && (!o->c || smma_load_matrix(o->c, c, &error)), &error);
  if (c->data && (c->rows != a->rows || c->columns != b->columns))
    smma_die("%s is %zu x %zu, but the product is %zu x %zu", o->c, c->rows, c->columns, a->rows, b->columns);
  if (!a->rows || !b->columns || !a->columns)
    smma_die("%s times %s is empty; there is nothing to measure", f->path[SMMA_OF_A], f->path[SMMA_OF_B]);
  smma_stored_free(a->stored), smma_stored_free(b->stored);
  a->stored = b->stored = NULL;
  for (size_t i = 0; i < x->count; i++) smma_require(smma_files_convert(f, x, &x->target[i], &error), &error);
  smma_files_free(f);
}

/* Ends the program with one line if files and options for random data are mixed, or a file is missing. */
static void check_operands(const tolerance_options *o, const char **paths) {
  const char *given;
  smma_error error;
  if (paths[0] && (given = smma_given_option("shape k data seed with-c")))
    smma_die("--%s: the files give it; leave it out", given);
  if (o->shape && o->k) smma_die("--k: --shape gives it; leave one out");
  if (paths[0] && !paths[1] && access(paths[0], F_OK) != 0)
    smma_require(smma_arch_of_option(paths[0], "--on", &error) != SMMA_ARCH_COUNT, &error);
  if (paths[0] && !paths[1]) smma_die("two files are needed, A and B; or --shape and --data");
  if (!paths[0] && o->round_in)
    smma_die("--round-in: it is for files; generated data are numbers of the unit's formats; leave it out");
  if (!paths[0] && o->c) smma_die("-C: it is for files; --with-c gives random data a C");
}

/* Takes the matrices of the files, or without them (NULL) what describes random data. */
static void take_operands(const tolerance_options *o, smma_files *files, smma_prepared_targets *x,
                          smma_tolerance_request *r) {
  smma_error error;
  r->with_c = o->with_c;
  if (files) {
    r->a = files->path[SMMA_OF_A], r->b = files->path[SMMA_OF_B];
    take_files(o, files, x);
  } else {
    if (!smma_data_from_text(o->data ? o->data : "normal", &r->data, &error)) smma_die("--data: %s", error.text);
    r->data.seed = (uint64_t)o->seed;
    smma_require(smma_read_shape(o->shape ? o->shape : "64x64x4096", &r->m, &r->n, &r->k, &error), &error);
    if (o->k) r->k = (size_t)o->k;
  }
}

static void describe_products(const tolerance_options *o, smma_prepared_targets *x) {
  smma_gemm_arguments g;
  smma_gemm_defaults(&g, sizeof g);
  g.alpha = o->alpha, g.beta = o->beta;
  for (size_t i = 0; i < x->count; i++) {
    const bool plan = x->target[i].plan.plan;
    g.split_k = plan ? 0 : (size_t)o->split_k, g.promote_every = plan ? 0 : (size_t)o->promote_every;
    smma_describe_target(x, i, &g);
  }
}

/* ---- The study ---- */

/* Takes FP64 matrices for an accurate product. */
static void take_doubles(const tolerance_options *o, const char **paths, smma_tensor matrix[2], smma_sweep_request *r) {
  smma_error error;
  if (o->c) smma_die("-C: accurate products compute A B alone; leave it out");
  for (int which = 0; which < 2; which++) {
    const smma_label label = {which ? "B" : "A", paths[which]};
    smma_tensor given;
    smma_require(smma_load_matrix(paths[which], &given, &error) &&
                     smma_check_meaning(&given, SMMA_F64, label, &error) &&
                     smma_take_matrix(&given, SMMA_F64, SMMA_ROUND_NEAREST_EVEN, label, NULL, &matrix[which], &error),
                 &error);
    smma_tensor_free(&given);
  }
  smma_require(smma_check_inner(&matrix[0], &matrix[1], paths, "", "", SMMA_NO_TRANSPOSE, &error), &error);
  r->of.m = matrix[0].rows, r->of.k = matrix[0].columns, r->of.n = matrix[1].columns;
  r->of.a = paths[0], r->of.b = paths[1];
  r->a = matrix[0].data, r->b = matrix[1].data;
}

/* Describes the files of A, B and C. Returns NULL if A and B are not given. */
static smma_files *describe_files(const tolerance_options *o, const char **paths) {
  static smma_files files;
  if (!paths[0]) return NULL;
  files = (smma_files){.path = {[SMMA_OF_A] = paths[0], [SMMA_OF_B] = paths[1], [SMMA_OF_C] = o->c},
                       .raw = smma_raw_encodings,
                       .hint = SMMA_NO_TRANSPOSE};
  return &files;
}

/* Finds the targets and the format of results. `sweep` and `files` may be NULL. */
static void prepare(const tolerance_options *o, const smma_sweep *sweep, smma_prepared_targets *x, smma_files *files,
                    smma_tolerance_request *r) {
  smma_error error;
  find_targets(o, sweep, x, files);
  *r = (smma_tolerance_request){.target = x->product, .targets = x->count, .margin = o->margin};
  r->stored = o->store ? smma_format_of_option(o->store, "--store", &error) : SMMA_NO_FORMAT;
  smma_require(!o->store || r->stored != SMMA_NO_FORMAT, &error);
  r->watch = smma_progress_watch;
}

static int run_sweep(const tolerance_options *o, const char **paths) {
  static smma_prepared_targets x = {.notes = &smma_notes_printed};
  static smma_sweep_request r;
  smma_progress progress;
  smma_sweep_result result;
  smma_tensor matrix[2] = {{.format = SMMA_NO_FORMAT}, {.format = SMMA_NO_FORMAT}};
  smma_files *files;
  smma_error error;
  bool is_accurate;
  int status = SMMA_EXIT_EQUAL;
  if (o->paste) smma_die("--paste: a sweep gives no rtol and atol; leave it out");
  if (!smma_sweep_parse(o->sweep, &r.sweep, &error)) smma_die_of(&error);
  if (r.sweep.kind == SMMA_SWEEP_K && o->k) smma_die("--k: --sweep gives it; leave it out");
  if (r.sweep.kind == SMMA_SWEEP_DATA && smma_given_option("data"))
    smma_die("--data: the sweep gives it; leave it out");
  check_operands(o, paths);
  is_accurate = smma_sweep_is_accurate(&r.sweep) && paths[0];
  files = is_accurate ? NULL : describe_files(o, paths);
  prepare(o, &r.sweep, &x, files, &r.of);
  if (is_accurate)
    take_doubles(o, paths, matrix, &r);
  else
    take_operands(o, files, &x, &r.of);
  describe_products(o, &x);
  smma_require(!o->plot || smma_check_picture(o->plot, &error), &error);
  smma_progress_start(&progress, NULL, 1);
  r.of.context = &progress;
  if (!smma_sweep_run(&r, &result, &error)) smma_die_of(&error);
  smma_progress_end();
  if (o->plot) status = smma_sweep_draw(&result, o->plot);
  if (o->json)
    smma_print_datum(smma_sweep_datum(&result));
  else
    smma_print_sweep(stdout, &result);
  smma_sweep_free(&result);
  for (int which = 0; which < 2; which++) smma_tensor_free(&matrix[which]);
  smma_free_targets(&x);
  return smma_finish_output(status);
}

static void print_paste(const smma_tolerance_result *x) {
  char *text = smma_tolerance_paste(x);
  if (!x->is_measured) smma_die("--paste: no rtol and atol accept all results; leave it out to see why");
  if (!text) smma_die("out of memory");
  fputs(text, stdout);
  free(text);
}

static int run(const tolerance_options *o, const char **paths) {
  static smma_prepared_targets x = {.notes = &smma_notes_printed};
  smma_progress progress;
  smma_tolerance_request request;
  smma_tolerance_result result;
  smma_error error;
  if (o->plot) smma_die("--plot: it draws a sweep; for example --sweep k=64..16384 --plot %s", o->plot);
  check_operands(o, paths);
  if (o->paste && o->json) smma_die("--paste: %s prints data; leave one out", smma_prints_csv ? "--csv" : "--json");
  smma_files *files = describe_files(o, paths);
  prepare(o, NULL, &x, files, &request);
  take_operands(o, files, &x, &request);
  describe_products(o, &x);
  smma_progress_start(&progress, NULL, 1);
  request.context = &progress;
  if (!smma_tolerance_run(&request, &result, &error)) smma_die_of(&error);
  smma_progress_end();
  if (o->json)
    smma_print_datum(smma_tolerance_datum(&result));
  else if (o->paste)
    print_paste(&result);
  else if (!smma_print_tolerance(stdout, &result))
    smma_die("out of memory");
  smma_free_targets(&x);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* Returns what --help prints after the options. */
static const char *details(char *text, size_t size) {
  size_t used = (size_t)snprintf(
      text, size,
      "Prints how far each GPU's product is from the exact product of A and B, as rounded to its formats:\n"
      "measured, and as a proved bound. Then prints the rtol and atol that accept all of them, and which\n"
      "wrong results these reject. A and B are files (.npy or FILE.safetensors[:TENSOR]) or random data:\n");
  for (int kind = 0; kind < SMMA_DATA_KINDS; kind++)
    used += (size_t)snprintf(text + used, size - used, "  %-11s %s\n", smma_data_infos[kind].name,
                             smma_data_infos[kind].what);
  return text;
}

int smma_command_tolerance(int argc, const char **argv) {
  tolerance_options o = {.alpha = 1, .beta = 1, .margin = 2, .split_k = 1};
  char text[4096];
  const char **paths;
  int status;
  struct poptOption options[] = {
      SMMA_LIST_OF_TARGETS(&o.gpus,
                           "the targets (default: one GPU of each architecture that has the formats and error bounds)"),
      SMMA_CHOICE_OPTIONS(o.choice, " (default: f16)"),
      {"store", 0, POPT_ARG_STRING, &o.store, 0,
       "format that the kernel rounds its results to in the end (default: the format of --out)", "FORMAT"},
      {"margin", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.margin, 0,
       "accept this many times the measured error", "X"},
      {"paste", 0, POPT_ARG_NONE, &o.paste, 0, "print only the lines for a kernel's test", NULL},
      {"json", 0, POPT_ARG_NONE, &o.json, 0, "print as JSON", NULL},
      SMMA_OPTION_GROUP("A sweep instead of one product:"),
      {"sweep", 0, POPT_ARG_STRING, &o.sweep, 0,
       "print the errors over k, format, data, split_k, promote_every, a parameter of the rules such as "
       "alignment_bits, or slices, words or markidis (accurate products of FP64 matrices); A..B is a range",
       "NAME=VALUE,..."},
      {"plot", 0, POPT_ARG_STRING, &o.plot, 0, "draw the sweep as this .svg or .png (by gnuplot)", "FILE"},
      SMMA_OPTION_GROUP("Operands:"),
      {"shape", 0, POPT_ARG_STRING, &o.shape, 0, "shape of a product of random data (default: 64x64x4096)", "MxNxK"},
      {"k", 'k', POPT_ARG_LONGLONG, &o.k, 0, "K of a product 64 x 64 x K of random data, instead of --shape", "K"},
      {"data", 0, POPT_ARG_STRING, &o.data, 0, "kind of random data, from the list below (default: normal)",
       "KIND[=AMOUNT]"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &o.seed, 0, "seed of the random data", "S"},
      {"with-c", 0, POPT_ARG_NONE, &o.with_c, 0, "random data include a C from N(0, 1)", NULL},
      SMMA_RAW_OPTION,
      SMMA_ROUND_IN_OPTION(&o.round_in, "MODE,..."),
      {"c", 'C', POPT_ARG_STRING, &o.c, 0, "the matrix C (default: zero)", "FILE"},
      SMMA_OPTION_GROUP("Sums and epilogue:"),
      {"alpha", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.alpha, 0, "factor of A B", "X"},
      {"beta", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &o.beta, 0, "factor of C", "X"},
      {"split-k", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &o.split_k, 0,
       "divide K into N slices, and add their results in FP32", "N"},
      {"promote-every", 0, POPT_ARG_LONGLONG, &o.promote_every, 0,
       "move partial sums to an FP32 accumulator every N of K (default: never)", "N"},
      SMMA_PLANS_OPTION(&o.plans, "GPUs"),
      POPT_TABLEEND};
  paths = smma_parse_options(argc, argv, options, 0, 2, details(text, sizeof text), &status);
  if (!paths) return status;
  if (o.split_k < 1) smma_die("--split-k: %lld is not a number of slices; the least is 1", o.split_k);
  if (o.k < 0 || o.k > 1 << 30) smma_die("--k: %lld is not a number from 1 to %d", o.k, 1 << 30);
  if (o.promote_every < 0) smma_die("--promote-every: %lld is negative", o.promote_every);
  if (!(o.margin >= 1 && o.margin <= 1000)) smma_die("--margin: %g is not a number from 1 to 1000", o.margin);
  if (!isfinite(o.alpha) || !isfinite(o.beta)) smma_die("--alpha, --beta: they are finite numbers");
  return o.sweep ? run_sweep(&o, paths) : run(&o, paths);
}
