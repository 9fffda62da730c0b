/* softmma coverage: counts the events of the arithmetic that test vectors cause, and lists events that are missing. */
#include <inttypes.h>

#include "campaign/covered.h"
#include "cli/output.h"
#include "cli/row.h"
#include "cli/target.h"

enum { DEFAULT_ROWS = 100000 };

typedef struct {
  smma_progress shown;
  uint64_t all; /* number of test vectors; 0 if unknown */
} progress;

static void show_progress(uint64_t rows, void *context) {
  progress *p = context;
  smma_progress_show(&p->shown, rows, p->all);
}

static bool show_search(uint64_t tries, size_t events, void *context) {
  (void)events;
  show_progress(tries, context);
  return smma_interrupted();
}

/* ---- Text ---- */

static void print_counts(const char *name, const size_t count[SMMA_EVENT_STATES], bool searched) {
  printf("  %-16s %7zu %7zu", name, count[SMMA_HIT], count[SMMA_MISSED] + count[SMMA_FOUND]);
  if (searched) printf(" %12zu", count[SMMA_FOUND]);
  printf(" %11zu\n", count[SMMA_IMPOSSIBLE]);
}

static void print_missed(const smma_covered *c, long long most) {
  long long listed = 0, more = 0;
  for (size_t e = 0; e < c->space.events; e++) {
    const smma_event_state state = smma_event_state_of(c, e);
    char text[160];
    if (state != SMMA_MISSED && state != SMMA_FOUND) continue;
    if (listed >= most) {
      more++;
      continue;
    }
    printf("  %s%s\n", smma_event_words(&c->space, e, text, sizeof text),
           state == SMMA_FOUND ? ": rows for it were found"
           : c->tries          ? ": no row for it was found"
                               : "");
    listed++;
  }
  if (more) printf("  ... and %lld more\n", more);
}

static void print_one(const smma_covered *c, long long most) {
  size_t count[SMMA_EVENT_STATES];
  smma_count_states(c, SMMA_EVENT_KINDS, count);
  printf("%s %s: %" PRIu64 " rows, %zu of %zu events that are not impossible\n", smma_arch_name(c->instruction),
         c->instruction->name, c->rows, count[SMMA_HIT], c->space.events - count[SMMA_IMPOSSIBLE]);
  printf("  %-16s %7s %7s", "", "hit", "missed");
  if (c->tries) printf(" %12s", "found by it");
  printf(" %11s\n", "impossible");
  for (int kind = 0; kind < SMMA_EVENT_KINDS; kind++) {
    size_t of_kind[SMMA_EVENT_STATES];
    smma_count_states(c, (smma_event_kind)kind, of_kind);
    if (of_kind[SMMA_HIT] + of_kind[SMMA_MISSED] + of_kind[SMMA_FOUND] + of_kind[SMMA_IMPOSSIBLE])
      print_counts(smma_event_kind_names[kind], of_kind, c->tries);
  }
  if (count[SMMA_MISSED] + count[SMMA_FOUND] == 0) return;
  printf("missed");
  if (c->tries) printf(", and whether a search of %" PRIu64 " rows made it happen", c->tries);
  puts(":");
  print_missed(c, most);
}

/* ---- The command ---- */

/* Counts the events of generated test vectors. If `unit_name` is not NULL, that unit computes their results, too. */
static void add_campaign(smma_coverage *coverage, const smma_instruction *i, smma_campaign *campaign,
                         const char *unit_name, progress *p) {
  smma_unit unit;
  smma_error error;
  if (unit_name && (!smma_unit_open(unit_name, &unit, &error) || !smma_unit_computes(&unit, i, &error)))
    smma_die("--unit: %s", error.text);
  if (unit_name) campaign->unit = &unit;
  p->all = campaign->rows;
  smma_require(smma_coverage_of(coverage, i, &error), &error);
  if (!smma_campaign_cover(campaign, i, coverage, show_progress, p, &error))
    smma_die("%s%s", unit_name ? "--unit: " : "", error.text);
  p->all = 0;
  if (unit_name) smma_unit_close(&unit);
}

