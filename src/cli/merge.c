#include "cli/merge.h"

#include <stdlib.h>
#include <string.h>

#include "io/custom_file.h"
#include "io/file.h"

/* ---- One file ---- */

static bool take_text(const json_t *object, const char *key, char *to, size_t size) {
  const char *text = json_string_value(json_object_get(object, key));
  if (!text || strlen(text) >= size) return false;
  strcpy(to, text);
  return true;
}

static bool take_unit(const json_t *object, smma_unit *u) {
  smma_unit_description *d = &u->description;
  return take_text(object, "name", u->name, sizeof u->name) &&
         take_text(object, "device", d->device, sizeof d->device) &&
         take_text(object, "driver", d->driver, sizeof d->driver) &&
         take_text(object, "toolkit", d->toolkit, sizeof d->toolkit);
}

static bool take_kind(const json_t *file, smma_campaign *c) {
  const char *text = json_string_value(json_object_get(file, "kind"));
  if (!text) return false;
  c->recipe = smma_campaign_best(0);
  if (strcmp(text, "cover") != 0) c->recipe = (smma_campaign_recipe){.kind = smma_row_kind_from_text(text)};
  return c->recipe.kind != SMMA_ROWS_KINDS;
}

/* The instructions of the entries, in their order. */
static bool take_instructions(const json_t *entries, const char *path, smma_read_report *r, smma_error *error) {
  const size_t count = json_array_size(entries);
  const smma_instruction **list = calloc(count + 1, sizeof *list);
  const json_t *entry;
  size_t n;
  bool good = list || smma_no_memory(error);
  json_array_foreach(entries, n, entry) {
    const char *arch = json_string_value(json_object_get(entry, "arch"));
    const char *name = json_string_value(json_object_get(entry, "instr"));
    smma_error why = {SMMA_FAILED, "an entry without arch and instr"};
    if (!good) break;
    list[n] = arch && name ? smma_resolve_instruction(arch, name, &why) : NULL;
    if (!list[n]) good = smma_fail(error, "%s: %s", path, why.text);
  }
  if (good) smma_report_start(&r->report, &r->campaign, list, count);
  free(list);
  return good;
}

static bool take_file(const json_t *file, const char *path, smma_read_report *r, smma_error *error) {
  const json_t *seed = json_object_get(file, "seed");
  smma_share shard;
  char version[64];
  if (!json_object_get(file, "shard"))
    return smma_fail(error, "%s is no shard's report: those are written by campaign --shard", path);
  if (!take_text(file, "softmma", version, sizeof version) || strcmp(version, smma_version()) != 0)
    return smma_fail(error, "%s is not of this version, %s; its own merges it", path, smma_version());
  if (!take_unit(json_object_get(file, "unit"), &r->unit) ||
      !take_unit(json_object_get(file, "against"), &r->against) || !json_is_integer(seed) ||
      !smma_report_read_count(file, "rows", &r->campaign.rows) || !take_kind(file, &r->campaign) ||
      !smma_report_read_shard(json_object_get(file, "shard"), &shard))
    return smma_fail(error, "%s: unit, against, seed, rows, kind or shard is not a campaign's: it was changed or cut",
                     path);
  r->campaign.recipe.seed = (uint64_t)json_integer_value(seed);
  if (!take_instructions(json_object_get(file, "instructions"), path, r, error)) return false;
  r->report.shard = shard;
  r->report.complete = json_is_true(json_object_get(file, "complete"));
  if (!take_text(file, "date", r->report.started, sizeof r->report.started))
    return smma_fail(error, "%s: it has no date: it was changed or cut", path);
  return smma_report_take(&r->report, file, path, error);
}

smma_read_report *smma_read_shard_report(const char *path, smma_error *error) {
  smma_read_report *r = calloc(1, sizeof *r);
  json_t *file = smma_report_parse(path, error);
  bool good = false;
  if (file && !r) smma_no_memory(error);
  if (file && r) {
    r->campaign.unit = &r->unit, r->campaign.against = &r->against;
    good = take_file(file, path, r, error);
  }
  json_decref(file);
  if (good) return r;
  smma_read_report_free(r);
  return NULL;
}

