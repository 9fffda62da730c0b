#include "report/merge.h"

#include <stdlib.h>
#include <string.h>

#include "io/custom_file.h"

/* ---- Reading one report ---- */

static bool take_text(const smma_datum *record, const char *key, char *to, size_t size) {
  const char *text = smma_datum_text_of(smma_datum_get(record, key));
  if (!text || strlen(text) >= size) return false;
  strcpy(to, text);
  return true;
}

static bool take_recipe(const smma_datum *data, smma_campaign *c) {
  const smma_datum *seed = smma_datum_get(data, "seed");
  const char *kind = smma_datum_text_of(smma_datum_get(data, "kind"));
  if (!kind || smma_datum_kind_of(seed) != SMMA_DATUM_COUNT) return false;
  c->recipe = smma_campaign_best(0);
  if (strcmp(kind, "cover") != 0) c->recipe = (smma_campaign_recipe){.kind = smma_row_kind_from_text(kind)};
  c->recipe.seed = (uint64_t)smma_datum_integer_of(seed);
  return c->recipe.kind != SMMA_ROWS_KINDS;
}

/* Reads the instructions of the entries, in their order. */
static bool take_instructions(const smma_datum *entries, const char *origin, smma_read_report *r, smma_error *error) {
  const size_t count = smma_datum_size(entries);
  const smma_instruction **list = calloc(count + 1, sizeof *list);
  bool good = list || smma_no_memory(error);
  for (size_t n = 0; good && n < count; n++) {
    const smma_datum *entry = smma_datum_at(entries, n);
    const char *arch = smma_datum_text_of(smma_datum_get(entry, "arch"));
    const char *name = smma_datum_text_of(smma_datum_get(entry, "instr"));
    smma_error why = {SMMA_FAILED, "an entry without arch and instr"};
    list[n] = arch && name ? smma_resolve_instruction(arch, name, &why) : NULL;
    if (!list[n]) good = smma_fail(error, "%s: %s", origin, why.text);
  }
  good = good && smma_report_start(&r->report, &r->campaign, list, count, error);
  free(list);
  return good;
}

static bool take_data(const smma_datum *data, const char *origin, smma_read_report *r, smma_error *error) {
  smma_share shard;
  char version[64];
  if (!smma_datum_get(data, "shard"))
    return smma_fail(error, "%s is no shard's report: those are written by 'softmma test --shard'", origin);
  if (!take_text(data, "softmma", version, sizeof version) || strcmp(version, smma_version()) != 0)
    return smma_fail(error, "%s is not of this version, %s; its own merges it", origin, smma_version());
  if (!smma_unit_read(smma_datum_get(data, "unit"), &r->unit) ||
      !smma_unit_read(smma_datum_get(data, "against"), &r->against) ||
      !smma_datum_count_of(smma_datum_get(data, "rows"), &r->campaign.rows) || !take_recipe(data, &r->campaign) ||
      !smma_report_read_shard(smma_datum_get(data, "shard"), &shard))
    return smma_fail(
        error, "%s: unit, against, seed, rows, kind or shard is not a campaign's: it was changed or truncated", origin);
  if (!take_instructions(smma_datum_get(data, "instructions"), origin, r, error)) return false;
  r->report.shard = shard;
  r->report.complete = smma_datum_flag_of(smma_datum_get(data, "complete"));
  if (!take_text(data, "date", r->report.started, sizeof r->report.started))
    return smma_fail(error, "%s: it has no date: it was changed or truncated", origin);
  return smma_report_take(&r->report, data, origin, error);
}

smma_read_report *smma_read_shard_report(const smma_datum *data, const char *origin, smma_error *error) {
  smma_read_report *r = calloc(1, sizeof *r);
  smma_datum *own = r && !data ? smma_report_parse(origin, error) : NULL;
  bool good = false;
  if (!r) return smma_no_memory(error), NULL;
  r->campaign.unit = &r->unit, r->campaign.against = &r->against;
  if (data || own) good = take_data(data ? data : own, origin, r, error);
  smma_datum_free(own);
  if (good) return r;
  smma_read_report_free(r);
  return NULL;
}

