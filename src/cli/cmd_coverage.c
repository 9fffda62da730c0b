#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "campaign/campaign.h"
#include "cli/coverage.h"
#include "cli/output.h"
#include "cli/row.h"
#include "host/load.h"
#include "rows/check.h"

/* Rows that are generated at a time. */
enum { BATCH = 16384, DEFAULT_ROWS = 100000 };

typedef struct {
  smma_coverage coverage;
  smma_check_totals totals;
  smma_progress progress;
} run;

static void put_results(const smma_rows *rows, const uint64_t *d, size_t count, void *to) {
  for (size_t r = 0; r < count; r++) smma_store(rows->layout.part[SMMA_PART_D].bytes, to, r, d[r]);
}

/* ---- Vector files ---- */

/* Computes rows of a file, with an eye on events. */
static bool watch_batch(const smma_instruction *instruction, const smma_batch *batch, void *context,
                        smma_error *error) {
  run *r = context;
  const smma_rows rows = smma_rows_of_batch(instruction, batch);
  uint64_t *d = malloc(batch->rows * sizeof *d);
  smma_covered *covered;
  if (!smma_coverage_of(&r->coverage, instruction, &covered, error)) {
    free(d);
    return false;
  }
  if (!d || !smma_count_events(&covered->space, &rows, batch->rows, covered->hits, d)) smma_die("out of memory");
  covered->rows += batch->rows;
  put_results(&rows, d, batch->rows, batch->d);
  free(d);
  return true;
}

static void show_progress(const smma_check_totals *totals, void *context) {
  smma_progress_show(&((run *)context)->progress, totals->rows, 0);
}

static void add_file(run *r, const char *path) {
  smma_error error;
  const smma_check_watcher watcher = {.compute = watch_batch, .progress = show_progress, .context = r};
  FILE *stream;
  bool ok;
  if (smma_coverage_is_file(path)) {
    if (!smma_coverage_add_file(&r->coverage, path, &error)) smma_die("%s", error.text);
    return;
  }
  stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
  if (!stream) smma_die("%s: %s", path, strerror(errno));
  ok = smma_check_stream(stream, stream == stdin ? "standard input" : path, &r->totals, &watcher, &error);
  if (stream != stdin) fclose(stream);
  if (!ok) smma_die("%s", error.text);
}

/* ---- Generated rows ---- */

/* What a campaign asks: the rows, and the results of its unit. */
static void add_campaign(run *r, const smma_campaign *campaign, const smma_instruction *instruction) {
  smma_covered *covered;
  smma_campaign_rows numbered = {0};
  smma_rows rows;
  smma_error error;
  const smma_operation o = smma_operation_of(instruction);
  uint64_t *d = malloc(BATCH * sizeof *d);
  if (!smma_coverage_of(&r->coverage, instruction, &covered, &error)) smma_die("%s", error.text);
  if (!d || !smma_rows_allocate(instruction, BATCH, &rows) ||
      !smma_campaign_rows_of(&campaign->recipe, instruction, &numbered))
    smma_die("out of memory");
  for (uint64_t first = 0; first < campaign->rows; first += BATCH) {
    const size_t count = campaign->rows - first < BATCH ? (size_t)(campaign->rows - first) : BATCH;
    smma_campaign_rows_fill(&numbered, first, count, &rows);
    if (campaign->unit && !smma_unit_ask(campaign->unit, &rows, 0, count, NULL, &error))
      smma_die("--unit: %s", error.text);
    if (!smma_count_events(&covered->space, &rows, count, covered->hits, d)) smma_die("out of memory");
    for (size_t n = 0; campaign->unit && n < count; n++)
      r->totals.mismatches += !smma_same_result(&o, d[n], smma_rows_result(&rows, n));
    covered->rows += count;
    smma_progress_show(&r->progress, first + count, campaign->rows);
  }
  free(d);
  smma_campaign_rows_free(&numbered);
  smma_rows_free(&rows);
}

/* ---- The search for what is missing ---- */

static bool show_search(uint64_t tries, size_t events, void *context) {
  smma_progress_show(context, tries, 0);
  (void)events;
  return smma_interrupted();
}

