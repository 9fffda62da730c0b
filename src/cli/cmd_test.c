/* softmma test: compares a unit with a model on many test vectors, and minimises counterexamples. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "classes/text.h"
#include "cli/output.h"
#include "cli/row.h"
#include "cli/target.h"
#include "cluster/ranks.h"
#include "explain/difference.h"
#include "host/count.h"
#include "io/count.h"
#include "question/ask.h"
#include "report/ranks.h"

enum { MOST_LINES = 40, DEFAULT_ROWS = 100000 };

/* A run of the command: the campaign, its report, the file of --resume and the progress line. */
typedef struct {
  smma_campaign what;
  smma_report report;
  const char *state; /* the file of --resume, or NULL */
  smma_progress progress;
} campaign;

static bool watch(uint64_t done, uint64_t all, void *context) {
  smma_progress_show(&((campaign *)context)->progress, done, all);
  return smma_interrupted();
}

static bool save(const smma_report *report, void *context, smma_error *error) {
  const campaign *c = context;
  if (c->state && !smma_report_save(report, c->state, error)) smma_die("--resume: %s", error->text);
  return true;
}

/* ---- Results ---- */

/* Prints the drawing, and below it the bits of both units' results with the differences marked. row->d is the result of
   `unit`, and `expected` that of `against`. */
static void print_mismatch(const smma_instruction *i, const smma_row *row, const char *unit, const char *against,
                           uint64_t expected) {
  const char *name[2] = {unit, against};
  const uint64_t result[2] = {row->d, expected};
  smma_error error;
  smma_require(smma_print_explanation(i, row, &error), &error);
  printf("\nresults, sign, exponent and fraction:\n");
  smma_print_results(stdout, i->d, name, result, 2, true);
}

static void print_example(const campaign *c, const smma_report_result *r) {
  const smma_row *row = &r->result.example;
  const bool recorded = smma_unit_is_recording(c->what.unit) || smma_unit_is_recording(c->what.against);
  printf("  first mismatch: test vector %llu%s:\n  ", (unsigned long long)r->result.first + 1,
         recorded ? "" : ". Minimised");
  smma_print_dot_command(stdout, r->instruction, row);
  putchar('\n');
  smma_print_value(stdout, 2, 24, c->what.unit->name, r->instruction->d, row->d);
  smma_print_value(stdout, 2, 24, c->what.against->name, r->instruction->d, r->result.expected);
  printf("  the model:\n");
  print_mismatch(r->instruction, row, c->what.unit->name, c->what.against->name, r->result.expected);
}

/* Prints how many mismatches differ only in the encoding of a NaN. Prints nothing if the report holds only a sample of
   the mismatches, as after a comparison on a device. */
static void print_nan(const smma_report_result *r) {
  const uint64_t nan = smma_sample_nan(&r->kept);
  const uint64_t sampled = smma_sample_mismatches(&r->kept);
  if (!nan || sampled != r->result.mismatches) return;
  if (nan == sampled)
    printf("  only NaN encodings differ: both results of every mismatch are NaN, with different signs or payloads\n");
  else
    printf("  %llu of the mismatches differ in the encoding of a NaN only\n", (unsigned long long)nan);
}

static void print_result(const campaign *c, const smma_report_result *r) {
  printf("%s %s rows=%llu mismatches=%llu\n", smma_arch_name(r->instruction), r->instruction->name,
         (unsigned long long)r->result.rows, (unsigned long long)r->result.mismatches);
  if (r->result.not_repeated)
    printf("  %llu result%s changed when computed again\n", (unsigned long long)r->result.not_repeated,
           smma_plural(r->result.not_repeated));
  if (r->result.not_alike)
    printf("  %llu times the result of a test vector depended on its place in the batch or on other test vectors\n",
           (unsigned long long)r->result.not_alike);
  print_nan(r);
  if (r->result.has_example) print_example(c, r);
  if (r->classes) {
    const smma_class_words words = smma_report_class_words(&c->report, r);
    smma_print_classes(stdout, r->classes, &words);
  } else if (r->kept.count && r->result.not_repeated) {
    printf("  its mismatches cannot be sorted into classes: the unit is not a function of its operands alone\n");
  } else if (r->kept.count && c->report.shard.count) {
    printf("  the campaign that goes on from all shards' merged reports sorts its mismatches into classes\n");
  } else if (r->kept.count) {
    printf(
        "  its mismatches were not sorted into classes: those of the first %d instructions are; --instr asks for one\n",
        SMMA_MOST_CLASSIFIED);
  }
}