void smma_read_report_free(smma_read_report *r) {
  if (r) smma_report_free(&r->report);
  free(r);
}

/* ---- Merging several reports ---- */

static bool same_instructions(const smma_report *x, const smma_report *y) {
  for (size_t n = 0; n < x->count && n < y->count; n++)
    if (x->results[n].instruction != y->results[n].instruction) return false;
  return x->count == y->count;
}

/* Returns the first difference between the campaigns of two reports, or NULL if they are the same campaign. */
static const char *difference_of(const smma_read_report *x, const smma_read_report *y) {
  const smma_campaign *c = &x->campaign, *d = &y->campaign;
  return smma_unit_changed(&x->unit, &y->unit)                                      ? "unit, device, driver or file"
         : smma_unit_changed(&x->against, &y->against)                              ? "unit to compare with"
         : c->recipe.seed != d->recipe.seed                                         ? "seed"
         : c->rows != d->rows                                                       ? "number of rows"
         : c->recipe.covers != d->recipe.covers || c->recipe.kind != d->recipe.kind ? "kind of rows"
         : x->report.shard.count != y->report.shard.count                           ? "number of shards"
         : x->report.shard.part != y->report.shard.part                             ? "size of parts"
         : !same_instructions(&x->report, &y->report)                               ? "choice of instructions"
                                                                                    : NULL;
}

/* Finds the file of each shard; reports whether every shard is present exactly once. */
static bool all_there(smma_read_report *const *list, const char *const *origin, size_t count, smma_error *error) {
  const size_t of = (size_t)list[0]->report.shard.count;
  const char **from = calloc(of, sizeof *from);
  bool good = from || smma_no_memory(error);
  for (size_t f = 0; good && f < count; f++) {
    const smma_share *s = &list[f]->report.shard;
    if (from[s->index])
      good = smma_fail(error, "%s and %s are both shard %zu of %zu; give one of them", from[s->index], origin[f],
                       (size_t)s->index + 1, of);
    from[s->index] = origin[f];
  }
  for (size_t n = 0; good && n < of; n++)
    if (!from[n]) good = smma_fail(error, "shard %zu of %zu is missing; give its file, too", n + 1, of);
  free(from);
  return good;
}

/* Reports whether each shard has all of its rows. A recording may have fewer rows than were requested, but then the
   same number for all instructions. */
static bool whole_rows(smma_read_report *const *list, const char *const *origin, size_t count, smma_error *error) {
  for (size_t n = 0; n < list[0]->report.count; n++) {
    uint64_t rows = 0;
    for (size_t f = 0; f < count; f++) rows += list[f]->report.results[n].result.rows;
    for (size_t f = 0; f < count; f++) {
      const smma_report *r = &list[f]->report;
      const smma_share share = smma_report_share(r, n);
      if (r->complete && r->results[n].result.rows == smma_share_rows(&share, rows)) continue;
      return smma_fail(error, "%s has not all rows of its shard; the campaign's command with --resume goes on",
                       origin[f]);
    }
  }
  return true;
}

bool smma_merge_reports(smma_read_report *const *list, const char *const *origin, size_t count, smma_error *error) {
  smma_report *whole = &list[0]->report;
  for (size_t f = 1; f < count; f++) {
    const char *what = difference_of(list[0], list[f]);
    if (what)
      return smma_fail(error, "%s has another %s than %s: they are not of one campaign", origin[f], what, origin[0]);
  }
  if (!all_there(list, origin, count, error) || !whole_rows(list, origin, count, error)) return false;
  whole->shard.count = 0;
  for (size_t f = 1; f < count; f++)
    if (!smma_report_add(whole, &list[f]->report, error)) return false;
  smma_report_settle(whole);
  return true;
}