static void search(run *r, uint64_t tries, uint64_t seed) {
  for (size_t n = 0; n < r->coverage.count; n++) {
    smma_covered *c = &r->coverage.one[n];
    smma_cover cover;
    if (!smma_cover_find(&c->space, c->instruction, seed, tries, show_search, &r->progress, &cover))
      smma_die("out of memory");
    c->tried = cover.tries;
    c->found = cover.reached;
    cover.reached = NULL;
    smma_cover_free(&cover);
  }
}

static void write_file(const run *r, const char *path, const char *option,
                       void (*write)(const smma_coverage *, FILE *)) {
  smma_output output;
  if (!path) return;
  smma_begin_output(path, option, &output);
  write(&r->coverage, output.stream);
  if (smma_end_output(&output, option) != SMMA_EXIT_EQUAL) exit(SMMA_EXIT_FAILED);
}

int smma_command_coverage(int argc, const char **argv) {
  const char *gpu = NULL, *name = NULL, *unit_name = NULL, *kind_name = NULL, *path = NULL, *page = NULL;
  long long rows = DEFAULT_ROWS, seed = 0, tries = 0, most = 20;
  int json = 0;
  run r = {.totals = {0}};
  smma_unit unit;
  smma_error error;
  const char **files;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &gpu, 0, "instead of files: rows for this GPU or architecture", "GPU"},
      {"instr", 0, POPT_ARG_STRING, &name, 0, "and this instruction, by name or alias", "NAME"},
      {"unit", 'u', POPT_ARG_STRING, &unit_name, 0, "what computes them, too, as in campaign", "UNIT"},
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &rows, 0, "how many", "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      SMMA_KIND_OPTION(&kind_name),
      {"search", 0, POPT_ARG_LONGLONG, &tries, 0, "look for rows that make happen what is missing, among so many", "N"},
      {"show", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &most, 0, "how many missed events to list", "N"},
      {"output", 'o', POPT_ARG_STRING, &path, 0, "keep the counts in this file; coverage of several merges them",
       "FILE"},
      {"html", 0, POPT_ARG_STRING, &page, 0, "write a page, each event a square", "FILE"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON, every event", NULL},
      POPT_TABLEEND};
  files = smma_parse_options(
      argc, argv, options, 0, 1 << 20,
      "What rows make happen in a rule's arithmetic: classes of operands, gaps between terms, what\n"
      "alignment cuts, carries, cancellation, rounding, overflow, special values. FILE: vector files,\n"
      "and counts that -o kept, which are added. Exit status 1: a result is not the model's.\n"
      "Example: softmma coverage --on H100 --instr mma.m16n8k16.f32.f16.f16.f32 --search 1000000\n");
  if (rows < 0) smma_die("--rows: %lld is negative", rows);
  if (tries < 0) smma_die("--search: %lld is negative", tries);
  if (most < 0) smma_die("--show: %lld is negative", most);
  if (*files && (gpu || name || unit_name || kind_name)) smma_die("give files, or --on and --instr, not both");
  if (path) smma_require_writable(path, "--output");
  if (page) smma_require_writable(page, "--html");
  if (!*files && !gpu) smma_die("give FILE, or --on and --instr, as in --on H100 --instr HMMA.16816.F32");
  smma_progress_start(&r.progress, "rows", 1);
  if (!*files) {
    const smma_instruction *i = smma_require_instruction(gpu, name, "--instr");
    smma_campaign campaign = {.rows = (uint64_t)rows, .recipe = smma_require_recipe(kind_name, seed)};
    if (unit_name && (!smma_unit_open(unit_name, &unit, &error) || !smma_unit_computes(&unit, i, &error)))
      smma_die("--unit: %s", error.text);
    if (unit_name) campaign.unit = &unit;
    add_campaign(&r, &campaign, i);
    if (unit_name) smma_unit_close(&unit);
  }
  for (; *files; files++) add_file(&r, *files);
  if (tries) search(&r, (uint64_t)tries, (uint64_t)seed);
  smma_progress_end();
  write_file(&r, path, "--output", smma_coverage_write);
  write_file(&r, page, "--html", smma_coverage_html);
  if (json)
    smma_print_json(smma_coverage_json(&r.coverage));
  else
    smma_coverage_print(&r.coverage, most);
  smma_coverage_free(&r.coverage);
  if (r.totals.mismatches)
    smma_note("%llu results are not the model's; softmma verify and campaign say which", r.totals.mismatches);
  return smma_finish_output(r.totals.mismatches ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}
