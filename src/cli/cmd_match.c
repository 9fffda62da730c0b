/* softmma match: finds the targets and plans that return exactly the bits of a given product. */
#include <stdlib.h>
#include <string.h>

#include "cli/matrices.h"
#include "cli/output.h"
#include "cli/target.h"
#include "cluster/ranks.h"
#include "match/study.h"

typedef struct {
  char formats[SMMA_TARGET_SIZE]; /* the formats in the words of --on, for example "f16" in "H100:f16" */
  const char *gpus, *instruction, *in, *out, *claim, *plan;
  const char *path[SMMA_PRODUCT_MATRICES]; /* files, or NULL */
  int transpose_a, transpose_b, json;
  smma_match_request request;
} match_options;

/* ---- Targets ---- */

typedef struct {
  smma_match_target *target;
  size_t count;
} target_list;

/* Adds a target. Formats after its colon are those of the search. */
static void add_target(target_list *list, const char *text, match_options *o) {
  const smma_choice none = {.instr = NULL};
  const smma_instruction *only = NULL;
  smma_target target;
  smma_formats formats;
  smma_error error;
  smma_require(smma_read_target(text, &target, &error), &error);
  smma_match_target *more = realloc(list->target, (list->count + 1) * sizeof *more);
  if (!more) smma_die("out of memory");
  list->target = more;
  if (target.more && smma_formats_from_text(target.more, SMMA_NO_FORMAT, &formats, NULL) == SMMA_OK) {
    if (!o->in) o->in = strcpy(o->formats, target.more);
    if (strcmp(target.more, o->in) != 0)
      smma_die("--on: %s: a search is for the formats %s; search for those of this target apart", text, o->in);
  } else {
    smma_require(smma_chosen(&target, &none, &only, &error), &error);
  }
  list->target[list->count] = (smma_match_target){.only = only};
  snprintf(list->target[list->count++].gpu, sizeof list->target->gpu, "%s", target.gpu);
}

/* Returns the targets of --on. An empty list stands for all GPUs. */
static target_list require_targets(match_options *o) {
  const char *list = o->gpus;
  static target_list targets; /* static, so that the list is still reachable if an error ends the program */
  char text[SMMA_TARGET_SIZE];
  smma_error error;
  if (!list || strcmp(list, "all") == 0) return targets;
  do {
    list = smma_next_target(list, text, &error);
    smma_require(list, &error);
    add_target(&targets, text, o);
  } while (*list);
  return targets;
}

/* ---- The search ---- */

static void show_progress(size_t done, size_t all, void *context) { smma_progress_show(context, done, all); }

static int run_search(const match_options *o, const target_list *targets, smma_match_study *x) {
  const smma_group group = smma_ranks_group();
  const double start = smma_seconds();
  double seconds;
  smma_error error;
  smma_progress_start(o->request.context, NULL, 1);
  smma_require(smma_match_run(x, targets->target, targets->count, &group, &error), &error);
  smma_progress_end();
  if (smma_rank()) return SMMA_EXIT_EQUAL;
  seconds = smma_seconds() - start;
  if (o->json)
    smma_print_datum(smma_match_datum(x, seconds));
  else
    smma_print_match(stdout, x, seconds);
  if (x->found.fits && o->plan && smma_write_plan(o->plan, x->found.fit[0].plan) != SMMA_EXIT_EQUAL)
    return SMMA_EXIT_FAILED;
  return smma_finish_output(x->found.fits ? SMMA_EXIT_EQUAL : SMMA_EXIT_DIFFERENT);
}

/* ---- A claim ---- */

/* Returns the instruction that a claim names itself: "GPU:FORMAT" or "GPU:INSTRUCTION", in --on or without --on, or
   --on and --instr. Returns NULL if it names only a GPU. */
static const smma_instruction *claimed_instruction(const match_options *o) {
  const smma_choice choice = {.instr = o->instruction};
  const smma_instruction *i = NULL;
  smma_target target;
  smma_error error;
  if (!o->gpus && !smma_names_target(o->claim))
    smma_die("--claim: '%s' is no GPU; if it is a plan, --on is missing, for example --on H100", o->claim);
  smma_require(
      smma_read_target(o->gpus ? o->gpus : o->claim, &target, &error) && smma_chosen(&target, &choice, &i, &error),
      &error);
  return i;
}

/* Returns the instruction of a claim that names only a GPU: its preferred one for the formats of the matrices. */
static const smma_instruction *instruction_of_gpu(const match_options *o, const smma_match_study *x) {
  const char *option = o->gpus ? "--on" : "--claim";
  smma_formats formats = {x->data.a_format, x->data.b_format, smma_usual_output(x->data.a_format), SMMA_NO_FORMAT, 0};
  const smma_instruction *i = NULL;
  smma_target target;
  smma_error error;
  smma_require(smma_read_target(o->gpus ? o->gpus : o->claim, &target, &error) &&
                   (i = smma_by_formats(target.gpu, &formats, option, &error)),
               &error);
  return i;
}

