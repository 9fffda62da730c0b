#include "report/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/clock.h"
#include "io/count.h"
#include "io/file.h"
#include "rows/check.h"
#include "rows/datum.h"

enum { LARGEST_REPORT = 1 << 28 /* thousands of instructions, each with an example and retained rows */ };

bool smma_report_start(smma_report *r, const smma_campaign *campaign, const smma_instruction *const *list, size_t count,
                       smma_error *error) {
  *r = (smma_report){.campaign = campaign};
  r->results = calloc(count + 1, sizeof *r->results);
  if (!r->results) return smma_no_memory(error);
  r->count = count;
  for (size_t i = 0; i < count; i++) {
    r->results[i].instruction = list[i];
    r->results[i].result.kept = &r->results[i].kept;
  }
  smma_utc_text(r->started);
  return true;
}

bool smma_report_start_like(smma_report *r, const smma_report *other, smma_error *error) {
  const smma_instruction **list = malloc((other->count + 1) * sizeof *list);
  bool good;
  *r = (smma_report){0};
  if (!list) return smma_no_memory(error);
  for (size_t n = 0; n < other->count; n++) list[n] = other->results[n].instruction;
  good = smma_report_start(r, other->campaign, list, other->count, error);
  free(list);
  return good;
}

void smma_report_free(smma_report *r) {
  for (size_t i = 0; i < r->count; i++) {
    smma_sample_free(&r->results[i].kept);
    free(r->results[i].classes);
  }
  free(r->results);
  *r = (smma_report){0};
}

void smma_report_set_shard(smma_report *r, uint64_t index, uint64_t count) {
  r->shard = (smma_share){index, count, smma_campaign_part(r->campaign)};
}

smma_share smma_report_share(const smma_report *r, size_t n) {
  const smma_share s = r->shard;
  if (!s.count) return (smma_share){0, 1, smma_campaign_part(r->campaign)};
  return (smma_share){(s.index + s.count - n % s.count) % s.count, s.count, s.part};
}

static bool add_result(smma_report_result *to, const smma_report_result *from) {
  smma_campaign_result *t = &to->result;
  const smma_campaign_result *f = &from->result;
  if (f->has_example && (!t->has_example || f->first < t->first)) {
    t->has_example = true;
    t->first = f->first, t->example = f->example, t->expected = f->expected;
  }
  t->rows += f->rows, t->mismatches += f->mismatches;
  t->not_repeated += f->not_repeated, t->not_alike += f->not_alike;
  t->checked |= f->checked;
  return smma_sample_merge(&to->kept, &from->kept);
}

bool smma_report_add(smma_report *whole, const smma_report *part, smma_error *error) {
  if (strcmp(part->started, whole->started) < 0) strcpy(whole->started, part->started);
  for (size_t n = 0; n < whole->count; n++)
    if (!add_result(&whole->results[n], &part->results[n])) return smma_no_memory(error);
  return true;
}

void smma_report_settle(smma_report *r) {
  for (size_t n = 0; n < r->count; n++) smma_sample_settle(&r->results[n].kept);
}

/* ---- Writing ---- */

static smma_datum *example_datum(const smma_report_result *r) {
  const smma_instruction *i = r->instruction;
  smma_datum *d;
  if (!r->result.has_example) return smma_datum_null();
  d = smma_datum_record();
  smma_put_count(d, "row", r->result.first);
  smma_put_operands(d, i, &r->result.example);
  smma_datum_put(d, "unit", smma_encodings_datum(i->d, &r->result.example.d, 1));
  smma_datum_put(d, "against", smma_encodings_datum(i->d, &r->result.expected, 1));
  return d;
}

/* Returns the sampled rows, with one entry for each sort of mismatch. The row numbers of an entry are joined into one
   string, because there can be many. */
