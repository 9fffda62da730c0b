/* Runs a campaign: chooses the instructions, compares them in turn, and sorts their mismatches into classes. */
#include <math.h>
#include <stdlib.h>

#include "classes/kept.h"
#include "host/clock.h"
#include "isa/find.h"
#include "report/report.h"

/* Saving may wait for the disk, so it takes at most a twentieth of the time. */
static const double seconds_between_saves = 0.2, share_of_saves = 20;

/* Maximum number of rows sent to the units while an instruction's mismatches are sorted; after that no counterexample
   is minimised further. */
enum { MOST_ASKED = 1000000 };

/* ---- Choice of instructions ---- */

/* Removes the instructions that one of the units does not compute. `*why` receives the reason for the last removal. */
static size_t keep_computed(const smma_campaign *c, const smma_instruction **list, size_t count, smma_error *why) {
  size_t kept = 0;
  for (size_t n = 0; n < count; n++)
    if (smma_unit_computes(c->unit, list[n], why) && smma_unit_computes(c->against, list[n], why))
      list[kept++] = list[n];
  return kept;
}

static size_t list_all(const char *gpu, const smma_instruction **list) {
  const smma_arch_id arch = gpu ? smma_find_arch(gpu) : SMMA_ARCH_COUNT;
  const char *prefixes = smma_prefixes_of(gpu);
  size_t count = 0;
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) {
    const smma_instruction_table *table = smma_architectures[a].table;
    if (gpu ? a != (int)arch : !smma_architectures[a].listed) continue;
    for (size_t n = 0; n < table->count; n++)
      if (smma_has_a_prefix(table->row[n].name, prefixes)) list[count++] = &table->row[n];
  }
  return count;
}

bool smma_report_choose(smma_report *r, const smma_campaign *c, const char *gpu, const smma_instruction *only,
                        smma_error *error) {
  const smma_instruction **list = calloc(smma_catalogue_count(), sizeof *list);
  smma_error why = {SMMA_OK, ""};
  size_t count = 1;
  bool good;
  *r = (smma_report){0};
  if (!list) return smma_no_memory(error);
  if (only)
    list[0] = only;
  else
    count = list_all(gpu, list);
  count = keep_computed(c, list, count, &why);
  good =
      count ? smma_report_start(r, c, list, count, error) : smma_fail(error, "no instruction to compare: %s", why.text);
  free(list);
  return good;
}

/* ---- Comparing ---- */

typedef struct {
  smma_report *report;
  const smma_report_watcher *watcher;
  size_t at;             /* the current instruction */
  uint64_t done, all;    /* rows */
  double saved, seconds; /* time of the last save, and its duration */
  bool failed;           /* saving failed; `error` has the reason */
  smma_error error;
} work;

static bool save(work *w) {
  const double before = smma_seconds();
  if (w->watcher->save && !w->watcher->save(w->report, w->watcher->context, &w->error)) w->failed = true;
  w->saved = smma_seconds();
  w->seconds = w->saved - before;
  return !w->failed;
}

static bool watch(const smma_campaign_result *result, void *context) {
  work *w = context;
  smma_campaign_result *known = &w->report->results[w->at].result;
  bool stops;
  w->done += result->rows - known->rows;
  *known = *result;
  stops = w->watcher->watch && w->watcher->watch(w->done, w->all, w->watcher->context);
  if (smma_seconds() - w->saved > fmax(seconds_between_saves, share_of_saves * w->seconds)) stops |= !save(w);
  return stops;
}

bool smma_report_run(smma_report *r, const smma_report_watcher *watcher, bool *stopped, smma_error *error) {
  work w = {.report = r, .watcher = watcher, .saved = smma_seconds()};
  smma_campaign c = *r->campaign;
  smma_campaign_rows numbered = {0};
  bool good = true;
  *stopped = false;
  for (size_t n = 0; n < r->count; n++) {
    const smma_share share = smma_report_share(r, n);
    w.all += smma_share_rows(&share, c.rows);
    w.done += r->results[n].result.rows;
  }
  for (w.at = 0; good && w.at < r->count && !*stopped; w.at++) {
    smma_campaign_result result = r->results[w.at].result;
    c.share = smma_report_share(r, w.at);
    good = smma_campaign_run(&c, r->results[w.at].instruction, watch, &w, &numbered, &result, stopped, error);
  }
  smma_campaign_rows_free(&numbered);
  if (good) {
    r->complete = !*stopped;
    smma_report_settle(r);
  }
  if (!w.failed) save(&w);
  if (w.failed) smma_fail(error, "%s", w.error.text);
  return good && !w.failed;
}

static void watch_sorting(size_t asked, void *context) {
  const smma_report_watcher *watcher = context;
  watcher->watch(asked, 0, watcher->context);
}

bool smma_report_classify(smma_report *r, const smma_report_watcher *watcher, smma_error *error) {
  const smma_class_watcher sorting = {watcher ? watch_sorting : NULL, (void *)watcher};
  int sorted = 0;
  for (size_t n = 0; n < r->count && sorted < SMMA_MOST_CLASSIFIED; n++) {
    smma_report_result *x = &r->results[n];
    smma_error why;
    if (!x->kept.count || x->result.not_repeated) continue;
    x->classes = malloc(sizeof *x->classes);
    if (!x->classes) return smma_no_memory(error);
    if (!smma_classify_kept(r->campaign, x->instruction, &x->result, x->classes, &x->agreeing_again, MOST_ASKED,
                            &sorting, &why))
      return smma_fail(error, "%s; while mismatches were sorted into classes", why.text);
    sorted++;
  }
  return true;
}

bool smma_report_is_clean(const smma_campaign_result *r) { return !r->mismatches && !r->not_repeated && !r->not_alike; }

smma_report_totals smma_report_sum(const smma_report *r) {
  smma_report_totals t = {.is_clean = true};
  for (size_t n = 0; n < r->count; n++) {
    const smma_campaign_result *x = &r->results[n].result;
    t.rows += x->rows;
    t.mismatches += x->mismatches;
    t.instructions += x->rows > 0;
    t.is_clean &= smma_report_is_clean(x);
  }
  return t;
}