static int run_claim(const match_options *o, smma_match_study *x) {
  smma_match_claim claim = {.text = o->claim, .instruction = o->request.claimed};
  smma_target_plan plan = {"none", NULL};
  smma_error error;
  if (!claim.instruction) claim.instruction = instruction_of_gpu(o, x);
  smma_require(!o->gpus || smma_target_plans(o->claim, &claim.instruction, 1, &plan, &error), &error);
  claim.plan = plan.plan;
  smma_require(smma_match_check(x, &claim, &error), &error);
  smma_print_datum(smma_match_claim_datum(x));
  smma_plan_free(plan.plan);
  return smma_finish_output(x->difference.different ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}

/* ---- The command ---- */

static void check_options(const match_options *o) {
  smma_error error;
  if (o->claim && o->plan) smma_die("-o: --claim searches for no plan; leave it out");
  if (o->instruction && !(o->claim && o->gpus)) smma_die("--instr: goes with --claim and --on; leave it out");
  smma_require(!o->plan || (smma_check_file(o->plan, "-o", o->json ? "the JSON" : "the report", &error) &&
                            smma_check_writable(o->plan, "-o", &error)),
               &error);
}

/* Fills the request except D and the notes, which are set elsewhere. */
static void fill_request(match_options *o) {
  smma_match_request *q = &o->request;
  smma_formats formats = {SMMA_NO_FORMAT, SMMA_NO_FORMAT, SMMA_NO_FORMAT, SMMA_NO_FORMAT, 0};
  smma_error error;
  smma_require(!o->in || smma_formats_of_options(o->in, "--in", NULL, &formats, &error), &error);
  if (formats.scale_block)
    smma_die("--in: %s has scale factors of blocks, of whose products no plans are known; match takes formats without",
             o->in);
  q->a_format = formats.a, q->b_format = formats.b;
  q->d_format = o->out ? smma_format_of_option(o->out, "--out", &error) : SMMA_NO_FORMAT;
  smma_require(!o->out || q->d_format != SMMA_NO_FORMAT, &error);
  for (int which = 0; which < SMMA_PRODUCT_MATRICES; which++) q->product.of[which].path = o->path[which];
  q->product.transpose_a = o->transpose_a, q->product.transpose_b = o->transpose_b, q->product.raw = smma_raw_encodings;
}

int smma_command_match(int argc, const char **argv) {
  static smma_match_study x;
  smma_progress progress;
  match_options o = {.request = {.product = smma_product_defaults(),
                                 .notes = &smma_notes_printed,
                                 .progress = show_progress,
                                 .context = &progress}};
  smma_product_request *r = &o.request.product;
  smma_error error;
  const char **paths;
  static target_list targets;
  int status;
  struct poptOption options[] = {
      SMMA_LIST_OF_TARGETS(&o.gpus, "targets to search (default: all)"),
      {"in", 0, POPT_ARG_STRING, &o.in, 0, "format of A and B, or A,B (default: what the files hold)", "FORMAT"},
      {"out", 0, POPT_ARG_STRING, &o.out, 0, "format of D (default: what the file holds)", "FORMAT"},
      {"c", 'C', POPT_ARG_STRING, &o.path[SMMA_OF_C], 0, "the matrix C that was added (default: zero)", "C.npy"},
      {"output", 'o', POPT_ARG_STRING, &o.plan, 0, "write the plan that fits, for gemm --plan", "PLAN.json"},
      {"claim", 0, POPT_ARG_STRING, &o.claim, 0, "instead of a search: report in JSON whether this gives D",
       "PLAN|TARGET"},
      {"instr", 0, POPT_ARG_STRING, &o.instruction, 0, "with --claim and --on: the instruction, by name or alias",
       "NAME"},
      {"json", 0, POPT_ARG_NONE, &o.json, 0, "print as JSON", NULL},
      SMMA_OPTION_GROUP("Operands:"),
      SMMA_RAW_OPTION,
      {"transpose-a", 0, POPT_ARG_NONE, &o.transpose_a, 0, "the file of A holds its transpose", NULL},
      {"transpose-b", 0, POPT_ARG_NONE, &o.transpose_b, 0, "the file of B holds its transpose", NULL},
      {"round-in", 0, POPT_ARG_STRING, &r->round_in, 0,
       "how A and B were rounded to their formats: nearest-even, nearest-away, toward-zero, toward-negative or "
       "toward-positive (default: all are tried)",
       "MODE"},
      {"scale-a", 0, POPT_ARG_STRING, &o.path[SMMA_OF_SCALE_A], 0,
       "for plans with scale factors: FP32 factors of A's parts, M x parts of K", "FILE"},
      {"scale-b", 0, POPT_ARG_STRING, &o.path[SMMA_OF_SCALE_B], 0, "likewise for B: parts of K x N", "FILE"},
      SMMA_OPTION_GROUP("Epilogue:"),
      {"alpha", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &r->alpha, 0, "factor of A B", "X"},
      {"beta", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &r->beta, 0, "factor of C", "X"},
      {"bias", 0, POPT_ARG_STRING, &o.path[SMMA_OF_BIAS], 0, "a row of N numbers that was added", "FILE"},
      {"scale-d", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &r->scale_d, 0, "factor of the result", "X"},
      POPT_TABLEEND};
  paths = smma_parse_options(
      argc, argv, options, 3, 3,
      "Exit status 0: a candidate gives exactly the bits of D. 1: no known candidate does; the nearest is\n"
      "printed. Any two NaN are equal. With --claim, 0: the claim gives D; 1: it does not.\n"
      "PLAN is a file, the name of a library or 'none' (one chain of instructions), with the instruction of\n"
      "--on and --in or --instr. A TARGET after --claim means one chain.\n",
      &status);
  if (!paths) return status;
  o.path[SMMA_OF_A] = paths[0], o.path[SMMA_OF_B] = paths[1], o.request.d.path = paths[2];
  check_options(&o);
  if (o.claim && smma_rank()) return SMMA_EXIT_EQUAL;
  if (!o.claim) targets = require_targets(&o);
  fill_request(&o);
  if (o.claim) o.request.claimed = claimed_instruction(&o);
  smma_require(smma_match_load(&o.request, &x, &error), &error);
  status = o.claim ? run_claim(&o, &x) : run_search(&o, &targets, &x);
  free(targets.target);
  smma_match_study_free(&x);
  return status;
}