static smma_datum *kept_datum(const smma_sample *kept) {
  smma_datum *list = smma_datum_list();
  for (size_t n = 0; n < kept->count; n++) {
    const smma_sort *s = &kept->sort[n];
    smma_datum *entry = smma_datum_record();
    char text[SMMA_KEPT_OF_SORT * 21 + 1] = "";
    for (int i = 0; i < s->kept; i++)
      smma_append_text(text, sizeof text, "%s%llu", i ? " " : "", (unsigned long long)s->row[i]);
    smma_put_count(entry, "sort", (uint64_t)s->sort);
    smma_put_count(entry, "mismatches", s->count);
    smma_put_text(entry, "rows", text);
    smma_datum_append(list, entry);
  }
  return list;
}

smma_class_words smma_report_class_words(const smma_report *report, const smma_report_result *r) {
  return (smma_class_words){.instruction = r->instruction,
                            .unit = report->campaign->unit->name,
                            .against = report->campaign->against->name,
                            .mismatches = r->result.mismatches,
                            .agreeing_again = r->agreeing_again};
}

/* Returns how many mismatches are between two NaNs; null if the report holds only a sample of the mismatches. */
static smma_datum *nan_datum(const smma_report_result *r) {
  if (smma_sample_mismatches(&r->kept) != r->result.mismatches) return smma_datum_null();
  return smma_datum_count((int64_t)smma_sample_nan(&r->kept));
}

static smma_datum *result_datum(const smma_report *report, const smma_report_result *r) {
  const smma_class_words words = smma_report_class_words(report, r);
  smma_datum *d = smma_datum_record();
  smma_put_text(d, "arch", smma_arch_name(r->instruction));
  smma_put_text(d, "instr", r->instruction->name);
  smma_put_count(d, "rows", r->result.rows);
  smma_put_count(d, "mismatches", r->result.mismatches);
  smma_put_flag(d, "checked", r->result.checked);
  smma_put_count(d, "not_repeated", r->result.not_repeated);
  smma_put_count(d, "not_alike", r->result.not_alike);
  smma_datum_put(d, "example", example_datum(r));
  if (r->result.mismatches) smma_datum_put(d, "nan", nan_datum(r));
  if (r->kept.count) smma_datum_put(d, "kept", kept_datum(&r->kept));
  if (r->classes) smma_datum_put(d, "classes", smma_classes_datum(r->classes, &words));
  return d;
}

static const char *kind_text(const smma_campaign *c) {
  return c->recipe.covers ? "cover" : smma_row_kind_text(c->recipe.kind);
}

static smma_datum *shard_datum(const smma_share *s) {
  smma_datum *d = smma_datum_record();
  smma_put_count(d, "index", s->index + 1);
  smma_put_count(d, "of", s->count);
  smma_put_count(d, "part", s->part);
  return d;
}

smma_datum *smma_report_datum(const smma_report *r) {
  const smma_campaign *c = r->campaign;
  smma_datum *d = smma_datum_record(), *instructions = smma_datum_list();
  for (size_t i = 0; i < r->count; i++)
    if (r->results[i].result.rows || r->shard.count) smma_datum_append(instructions, result_datum(r, &r->results[i]));
  smma_put_text(d, "softmma", smma_version());
  smma_put_text(d, "date", r->started);
  smma_datum_put(d, "unit", smma_unit_datum(c->unit));
  smma_datum_put(d, "against", smma_unit_datum(c->against));
  smma_put_count(d, "seed", c->recipe.seed);
  smma_put_count(d, "rows", c->rows);
  smma_put_text(d, "kind", kind_text(c));
  if (r->shard.count) smma_datum_put(d, "shard", shard_datum(&r->shard));
  smma_put_flag(d, "complete", r->complete);
  smma_datum_put(d, "instructions", instructions);
  smma_put_count(d, "softmma-report", SMMA_REPORT_FORM);
  return d;
}