/* Reports whether the result of an instruction is printed. Results with mismatches always are. Results without
   mismatches are printed if the list of instructions is short and the shard has test vectors of the instruction. */
static bool is_shown(const smma_report *report, const smma_campaign_result *r) {
  return !smma_report_is_clean(r) || (report->count <= MOST_LINES && (r->rows || !report->shard.count));
}

static void print_unit(const char *label, const smma_unit *u) {
  printf("%-8s %s", label, u->name);
  if (*u->description.device) printf(": %s", u->description.device);
  if (*u->description.driver) printf(", %s", u->description.driver);
  if (*u->description.toolkit) printf(", %s", u->description.toolkit);
  putchar('\n');
}

static void print_text(const campaign *c, const smma_report_totals *totals) {
  print_unit("unit", c->what.unit);
  print_unit("against", c->what.against);
  for (size_t i = 0; i < c->report.count; i++)
    if (is_shown(&c->report, &c->report.results[i].result)) print_result(c, &c->report.results[i]);
  printf("instructions=%zu rows=%llu mismatches=%llu\n", totals->instructions, (unsigned long long)totals->rows,
         (unsigned long long)totals->mismatches);
}

static int print_report(const campaign *c, bool json) {
  const smma_report_totals totals = smma_report_sum(&c->report);
  if (json)
    smma_print_datum(smma_report_datum(&c->report));
  else
    print_text(c, &totals);
  return smma_finish_output(totals.is_clean ? SMMA_EXIT_EQUAL : SMMA_EXIT_DIFFERENT);
}

/* ---- The campaign ---- */

static void choose_instructions(campaign *c, const smma_target *target, const smma_choice *choice) {
  const smma_instruction *only;
  smma_error error;
  smma_require(smma_chosen(target, choice, &only, &error) &&
                   smma_report_choose(&c->report, &c->what, target->text ? target->gpu : NULL, only, &error),
               &error);
  if (!target->text && !only && c->what.unit->methods == &smma_unit_custom && c->report.count > 1)
    smma_note(
        "no target is named: %s stands for each of %zu instructions with its formats and K; name one, such as %s:%s",
        c->what.unit->name, c->report.count, smma_arch_name(c->report.results[0].instruction),
        c->report.results[0].instruction->name);
}

static void open_unit(const char *name, const char *option, smma_unit *unit) {
  smma_error error;
  if (!smma_unit_open(name, unit, &error)) smma_die("%s: %s", option, error.text);
}

/* Compares every instruction, continuing a saved report. Returns false if interrupted. */
static bool run(campaign *c) {
  const smma_report_watcher watcher = {watch, save, c};
  smma_error error;
  bool stopped, good;
  smma_progress_start(&c->progress, "rows", 1);
  good = smma_report_run(&c->report, &watcher, &stopped, &error);
  smma_progress_end();
  if (!good)
    smma_die("%s%s%s", error.text, c->state ? "; what was compared before is in " : "", c->state ? c->state : "");
  return !stopped;
}

/* Sorts the mismatches into classes. Returns false if interrupted. */
static bool classify(campaign *c) {
  const smma_report_watcher watcher = {watch, NULL, c};
  smma_error error;
  bool good;
  smma_progress_start(&c->progress, "sorting mismatches, test vectors asked", 0);
  good = smma_report_classify(&c->report, &watcher, &error);
  smma_progress_end();
  smma_require(good || smma_interrupted(), &error);
  return good;
}

