/* softmma match: finds the targets and plans that return exactly the bits of a given product. */
#include <stdlib.h>
#include <string.h>

#include "cli/matrices.h"
#include "cli/output.h"
#include "cli/target.h"
#include "cluster/ranks.h"
#include "isa/key.h"
#include "match/study.h"
#include "rows/datum.h"

enum { MOST_SHOWN = 8 };

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

/* Adds a target. The formats after its colon are those of the search. */
static void add_target(target_list *list, const char *text, match_options *o) {
  smma_target target;
  smma_error error;
  smma_require(smma_read_target(text, &target, &error), &error);
  smma_match_target *more = realloc(list->target, (list->count + 1) * sizeof *more);
  if (!more) smma_die("out of memory");
  if (target.more && !o->in) o->in = strcpy(o->formats, target.more);
  if (target.more && strcmp(target.more, o->in) != 0)
    smma_die("--on: %s: a search is for the formats %s; search for those of this target apart", text, o->in);
  list->target = more;
  list->target[list->count] = (smma_match_target){.only = target.custom};
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

/* ---- Result as text ---- */

static bool is_first_of_arch(const smma_match_class *class, size_t i) {
  for (size_t j = 0; j < i; j++)
    if (class->member[j]->arch == class->member[i]->arch) return false;
  return true;
}

static size_t count_of_arch(const smma_match_class *class, size_t i) {
  size_t count = 0;
  for (size_t j = 0; j < class->members; j++) count += class->member[j]->arch == class->member[i]->arch;
  return count;
}

static void print_class(const smma_match_class *class) {
  const smma_rule *rule = &class->member[0]->rule->rule;
  const char *name;
  char value[SMMA_PARAMETER_SIZE];
  for (size_t i = 0; i < class->members; i++) {
    if (!is_first_of_arch(class, i)) continue;
    printf("%s%s %s", i ? ", " : "", smma_arch_name(class->member[i]), class->member[i]->name);
    if (count_of_arch(class, i) > 1) printf(" (and %zu more)", count_of_arch(class, i) - 1);
  }
  printf("\n   %s", smma_model_name(rule));
  for (int p = 0; smma_parameter(rule, p, &name, value, sizeof value); p++) printf(" %s=%s", name, value);
  putchar('\n');
}

static void print_candidate(const smma_match *m, const smma_match_candidate *c, bool same_class) {
  if (!same_class) print_class(&m->class[c->of]);
  printf("%s%s\n", same_class ? "the same by " : "   ", c->text);
  for (size_t i = 0; i < c->libraries; i++) {
    printf("   as %s", c->library[i].text);
    if (c->library[i].others) printf(" (and %zu more configurations)", c->library[i].others);
    putchar('\n');
  }
}

static void print_apart(const smma_match *m, size_t f) {
  printf("   these matrices do not distinguish it from 1; of %d random elements %d differ\n", SMMA_MATCH_SAMPLE,
         m->fit[f].differs_at_random);
}

static void print_exact(const smma_match_study *x) {
  const smma_match *m = &x->found;
  const bool integer = x->data.d_format == SMMA_S32;
  if (!m->exact) return;
  printf(
      "every partial sum of A B is a number of %s here, so that additions in it never round, and their order cannot\n"
      "show%s\n",
      integer || x->data.d_format == SMMA_F64 ? smma_format_text(x->data.d_format) : "f32",
      integer ? "" : "; use matrices of numbers with more significant bits");
}

static void print_fits(const smma_match_study *x) {
  const smma_match *m = &x->found;
  printf("fits: all %zu elements\n", x->data.m * x->data.n);
  for (size_t f = 0; f < m->fits && f < MOST_SHOWN; f++) {
    printf("%-2zu ", f + 1);
    print_candidate(m, &m->fit[f], f && m->fit[f].of == m->fit[0].of);
    if (f) print_apart(m, f);
  }
  if (m->fits > MOST_SHOWN) printf("and %zu more, which --json lists\n", m->fits - MOST_SHOWN);
  if (m->untried)
    printf("%zu more give the same in all samples; they were not computed in whole\n", m->untried);
  else
    printf("nothing else fits\n");
  print_exact(x);
}

static void print_first(const smma_match_study *x, const smma_match_difference *d) {
  const smma_format f = x->data.d_format;
  char hex[2][24], value[2][40];
  printf("   [%zu, %zu] is %s %s, there %s %s\n", d->row, d->column, smma_hex_text(f, d->expected, hex[0]),
         smma_value_text(f, d->expected, value[0]), smma_hex_text(f, d->got, hex[1]),
         smma_value_text(f, d->got, value[1]));
}

static void print_none(const smma_match_study *x) {
  const smma_match *m = &x->found;
  char text[256];
  printf("none: no candidate gives all %zu elements\n", x->data.m * x->data.n);
  if (*smma_match_hint(m, text, sizeof text)) printf("%s\n", text);
  if (x->request->a_format == SMMA_NO_FORMAT && x->data.a_format == SMMA_F32 && x->data.b_format == SMMA_F32)
    printf(
        "only products in f32, which the files hold, were tried; if it was made in another format, give --in tf32,\n"
        "--in bf16, --in f16, --in e4m3 or --in e5m2\n");
  if (!m->has_near) return;
  smma_match_difference_text(x, &m->near.difference, text, sizeof text);
  printf("nearest; it differs in %s:\n   ", text);
  print_candidate(m, &m->near, false);
  print_first(x, &m->near.difference);
}

/* Writes the rounding modes that were tried, such as "nearest-even, toward-zero". */
static const char *modes_text(const smma_match_study *x, char *text, size_t size) {
  text[0] = 0;
  for (size_t i = 0; i < x->modes; i++)
    smma_append_text(text, size, "%s%s%s", i ? ", " : "", smma_roundings[x->mode[i]], x->same_as[i]);
  return text;
}

/* Prints how A and B are rounded in the result. Prints nothing if the format has all their values. */
static void print_mode(const smma_match_study *x) {
  const size_t mode = x->kept;
  char modes[256];
  if (!x->rounded) return;
  if (x->found.fits)
    printf("A and B rounded by --round-in %s%s%s\n", smma_roundings[x->mode[mode]],
           *x->same_as[mode] ? "; the same numbers by " : "", *x->same_as[mode] ? x->same_as[mode] + 2 : "");
  else
    printf("A and B rounded in each of these ways: %s; nearest by %s\n", modes_text(x, modes, sizeof modes),
           smma_roundings[x->mode[mode]]);
}

static void print_match(const smma_match_study *x, double seconds) {
  const smma_match *m = &x->found;
  char inputs[64];
  snprintf(inputs, sizeof inputs, "%s%s%s", smma_format_text(x->data.a_format),
           x->data.a_format == x->data.b_format ? "" : ",",
           x->data.a_format == x->data.b_format ? "" : smma_format_text(x->data.b_format));
  printf("A (%zu x %zu) times B (%zu x %zu) in %s, D in %s\n", x->data.m, x->data.k, x->data.k, x->data.n, inputs,
         smma_format_text(x->data.d_format));
  printf("%zu plans around %zu functions of instructions: %zu candidates that differ with this K, %.1f s\n\n", m->plans,
         m->classes, m->candidates, seconds);
  print_mode(x);
  if (m->fits)
    print_fits(x);
  else
    print_none(x);
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
    print_match(x, seconds);
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
      SMMA_OPTION_GROUP("Execution, which does not change the result:"),
      {"threads", 't', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &r->threads, 0,
       "number of threads, 0 for all cores; results do not depend on it", "T"},
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