bool smma_report_save(const smma_report *r, const char *path, smma_error *error) {
  smma_output output;
  smma_datum *d;
  bool written;
  if (!smma_output_open(path, &output, error)) return false;
  d = smma_report_datum(r);
  written = smma_datum_is_complete(d) && smma_datum_write(d, output.stream, 1);
  smma_datum_free(d);
  if (written && putc('\n', output.stream) != EOF) return smma_output_commit(&output, error);
  smma_output_abandon(&output);
  return smma_fail(error, "%s: cannot be written", path);
}

/* ---- Reading ---- */

static bool get_count(const smma_datum *record, const char *key, uint64_t *count) {
  return smma_datum_count_of(smma_datum_get(record, key), count);
}

static const char *get_text(const smma_datum *record, const char *key) {
  return smma_datum_text_of(smma_datum_get(record, key));
}

static bool is_list(const smma_datum *d) { return smma_datum_kind_of(d) == SMMA_DATUM_LIST; }

static bool read_example(const smma_datum *d, const smma_instruction *i, smma_campaign_result *r) {
  r->has_example = smma_datum_kind_of(d) != SMMA_DATUM_NULL;
  if (!r->has_example) return true;
  return get_count(d, "row", &r->first) && smma_get_operands(d, i, &r->example) &&
         smma_encodings_read(smma_datum_get(d, "unit"), i->d, 1, &r->example.d) &&
         smma_encodings_read(smma_datum_get(d, "against"), i->d, 1, &r->expected);
}

/* Reports whether the row is among the first `rows` rows of the share. */
static bool is_among(const smma_share *share, uint64_t rows, uint64_t row) {
  return smma_share_has(share, row) && smma_share_rows(share, row) < rows;
}

/* Reads row numbers "5 17 1009", each among the first `rows` rows of the share. */
static bool read_rows(const char *text, const smma_share *share, uint64_t rows, smma_sort *s) {
  while (text && *text) {
    char *end;
    if (*text < '0' || *text > '9' || s->kept == SMMA_KEPT_OF_SORT) return false;
    s->row[s->kept] = strtoull(text, &end, 10);
    if (!is_among(share, rows, s->row[s->kept++]) || (*end && *end != ' ')) return false;
    text = *end ? end + 1 : end;
  }
  return s->kept > 0;
}

/* Reads the sampled rows. The list may be missing, because earlier versions of reports had no sample. */
static bool read_kept(const smma_datum *list, const smma_share *share, const smma_campaign_result *r,
                      smma_sample *kept) {
  uint64_t all = 0;
  if (list && !is_list(list)) return false;
  for (size_t n = 0; n < smma_datum_size(list); n++) {
    const smma_datum *entry = smma_datum_at(list, n);
    uint64_t sort, count;
    smma_sort *s;
    if (!get_count(entry, "sort", &sort) || !get_count(entry, "mismatches", &count) || sort >= SMMA_SORTS) return false;
    s = smma_sample_add_sort(kept, (int)sort);
    if (!s || !read_rows(get_text(entry, "rows"), share, r->rows, s)) return false;
    s->count = count;
    if (count < (uint64_t)s->kept || count > r->mismatches - all) return false;
    all += count;
  }
  return true;
}

/* Reports whether these numbers can be those of a campaign. Unless it is a shard, it has rows of every instruction. If
   the share contains the first batch, this batch was checked. There is an example if and only if there are mismatches,
   and its two results differ. */
static bool is_possible(const smma_campaign_result *r, const smma_instruction *i, const smma_share *share,
                        uint64_t most_rows) {
  const smma_operation o = smma_operation_of(i);
  if (r->rows > smma_share_rows(share, most_rows) || r->mismatches > r->rows) return false;
  if (r->rows < 1 && share->count < 2) return false;
  if (r->checked != (r->rows > 0 && smma_share_has(share, 0)) || r->has_example != (r->mismatches > 0)) return false;
  if (!r->checked && (r->not_repeated || r->not_alike)) return false;
  return !r->has_example || (is_among(share, r->rows, r->first) && !smma_same_result(&o, r->expected, r->example.d));
}