static void load(campaign *c) {
  smma_error error;
  if (c->state && !smma_report_load(&c->report, c->state, &error)) smma_die("--resume: %s", error.text);
}

static int interrupted(const campaign *c) {
  const smma_report_totals known = smma_report_sum(&c->report);
  return smma_complain("interrupted after %llu rows with %llu mismatches%s%s", (unsigned long long)known.rows,
                       (unsigned long long)known.mismatches,
                       c->state ? "; the same command goes on from " : "; --resume FILE would have saved them",
                       c->state ? c->state : "");
}

static int run_and_print(campaign *c, bool json) {
  load(c);
  if (!run(c) || (!c->report.shard.count && !classify(c))) return interrupted(c);
  return print_report(c, json);
}

/* ---- Ranks: each computes a shard, and rank 0 merges and prints the reports ---- */

static bool has_bytes(const char *file) {
  struct stat status;
  return file && stat(file, &status) == 0 && status.st_size > 0;
}

static int run_shard(campaign *c, const smma_group *group, const char *file, bool json) {
  char *own = file ? smma_report_state_of(file, group->rank, group->ranks) : NULL;
  smma_error error;
  if (file && !own) smma_die("out of memory");
  smma_report_set_shard(&c->report, group->rank, group->ranks);
  c->state = own;
  load(c);
  if (!run(c)) return group->rank ? SMMA_EXIT_FAILED : interrupted(c);
  smma_require(smma_report_gather(&c->report, group, &error), &error);
  c->state = file;
  if (!group->rank) save(&c->report, c, &error);
  smma_ranks_wait();
  if (own) unlink(own);
  free(own);
  if (group->rank) return SMMA_EXIT_EQUAL;
  return classify(c) ? print_report(c, json) : interrupted(c);
}

/* Runs the campaign in ranks. If the file of --resume already holds a merged report, rank 0 continues it alone. */
static int run_in_ranks(campaign *c, bool json) {
  const smma_group group = smma_ranks_group();
  smma_error error;
  bool known = has_bytes(c->state);
  group.share(&known, sizeof known);
  smma_require(smma_report_check_ranks(&c->report, c->state, &group, &error), &error);
  if (known) return group.rank ? SMMA_EXIT_EQUAL : run_and_print(c, json);
  smma_require(!c->state || group.rank || smma_report_check_states(c->state, group.ranks, &error), &error);
  smma_ranks_wait(); /* no rank writes before rank 0 has looked */
  return run_shard(c, &group, c->state, json);
}

/* ---- Open questions ---- */

/* Context of the callbacks: answers so far, and the progress line. */
typedef struct {
  size_t answers;
  smma_progress progress;
} shown;

static void print_trial(const smma_trial *t, const smma_trial_result *r, int index) {
  const smma_format d = t->instruction->d;
  smma_row row;
  char hex[24], model[24], value[40];
  printf("  0x%s  %-12s  %s", smma_hex_text(d, r->d[index], hex), smma_value_text(d, r->d[index], value),
         smma_result_name(t, index, &row));
  if (r->d[index] != t->expected[0][index])
    printf(" (the model: 0x%s)", smma_hex_text(d, t->expected[0][index], model));
  putchar('\n');
}

static void print_answer(const smma_trial *t, const smma_trial_result *r) {
  printf("%s %s %s: %s\n", t->question->name, smma_arch_name(t->instruction), t->instruction->name,
         smma_answer_text(t, r));
  for (int index = 0; index < t->results; index++) print_trial(t, r, index);
  if (r->different == t->rows) return;
  printf("  ");
  smma_print_dot_command(stdout, t->instruction, &r->example);
  putchar('\n');
}

static void show_answer(const smma_trial *t, const smma_trial_result *r, void *context) {
  shown *s = context;
  print_answer(t, r);
  smma_progress_show(&s->progress, ++s->answers, 0);
}

