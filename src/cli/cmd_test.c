#define _POSIX_C_SOURCE 200809L /* strndup */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/classes.h"
#include "cli/output.h"
#include "cli/questions.h"
#include "cli/row.h"
#include "cli/shard.h"
#include "cli/target.h"
#include "cli/values.h"
#include "cluster/ranks.h"
#include "io/crc32c.h"
#include "report/report.h"

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

static void print_values(const smma_instruction *i, const char *unit, uint64_t d) {
  char hex[24], value[40];
  printf("  %-24s %s  %s\n", unit, smma_hex_text(i->d, d, hex), smma_value_text(i->d, d, value));
}

static void print_example(const campaign *c, const smma_report_result *r) {
  const smma_row *row = &r->result.example;
  const bool recorded = smma_unit_is_recording(c->what.unit) || smma_unit_is_recording(c->what.against);
  printf("  first mismatch: test vector %llu%s:\n  ", (unsigned long long)r->result.first + 1,
         recorded ? "" : ". Minimised");
  smma_print_dot_command(stdout, r->instruction, row);
  putchar('\n');
  print_values(r->instruction, c->what.unit->name, row->d);
  print_values(r->instruction, c->what.against->name, r->result.expected);
  printf("  the model:\n");
  smma_print_mismatch(r->instruction, row, c->what.unit->name, c->what.against->name, r->result.expected);
}

/* Prints how many mismatches differ only in the encoding of a NaN. Prints nothing if the report holds only a sample of
   the mismatches, as after a comparison on a device. */