static bool read_result(const smma_datum *d, const smma_instruction *i, const smma_share *share, uint64_t most_rows,
                        smma_campaign_result *r) {
  r->checked = smma_datum_flag_of(smma_datum_get(d, "checked"));
  return get_count(d, "rows", &r->rows) && get_count(d, "mismatches", &r->mismatches) &&
         get_count(d, "not_repeated", &r->not_repeated) && get_count(d, "not_alike", &r->not_alike) &&
         read_example(smma_datum_get(d, "example"), i, r) && is_possible(r, i, share, most_rows);
}

static smma_report_result *find_result(smma_report *r, const char *arch, const char *name) {
  for (size_t i = 0; arch && name && i < r->count; i++) {
    const smma_instruction *x = r->results[i].instruction;
    if (strcmp(name, x->name) == 0 && strcmp(arch, smma_arch_name(x)) == 0) return &r->results[i];
  }
  return NULL;
}

static bool is_text(const char *text, const char *wanted) { return text && strcmp(text, wanted) == 0; }

bool smma_report_read_shard(const smma_datum *d, smma_share *s) {
  if (!get_count(d, "index", &s->index) || !get_count(d, "of", &s->count) || !get_count(d, "part", &s->part))
    return false;
  return s->part > 0 && s->part <= UINT32_MAX && s->index-- > 0 && s->index < s->count && s->count <= SMMA_MOST_SHARDS;
}

static bool same_shard(const smma_report *r, const smma_datum *d) {
  smma_share s;
  if (!d || !r->shard.count) return !d && !r->shard.count;
  return smma_report_read_shard(d, &s) && s.index == r->shard.index && s.count == r->shard.count &&
         s.part == r->shard.part;
}

/* Checks that a unit's record in the data describes this unit as it is now, not only its name. */
static bool same_unit(const smma_unit *u, const smma_datum *record, const char *origin, smma_error *error) {
  smma_unit known;
  const char *difference;
  if (!smma_unit_read(record, &known))
    return smma_fail(error, "%s does not describe %s: it was changed or truncated; name another file", origin, u->name);
  difference = smma_unit_changed(&known, u);
  if (!difference) return true;
  if (strcmp(difference, "file") != 0)
    return smma_fail(error, "%s is of %s with another %s; name another file", origin, u->name, difference);
  return smma_fail(error,
                   *known.crc32c ? "%s: the file of %s was another then; name another file for the report"
                                 : "%s does not say what the file of %s was then; name another file",
                   origin, u->name);
}

/* Checks that the data have the same campaign; the error names the first difference. */
static bool same_campaign(const smma_report *r, const smma_datum *data, const char *origin, smma_error *error) {
  const smma_campaign *c = r->campaign;
  const smma_datum *seed =
      smma_datum_get(data, "seed"); /* a 63-bit number with a sign, which is how all seeds are written */
  if (!is_text(get_text(smma_datum_get(data, "unit"), "name"), c->unit->name))
    return smma_fail(error, "%s is of another unit than %s; name another file", origin, c->unit->name);
  if (!is_text(get_text(smma_datum_get(data, "against"), "name"), c->against->name))
    return smma_fail(error, "%s is of a comparison with another unit than %s; name another file", origin,
                     c->against->name);
  if (!is_text(get_text(data, "softmma"), smma_version()))
    return smma_fail(error, "%s is not of this version, %s; name another file", origin, smma_version());
  if (!same_unit(c->unit, smma_datum_get(data, "unit"), origin, error) ||
      !same_unit(c->against, smma_datum_get(data, "against"), origin, error))
    return false;
  if (smma_datum_kind_of(seed) != SMMA_DATUM_COUNT || (uint64_t)smma_datum_integer_of(seed) != c->recipe.seed)
    return smma_fail(error, "%s is of another seed than %lld; name another file", origin, (long long)c->recipe.seed);
  if (!is_text(get_text(data, "kind"), kind_text(c)))
    return smma_fail(error, "%s is of another kind of rows than '%s'; name another file", origin, kind_text(c));
  if (!same_shard(r, smma_datum_get(data, "shard")))
    return smma_fail(error, "%s is not of this shard; name another file", origin);
  return true;
}