/* Runs the experiments and prints the unit's answers. Returns SMMA_EXIT_EQUAL if each answer is the model's, otherwise
   SMMA_EXIT_DIFFERENT. */
static int print_open_answers(smma_question_request *q, bool json) {
  shown s = {.answers = 0};
  smma_open_answers answers;
  smma_error error;
  bool good;
  if (!json) q->answered = show_answer, q->context = &s;
  smma_progress_start(&s.progress, "answers", 1);
  good = smma_ask_questions(q, &answers, &error);
  smma_progress_end();
  if (!good) smma_die("%s%s", smma_unit_is_recording(q->unit) ? "--open: " : "", error.text);
  if (json)
    smma_print_datum(smma_open_answers_datum(&answers, q->unit));
  else
    printf("experiments=%zu answers=%zu others=%zu\n", answers.questions, answers.answers, answers.others);
  smma_free_open_answers(&answers);
  return smma_finish_output(answers.others ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}

/* Returns the target whose instructions the experiments use. For a GPU without a model, that is the nearest
   architecture, and `*only` becomes the one experiment for this GPU. */
static smma_target target_of_questions(const char *gpu, const char **only) {
  smma_arch_id nearest = SMMA_ARCH_COUNT;
  smma_target target;
  smma_error error;
  if (gpu && !smma_question_of_gpu(gpu, only, &nearest, &error)) smma_die("--only: %s", error.text);
  smma_require(
      smma_read_target_or_none(nearest == SMMA_ARCH_COUNT ? gpu : smma_architectures[nearest].name, &target, &error),
      &error);
  return target;
}

/* Runs the experiments of --open. */
static int ask_open_questions(smma_unit *unit, const smma_target *target, const smma_choice *choice, const char *only,
                              bool all, bool json) {
  smma_question_request request = {
      .unit = unit, .arch = target->arch, .gpu = target->text ? target->gpu : NULL, .every = all};
  smma_error error;
  if (target->custom) smma_die("--open: %s is no GPU's model: it has no open questions", target->text);
  if (only && !(request.only = smma_require_question(only, &error))) smma_die("--only: %s", error.text);
  smma_require(smma_chosen(target, choice, &request.instruction, &error), &error);
  return print_open_answers(&request, json);
}

/* ---- The command ---- */

int smma_command_test(int argc, const char **argv) {
  const char *unit_name = NULL, *against_name = "model", *gpu = NULL, *kind = NULL, *only = NULL, *shard = NULL;
  smma_choice choice = {.instr = NULL};
  long long rows = DEFAULT_ROWS, seed = 0;
  int json = 0, all = 0, open_questions = 0, status;
  smma_unit unit, against;
  smma_target target;
  campaign c = {.what = {.unit = &unit, .against = &against}};
  char word[512];
  smma_error error;
  struct poptOption options[] = {
      {"unit", 'u', POPT_ARG_STRING, &unit_name, 0,
       "the unit under test: model[:DEVICE], custom:[DEVICE:]FILE, x86, cuda, hip, file:FILE, plugin:FILE, "
       "pipe:COMMAND",
       "UNIT"},
      {"against", 0, POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &against_name, 0, "the unit to compare it with",
       "UNIT"},
      SMMA_ON_OPTION(&gpu, "only instructions of this target (default: all)"),
      SMMA_CHOICE_OPTIONS(choice, " (default: all)"),
      {"all", 0, POPT_ARG_NONE, &all, 0, "every instruction that both units compute, as without --instr", NULL},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print the report as JSON", NULL},
      SMMA_OPTION_GROUP("Test vectors:"),
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &rows, 0,
       "number of test vectors for each instruction", "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      SMMA_KIND_OPTION(&kind),
      SMMA_OPTION_GROUP("Long campaigns:"),
      {"resume", 0, POPT_ARG_STRING, &c.state, 0, "save progress in this file; if the file exists, continue from it",
       "FILE"},
      {"shard", 0, POPT_ARG_STRING, &shard, 0,
       "only part I of N of the test vectors; 'softmma vectors merge' merges the reports of all parts", "I/N"},
      SMMA_OPTION_GROUP("Open questions:"),
      {"open", 0, POPT_ARG_NONE, &open_questions, 0,
       "run the experiments on open questions instead, on one instruction of each rule, or with --all on every "
       "instruction",
       NULL},
      {"only", 0, POPT_ARG_STRING, &only, 0, "with --open: only this experiment (see 'softmma list --experiments')",
       "NAME"},
      POPT_TABLEEND};
  if (!smma_parse_options(
          argc, argv, options, 0, 0,
          "Compares all bits, also those of NaN. Any two NaN are equal if the instruction's rule leaves its NaN\n"
          "open ('softmma show'). Test vector i of a seed is the same on every machine. Counterexamples are\n"
          "minimised and explained. Exit status 1: results differ. 'softmma units' lists the units.\n"
          "With --open, prints the unit's answer to each open question. Exit status 1: an answer\n"
          "differs from the model's.\n",
          &status))
    return status;
  if (all && (choice.instr || choice.in)) smma_die("--all and --instr: give only one");
  if (rows < 1) smma_die("--rows: %lld; it takes at least 1", rows);
  c.what.rows = (uint64_t)rows;
  smma_require(smma_read_recipe(kind, seed, &c.what.recipe, &error) &&
                   (!c.state || (smma_check_file(c.state, "--resume", "the report", &error) &&
                                 smma_check_writable(c.state, "--resume", &error))),
               &error);
  if (open_questions &&
      (strcmp(against_name, "model") != 0 || rows != DEFAULT_ROWS || seed != 0 || kind || c.state || shard))
    smma_die(
        "--open has rows and candidates of its own; it takes no --against, --rows, --seed, --kind, --resume and "
        "--shard");
  if (shard && !c.state && !json) smma_die("--shard: its report is to be merged; keep it with --resume FILE or --json");
  if (only && !open_questions) smma_die("--only needs --open");
  if (!unit_name && gpu && smma_ends_with(gpu, ".json"))
    smma_die("--unit is missing; to test that custom unit: softmma test --unit custom:%s GPU:FORMAT",
             smma_shell_word(gpu, word, sizeof word));
  if (!unit_name && smma_names_target(against_name))
    smma_die("--unit is missing; 'softmma diff %s %s' compares two models, and test a unit with a model",
             gpu ? gpu : "TARGET", against_name);
  smma_require(smma_is_given(unit_name, "--unit", "pipe:./unit.py", &error), &error);
  open_unit(unit_name, "--unit", &unit);
  if (open_questions)
    target = target_of_questions(gpu, &only);
  else
    smma_require(smma_read_target_or_none(gpu, &target, &error), &error);
  if (open_questions && smma_rank()) return SMMA_EXIT_EQUAL;
  if (open_questions) {
    status = ask_open_questions(&unit, &target, &choice, only, all, json);
    smma_unit_close(&unit);
    return status;
  }
  open_unit(against_name, "--against", &against);
  choose_instructions(&c, &target, &choice);
  if (shard) {
    uint64_t index, count;
    smma_require(smma_read_shard(shard, &index, &count, &error), &error);
    smma_report_set_shard(&c.report, index, count);
  }
  smma_wait_for_interruption(); /* an interruption takes effect after the current batch */
  status = smma_ranks() > 1 ? run_in_ranks(&c, json) : run_and_print(&c, json);
  if (status == SMMA_EXIT_DIFFERENT && strncmp(against.name, "custom:", strlen("custom:")) == 0 &&
      !smma_ends_with(gpu ? gpu : "", ".json"))
    smma_note(
        "these explanations are by the instruction's model, and not by %s; for those, name the file as the target",
        against.name);
  smma_report_free(&c.report);
  smma_unit_close(&unit);
  smma_unit_close(&against);
  return status;
}