int smma_command_coverage(int argc, const char **argv) {
  const char *gpu = NULL, *unit_name = NULL, *kind_name = NULL, *path = NULL, *page = NULL;
  smma_choice choice = {.instr = NULL};
  long long rows = DEFAULT_ROWS, seed = 0, tries = 0, most = 20;
  unsigned long long mismatches;
  int json = 0, status;
  smma_coverage coverage = {.one = NULL};
  progress p = {.all = 0};
  smma_error error;
  const char **files;
  struct poptOption options[] = {
      SMMA_ON_OPTION(&gpu, "instead of files: generate test vectors for this target"),
      SMMA_CHOICE_OPTIONS(choice, ""),
      {"unit", 'u', POPT_ARG_STRING, &unit_name, 0,
       "with --on: also compare this unit's results with the model's, as in 'softmma test'", "UNIT"},
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &rows, 0, "number of test vectors to generate", "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      SMMA_KIND_OPTION(&kind_name),
      {"search", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &tries, 0,
       "after these vectors, search this many others for missed events", "N"},
      {"show", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &most, 0, "number of missed events to list", "N"},
      {"output", 'o', POPT_ARG_STRING, &path, 0,
       "write the counts to this file; 'softmma coverage' of several such files adds them", "FILE"},
      {"html", 0, POPT_ARG_STRING, &page, 0, "write a page that shows each event as a square", "FILE"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print every event as JSON", NULL},
      POPT_TABLEEND};
  files = smma_parse_options(
      argc, argv, options, 0, 1 << 20,
      "Events of a rule's arithmetic: classes of operands, gaps between terms, bits truncated by alignment,\n"
      "carries, cancellation, rounding, overflow, special values. FILE: vector files, and files of\n"
      "counts that -o wrote; their counts are added up. Exit status 1: a result is not the model's.\n",
      &status);
  if (!files) return status;
  if (rows < 0) smma_die("--rows: %lld is negative", rows);
  if (tries < 0) smma_die("--search: %lld is negative", tries);
  if (most < 0) smma_die("--show: %lld is negative", most);
  if (*files)
    smma_require(
        smma_check_options("files", tries ? "search seed show output html json" : "show output html json", &error),
        &error);
  const char *const taken_by = json ? "the JSON" : "the report";
  smma_require(
      !path || (smma_check_file(path, "--output", taken_by, &error) && smma_check_writable(path, "--output", &error)),
      &error);
  smma_require(
      !page || (smma_check_file(page, "--html", taken_by, &error) && smma_check_writable(page, "--html", &error)),
      &error);
  if (!*files && !gpu) smma_die("give FILE, or a target, as in --on H100 --in f16");
  smma_progress_start(&p.shown, "rows", 1);
  if (!*files) {
    const smma_instruction *i = smma_choose_instruction(gpu, &choice, &error);
    smma_campaign campaign = {.rows = (uint64_t)rows};
    smma_require(i && smma_read_recipe(kind_name, seed, &campaign.recipe, &error), &error);
    add_campaign(&coverage, i, &campaign, unit_name, &p);
  }
  for (; *files; files++) smma_require(smma_coverage_add_file(&coverage, *files, show_progress, &p, &error), &error);
  smma_require(!tries || smma_coverage_search(&coverage, (uint64_t)seed, (uint64_t)tries, show_search, &p, &error),
               &error);
  smma_progress_end();
  if ((path && smma_write_datum(path, "--output", smma_coverage_counts(&coverage)) != SMMA_EXIT_EQUAL) ||
      (page && smma_write_page(page, "--html", smma_coverage_page(&coverage)) != SMMA_EXIT_EQUAL))
    return SMMA_EXIT_FAILED;
  if (json) smma_print_datum(smma_coverage_datum(&coverage));
  for (size_t n = 0; !json && n < coverage.count; n++) print_one(&coverage.one[n], most);
  mismatches = coverage.totals.mismatches;
  smma_coverage_free(&coverage);
  if (mismatches)
    smma_note("%llu result%s not the model's; 'softmma verify' and 'softmma test' show %s", mismatches,
              mismatches == 1 ? " is" : "s are", mismatches == 1 ? "it" : "them");
  return smma_finish_output(mismatches ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}