/* Reads one entry of the data. Fails if it is for an instruction that this campaign lacks, because it would be lost
   when the report is written again. */
static bool take_entry(smma_report *r, const smma_datum *entry, uint64_t most_rows, const char *origin,
                       smma_error *error) {
  const char *arch = get_text(entry, "arch"), *instruction = get_text(entry, "instr");
  smma_report_result *known = find_result(r, arch, instruction);
  smma_campaign_result result = {0};
  smma_share share;
  const char *name;
  if (!known)
    return smma_fail(error, "%s has results of %s %s, which this campaign does not run; name another file", origin,
                     arch ? arch : "no architecture,", instruction ? instruction : "no instruction");
  name = known->instruction->name;
  share = smma_report_share(r, (size_t)(known - r->results));
  if (known->result.rows) return smma_fail(error, "%s has two entries of %s; name another file", origin, name);
  if (!read_result(entry, known->instruction, &share, most_rows, &result) ||
      !read_kept(smma_datum_get(entry, "kept"), &share, &result, &known->kept))
    return smma_fail(error, "%s: the entry of %s is not a campaign's; name another file", origin, name);
  if (result.rows > smma_share_rows(&share, r->campaign->rows))
    return smma_fail(error, "%s has %llu rows of %s; use the same --rows, or name another file", origin,
                     (unsigned long long)result.rows, name);
  known->result = result;
  known->result.kept = &known->kept;
  return true;
}

bool smma_report_take(smma_report *r, const smma_datum *data, const char *origin, smma_error *error) {
  const smma_datum *entries = smma_datum_get(data, "instructions"), *form = smma_datum_get(data, "softmma-report");
  uint64_t most_rows;
  if (form && smma_datum_integer_of(form) != SMMA_REPORT_FORM)
    return smma_fail(error, "%s: \"softmma-report\" is the version of this form; allowed: %d", origin,
                     SMMA_REPORT_FORM);
  if (!is_list(entries) || !get_count(data, "rows", &most_rows))
    return smma_fail(error, "%s has no entries, or no number of rows; name another file", origin);
  for (size_t n = 0; n < smma_datum_size(entries); n++)
    if (!take_entry(r, smma_datum_at(entries, n), most_rows, origin, error)) return false;
  return true;
}

bool smma_report_resume(smma_report *r, const smma_datum *data, const char *origin, smma_error *error) {
  return same_campaign(r, data, origin, error) && smma_report_take(r, data, origin, error);
}

smma_datum *smma_report_parse(const char *path, smma_error *error) {
  smma_file_bytes bytes;
  smma_error why;
  smma_datum *data;
  if (!smma_file_load(path, LARGEST_REPORT, &bytes, error)) return NULL;
  data = smma_datum_read(path, bytes.bytes, bytes.size, &why);
  smma_file_release(&bytes);
  if (!data) smma_fail(error, "%s; it must be a campaign's report", why.text);
  return data;
}

bool smma_report_load(smma_report *r, const char *path, smma_error *error) {
  struct stat status;
  smma_datum *data;
  bool good;
  if (stat(path, &status) != 0) return true;
  if (!S_ISREG(status.st_mode)) return smma_fail(error, "%s is no regular file; name another one", path);
  if (status.st_size == 0) return true;
  data = smma_report_parse(path, error);
  good = data && smma_report_resume(r, data, path, error);
  smma_datum_free(data);
  return good;
}