static void print_nan(const smma_report_result *r) {
  const uint64_t nan = smma_sample_nan(&r->kept);
  uint64_t sampled = 0;
  for (size_t n = 0; n < r->kept.count; n++) sampled += r->kept.sort[n].count;
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
    printf("  %llu results changed when they were computed again\n", (unsigned long long)r->result.not_repeated);
  if (r->result.not_alike)
    printf("  %llu times the result of a test vector depended on its place in the batch or on other test vectors\n",
           (unsigned long long)r->result.not_alike);
  print_nan(r);
  if (r->result.has_example) print_example(c, r);
  if (r->classes) {
    const smma_class_words words = smma_report_class_words(&c->report, r);
    smma_print_classes(r->classes, &words);
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

/* Reports whether a result is printed: every mismatch is; results without a mismatch are printed only for a short list
   of instructions, and not if the shard has no test vector of the instruction. */
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

/* ---- The command ---- */

static void choose_instructions(campaign *c, const smma_target *target, const smma_choice *choice) {
  const smma_instruction *only = smma_chosen(target, choice);
  smma_error error;
  if (!smma_report_choose(&c->report, &c->what, target->arch, only, &error)) smma_die("%s", error.text);
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

static void classify(campaign *c) {
  smma_error error;
  if (!smma_report_classify(&c->report, &error)) smma_die("%s", error.text);
}

static void load(campaign *c) {
  smma_error error;
  if (c->state && !smma_report_load(&c->report, c->state, &error)) smma_die("--resume: %s", error.text);
}

static int interrupted(const campaign *c) {
  return smma_complain("interrupted after %llu rows%s%s", (unsigned long long)smma_report_sum(&c->report).rows,
                       c->state ? "; the same command goes on from " : "; --resume FILE would have kept them",
                       c->state ? c->state : "");
}

static int run_and_print(campaign *c, bool json) {
  load(c);
  if (!run(c)) return interrupted(c);
  if (!c->report.shard.count) classify(c);
  return print_report(c, json);
}

/* ---- Ranks: each computes a shard, and rank 0 merges and prints the reports ---- */

/* Returns the name of this rank's own state file, such as FILE.shard-2-of-4 for rank 1 of 4; NULL without --resume. It
   is removed when FILE holds the merged report. */
static char *state_of_rank(const char *file) {
  const size_t size = file ? strlen(file) + 64 : 0;
  char *name = file ? malloc(size) : NULL;
  if (!file) return NULL;
  if (!name) smma_die("out of memory");
  snprintf(name, size, "%s.shard-%zu-of-%zu", file, smma_rank() + 1, smma_ranks());
  return name;
}

/* Reads a number above 0. Returns the text after it, or NULL if there is no number. */
static const char *skip_number(const char *text, unsigned long *number) {
  char *end;
  if (!text || *text < '1' || *text > '9') return NULL;
  *number = strtoul(text, &end, 10);
  return end;
}

static const char *skip_text(const char *text, const char *expected) {
  const size_t length = strlen(expected);
  return text && strncmp(text, expected, length) == 0 ? text + length : NULL;
}

/* Parses the name of a rank's state file, FILE.shard-I-of-N, where `base` is the name of FILE. Returns the text after
   it and sets `*ranks` to N; returns NULL if the name does not have this form. */
static const char *skip_shard_name(const char *name, const char *base, unsigned long *ranks) {
  unsigned long rank;
  const char *at = skip_number(skip_text(skip_text(name, base), ".shard-"), &rank);
  return skip_number(skip_text(at, "-of-"), ranks);
}

/* Reports whether `at` is the ending that smma_output_open gives to an unfinished file: ".PID-ATTEMPT.tmp". */
static bool ends_temporary(const char *at) {
  unsigned long number;
  at = skip_text(skip_number(skip_text(at, "."), &number), "-");
  return at && at[0] && strcmp(at + strspn(at, "0123456789"), ".tmp") == 0;
}

/* Looks for state files of ranks beside FILE. Ends the program if they are of another number of ranks, because their
   work would be computed again. Removes unfinished files of ranks that died while they saved. */
static void look_for_shards(const char *file) {
  const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
  char *folder = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup("./"), *path;
  DIR *entries = folder ? opendir(folder) : NULL;
  const struct dirent *entry;
  if (!folder) smma_die("out of memory");
  while (entries && (entry = readdir(entries))) {
    unsigned long ranks;
    const char *end = skip_shard_name(entry->d_name, base, &ranks);
    if (!end || (*end && !ends_temporary(end))) continue;
    path = malloc(strlen(folder) + strlen(entry->d_name) + 1);
    if (!path) smma_die("out of memory");
    sprintf(path, "%s%s", slash ? folder : "", entry->d_name);
    if (*end) unlink(path);
    if (!*end && ranks != smma_ranks())
      smma_die("--resume: %s is there, of another number of ranks; go on with as many, or remove it", path);
    free(path);
  }
  if (entries) closedir(entries);
  free(folder);
}

/* Ends the program if rank 0 has another value for the option `what`. */
static void require_same(const char *what, const char *own) {
  char first[512] = "", here[512] = "";
  snprintf(here, sizeof here, "%s", own);
  memcpy(first, here, sizeof first);
  smma_ranks_share(first, sizeof first);
  if (strcmp(first, here) != 0)
    smma_die("%s: %s here, and %s at rank 0; start all ranks with the same arguments", what, *here ? here : "none",
             *first ? first : "none");
}

/* Ends the program unless all ranks were started with the same campaign. */
static void require_same_campaign(const campaign *c) {
  char text[64];
  uint32_t names = 0;
  require_same("--unit", c->what.unit->name);
  require_same("--against", c->what.against->name);
  snprintf(text, sizeof text, "%lld", (long long)c->what.recipe.seed);
  require_same("--seed", text);
  require_same("--kind", c->what.recipe.covers ? "default" : smma_row_kind_text(c->what.recipe.kind));
  snprintf(text, sizeof text, "%llu", (unsigned long long)c->what.rows);
  require_same("--rows", text);
  require_same("--resume", c->state ? c->state : "");
  for (size_t i = 0; i < c->report.count; i++) {
    const smma_instruction *x = c->report.results[i].instruction;
    const char *arch = smma_arch_name(x), *name = x->name;
    names = smma_crc32c(smma_crc32c(names, arch, strlen(arch) + 1), name, strlen(name) + 1);
  }
  snprintf(text, sizeof text, "%zu instructions, checksum %08x", c->report.count, (unsigned)names);
  require_same("--on and --instr", text);
}

/* Ends the program unless the units of all ranks have the same device, driver, toolkit and size of a batch. */
static void require_alike(const campaign *c) {
  const struct {
    const smma_unit *unit;
    const char *option;
  } units[] = {{c->what.unit, "--unit"}, {c->what.against, "--against"}};
  uint64_t part = smma_campaign_part(&c->what);
  smma_ranks_share(&part, sizeof part);
  for (int i = 0; i < 2; i++) {
    const smma_unit_description *own = &units[i].unit->description;
    smma_unit_description first = *own;
    smma_ranks_share(&first, sizeof first);
    if (strcmp(first.device, own->device) != 0 || strcmp(first.driver, own->driver) != 0 ||
        strcmp(first.toolkit, own->toolkit) != 0 || part != smma_campaign_part(&c->what))
      smma_die("%s: %s is %s (%s) here, and %s (%s) at rank 0; run a campaign on machines that are alike",
               units[i].option, units[i].unit->name, own->device, own->driver, first.device, first.driver);
  }
}

static void send_report(const campaign *c) {
  smma_datum *data = smma_report_datum(&c->report);
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream || !smma_datum_is_complete(data) || !smma_datum_write(data, stream, SMMA_JSON_COMPACT) ||
      fclose(stream) != 0)
    smma_die("out of memory");
  smma_ranks_send(text, size);
  free(text);
  smma_datum_free(data);
}

/* Receives the report of a rank and adds it to `whole`. */
static void add_report(const campaign *c, size_t rank, smma_report *whole) {
  smma_report part;
  smma_error error = {SMMA_FAILED, "out of memory"};
  char name[32];
  size_t size;
  char *text = smma_ranks_receive(rank, &size);
  smma_datum *data;
  snprintf(name, sizeof name, "rank %zu", rank);
  data = text ? smma_datum_read(name, text, size, &error) : NULL;
  if (!data || !smma_report_start_like(&part, whole, &error)) smma_die("%s", error.text);
  part.shard = c->report.shard;
  part.shard.index = rank;
  if (!smma_report_take(&part, data, name, &error) || !smma_report_add(whole, &part, &error))
    smma_die("%s", error.text);
  smma_report_free(&part);
  smma_datum_free(data);
  free(text);
}

/* Merges the reports of all ranks into the report of rank 0. */
static void gather_reports(campaign *c) {
  smma_report whole;
  smma_error error;
  if (!smma_report_start_like(&whole, &c->report, &error) || !smma_report_add(&whole, &c->report, &error))
    smma_die("%s", error.text);
  for (size_t rank = 1; rank < smma_ranks(); rank++) add_report(c, rank, &whole);
  smma_report_free(&c->report);
  c->report = whole;
  c->report.complete = true;
  smma_report_settle(&c->report);
}

static bool has_bytes(const char *file) {
  struct stat status;
  return file && stat(file, &status) == 0 && status.st_size > 0;
}

static int run_shard(campaign *c, const char *file, bool json) {
  char *own = state_of_rank(file);
  smma_error error;
  smma_report_set_shard(&c->report, smma_rank(), smma_ranks());
  c->state = own;
  load(c);
  if (!run(c)) return smma_rank() ? SMMA_EXIT_FAILED : interrupted(c);
  if (smma_rank()) send_report(c);
  if (!smma_rank()) gather_reports(c);
  c->state = file;
  if (!smma_rank()) save(&c->report, c, &error);
  smma_ranks_wait();
  if (own) unlink(own);
  free(own);
  if (smma_rank()) return SMMA_EXIT_EQUAL;
  classify(c);
  return print_report(c, json);
}

/* Runs the campaign in ranks. If the file of --resume already holds a merged report, rank 0 continues it alone. */
static int run_in_ranks(campaign *c, bool json) {
  bool known = has_bytes(c->state);
  smma_ranks_share(&known, sizeof known);
  require_same_campaign(c);
  require_alike(c);
  if (known) return smma_rank() ? SMMA_EXIT_EQUAL : run_and_print(c, json);
  if (c->state && !smma_rank()) look_for_shards(c->state);
  smma_ranks_wait(); /* no rank writes before rank 0 has looked */
  return run_shard(c, c->state, json);
}

/* Returns the target whose instructions the experiments use. For a GPU without a model, that is the nearest
   architecture, and `*only` becomes the one experiment for this GPU. */
static smma_target target_of_questions(const char *gpu, const char **only) {
  smma_arch_id nearest = SMMA_ARCH_COUNT;
  smma_error error;
  if (gpu && !smma_question_of_gpu(gpu, only, &nearest, &error)) smma_die("--only: %s", error.text);
  if (nearest == SMMA_ARCH_COUNT) return smma_target_or_none(gpu);
  return smma_require_target(smma_architectures[nearest].name);
}

/* Runs the experiments of --open. */
static int ask_open_questions(smma_unit *unit, const smma_target *target, const smma_choice *choice, const char *only,
                              bool all, bool json) {
  smma_question_request request = {.unit = unit, .arch = target->arch, .every = all};
  smma_error error;
  if (target->custom) smma_die("--open: %s is no GPU's model: it has no open questions", target->text);
  if (only && !(request.only = smma_require_question(only, &error))) smma_die("--only: %s", error.text);
  request.instruction = smma_chosen(target, choice);
  return smma_print_open_answers(&request, json);
}

int smma_command_test(int argc, const char **argv) {
  const char *unit_name = NULL, *against_name = "model", *gpu = NULL, *kind = NULL, *only = NULL, *shard = NULL;
  smma_choice choice = {.instr = NULL};
  long long rows = DEFAULT_ROWS, seed = 0;
  int json = 0, all = 0, open_questions = 0, status;
  smma_unit unit, against;
  smma_target target;
  campaign c = {.what = {.unit = &unit, .against = &against}};
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
  smma_parse_options(
      argc, argv, options, 0, 0,
      "Compares all bits, also those of NaN. Any two NaN are equal if the instruction's rule leaves its NaN\n"
      "open ('softmma show'). Test vector i of a seed is the same on every machine. Counterexamples are\n"
      "minimised and explained. Exit status 1: results differ. 'softmma units' lists the units.\n"
      "With --open, prints the unit's answer to each open question; exit status 1: one is not the model's.\n");
  if (all && (choice.instr || choice.in)) smma_die("--all and --instr: ask for every instruction or for one");
  if (rows < 1) smma_die("--rows: %lld; it takes at least 1", rows);
  c.what.rows = (uint64_t)rows;
  c.what.recipe = smma_require_recipe(kind, seed);
  if (c.state) smma_require_file(c.state, "--resume", "the report");
  if (c.state) smma_require_writable(c.state, "--resume");
  if (open_questions &&
      (strcmp(against_name, "model") != 0 || rows != DEFAULT_ROWS || seed != 0 || kind || c.state || shard))
    smma_die(
        "--open has rows and candidates of its own; it takes no --against, --rows, --seed, --kind, --resume and "
        "--shard");
  if (shard && !c.state && !json) smma_die("--shard: its report is to be merged; keep it with --resume FILE or --json");
  if (only && !open_questions) smma_die("--only needs --open");
  open_unit(smma_require_option(unit_name, "--unit", "x86"), "--unit", &unit);
  target = open_questions ? target_of_questions(gpu, &only) : smma_target_or_none(gpu);
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
    smma_read_shard(shard, &index, &count);
    smma_report_set_shard(&c.report, index, count);
  }
  smma_wait_for_interruption(); /* an interruption takes effect after the current batch */
  status = smma_ranks() > 1 ? run_in_ranks(&c, json) : run_and_print(&c, json);
  smma_report_free(&c.report);
  smma_unit_close(&unit);
  smma_unit_close(&against);
  return status;
}