void smma_read_report_free(smma_read_report *r) {
  if (r) smma_report_free(&r->report);
  free(r);
}

/* ---- Several ---- */

static bool same_unit(const smma_unit *x, const smma_unit *y) {
  return strcmp(x->name, y->name) == 0 && strcmp(x->description.device, y->description.device) == 0 &&
         strcmp(x->description.driver, y->description.driver) == 0 &&
         strcmp(x->description.toolkit, y->description.toolkit) == 0;
}

static bool same_instructions(const smma_report *x, const smma_report *y) {
  for (size_t n = 0; n < x->count && n < y->count; n++)
    if (x->results[n].instruction != y->results[n].instruction) return false;
  return x->count == y->count;
}

/* What the two have otherwise; NULL: they are of one campaign. */
static const char *difference_of(const smma_read_report *x, const smma_read_report *y) {
  const smma_campaign *c = &x->campaign, *d = &y->campaign;
  return !same_unit(&x->unit, &y->unit)                                             ? "unit, device or driver"
         : !same_unit(&x->against, &y->against)                                     ? "unit to compare with"
         : c->recipe.seed != d->recipe.seed                                         ? "seed"
         : c->rows != d->rows                                                       ? "number of rows"
         : c->recipe.covers != d->recipe.covers || c->recipe.kind != d->recipe.kind ? "kind of rows"
         : x->report.shard.count != y->report.shard.count                           ? "number of shards"
         : x->report.shard.part != y->report.shard.part                             ? "size of parts"
         : !same_instructions(&x->report, &y->report)                               ? "choice of instructions"
                                                                                    : NULL;
}

/* Which file has each shard; all have one, and only one. */
static bool all_there(smma_read_report *const *list, const char *const *path, size_t count, smma_error *error) {
  const size_t of = (size_t)list[0]->report.shard.count;
  const char **from = calloc(of, sizeof *from);
  bool good = from || smma_no_memory(error);
  for (size_t f = 0; good && f < count; f++) {
    const smma_share *s = &list[f]->report.shard;
    if (from[s->index])
      good = smma_fail(error, "%s and %s are both shard %zu of %zu; give one of them", from[s->index], path[f],
                       (size_t)s->index + 1, of);
    from[s->index] = path[f];
  }
  for (size_t n = 0; good && n < of; n++)
    if (!from[n]) good = smma_fail(error, "shard %zu of %zu is missing; give its file, too", n + 1, of);
  free(from);
  return good;
}

/* Each shard has all of its rows; of a recording there may be fewer than were asked for, of all instructions as many.
 */
static bool whole_rows(smma_read_report *const *list, const char *const *path, size_t count, smma_error *error) {
  for (size_t n = 0; n < list[0]->report.count; n++) {
    uint64_t rows = 0;
    for (size_t f = 0; f < count; f++) rows += list[f]->report.results[n].result.rows;
    for (size_t f = 0; f < count; f++) {
      const smma_report *r = &list[f]->report;
      const smma_share share = smma_report_share(r, n);
      if (r->complete && r->results[n].result.rows == smma_share_rows(&share, rows)) continue;
      return smma_fail(error, "%s has not all rows of its shard; the campaign's command with --resume goes on",
                       path[f]);
    }
  }
  return true;
}

bool smma_merge_reports(smma_read_report *const *list, const char *const *path, size_t count, smma_error *error) {
  smma_report *whole = &list[0]->report;
  for (size_t f = 1; f < count; f++) {
    const char *what = difference_of(list[0], list[f]);
    if (what)
      return smma_fail(error, "%s has another %s than %s: they are not of one campaign", path[f], what, path[0]);
  }
  if (!all_there(list, path, count, error) || !whole_rows(list, path, count, error)) return false;
  whole->shard.count = 0;
  for (size_t f = 1; f < count; f++)
    if (!smma_report_add(whole, &list[f]->report)) return smma_no_memory(error);
  smma_report_settle(whole);
  return true;
}
