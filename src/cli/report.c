#include "cli/report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/row.h"
#include "cli/values.h"
#include "io/file.h"
#include "rows/check.h"

enum { LARGEST_REPORT = 1 << 28 /* thousands of instructions with an example and kept rows each */ };

void smma_report_start(smma_report *r, const smma_campaign *campaign, const smma_instruction *const *list,
                       size_t count) {
  const time_t now = time(NULL);
  struct tm utc;
  *r = (smma_report){.campaign = campaign, .count = count};
  r->results = calloc(count, sizeof *r->results);
  if (!r->results) smma_die("out of memory");
  for (size_t i = 0; i < count; i++) {
    r->results[i].instruction = list[i];
    r->results[i].result.kept = &r->results[i].kept;
  }
  strftime(r->started, sizeof r->started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

void smma_report_free(smma_report *r) {
  for (size_t i = 0; i < r->count; i++) {
    smma_sample_free(&r->results[i].kept);
    free(r->results[i].classes);
  }
  free(r->results);
  *r = (smma_report){0};
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

bool smma_report_add(smma_report *whole, const smma_report *part) {
  if (strcmp(part->started, whole->started) < 0) strcpy(whole->started, part->started);
  for (size_t n = 0; n < whole->count; n++)
    if (!add_result(&whole->results[n], &part->results[n])) return false;
  return true;
}

void smma_report_settle(smma_report *r) {
  for (size_t n = 0; n < r->count; n++) smma_sample_settle(&r->results[n].kept);
}

json_t *smma_unit_json(const smma_unit *u) {
  return json_pack("{s:o, s:o, s:o, s:o}", "name", smma_json_text(u->name), "device",
                   smma_json_text(u->description.device), "driver", smma_json_text(u->description.driver), "toolkit",
                   smma_json_text(u->description.toolkit));
}

static json_t *example_json(const smma_report_result *r) {
  const smma_instruction *i = r->instruction;
  json_t *object;
  if (!r->result.has_example) return json_null();
  object = json_pack("{s:I}", "row", (json_int_t)r->result.first);
  smma_add_operands(object, i, &r->result.example);
  json_object_set_new(object, "unit", smma_hex_array(i->d, &r->result.example.d, 1));
  json_object_set_new(object, "against", smma_hex_array(i->d, &r->result.expected, 1));
  return object;
}

/* What is kept, a sort to an entry; rows in a text, as there are many. */
static json_t *kept_json(const smma_sample *kept) {
  json_t *list = json_array();
  for (size_t n = 0; n < kept->count; n++) {
    const smma_sort *s = &kept->sort[n];
    char text[SMMA_KEPT_OF_SORT * 21 + 1] = "";
    for (int i = 0; i < s->kept; i++)
      smma_append_text(text, sizeof text, "%s%llu", i ? " " : "", (unsigned long long)s->row[i]);
    json_array_append_new(
        list, json_pack("{s:i, s:I, s:s}", "sort", s->sort, "mismatches", (json_int_t)s->count, "rows", text));
  }
  return list;
}

static void print_place(const smma_class_words *words, uint64_t index) {
  (void)words;
  printf("row %llu, from 1", (unsigned long long)index + 1);
}

static void set_place(const smma_class_words *words, uint64_t index, json_t *row) {
  (void)words;
  json_object_set_new(row, "row", json_integer((json_int_t)index));
}

smma_class_words smma_report_class_words(const smma_report *report, const smma_report_result *r) {
  return (smma_class_words){.instruction = r->instruction,
                            .unit = report->campaign->unit->name,
                            .against = report->campaign->against->name,
                            .mismatches = r->result.mismatches,
                            .gone = r->gone,
                            .print_place = print_place,
                            .set_place = set_place};
}

static json_t *result_json(const smma_report *report, const smma_report_result *r) {
  const smma_class_words words = smma_report_class_words(report, r);
  json_t *object = json_pack("{s:o, s:s, s:I, s:I, s:b, s:I, s:I, s:o}", "arch",
                             smma_json_text(smma_arch_name(r->instruction)), "instr", r->instruction->name, "rows",
                             (json_int_t)r->result.rows, "mismatches", (json_int_t)r->result.mismatches, "checked",
                             r->result.checked, "not_repeated", (json_int_t)r->result.not_repeated, "not_alike",
                             (json_int_t)r->result.not_alike, "example", example_json(r));
  if (r->result.mismatches) json_object_set_new(object, "nan", json_integer((json_int_t)smma_sample_nan(&r->kept)));
  if (r->kept.count) json_object_set_new(object, "kept", kept_json(&r->kept));
  if (r->classes) json_object_set_new(object, "classes", smma_classes_json(r->classes, &words));
  return object;
}

static const char *kind_text(const smma_campaign *c) {
  return c->recipe.covers ? "cover" : smma_row_kind_text(c->recipe.kind);
}

json_t *smma_report_json(const smma_report *r) {
  const smma_campaign *c = r->campaign;
  const smma_share *s = &r->shard;
  json_t *instructions = json_array(), *object;
  for (size_t i = 0; i < r->count; i++)
    if (r->results[i].result.rows || s->count) json_array_append_new(instructions, result_json(r, &r->results[i]));
  object = json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:s}", "softmma", smma_version(), "date", r->started, "unit",
                     smma_unit_json(c->unit), "against", smma_unit_json(c->against), "seed", (json_int_t)c->recipe.seed,
                     "rows", (json_int_t)c->rows, "kind", kind_text(c));
  if (s->count)
    json_object_set_new(object, "shard",
                        json_pack("{s:I, s:I, s:I}", "index", (json_int_t)s->index + 1, "of", (json_int_t)s->count,
                                  "part", (json_int_t)s->part));
  json_object_set_new(object, "complete", json_boolean(r->complete));
  json_object_set_new(object, "instructions", instructions);
  return object;
}

bool smma_report_save(const smma_report *r, const char *path, smma_error *error) {
  smma_output output;
  json_t *object;
  bool written;
  if (!smma_output_open(path, &output, error)) return false;
  object = smma_report_json(r);
  written = json_dumpf(object, output.stream, JSON_INDENT(1) | JSON_PRESERVE_ORDER) == 0;
  json_decref(object);
  if (written && putc('\n', output.stream) != EOF) return smma_output_commit(&output, error);
  smma_output_abandon(&output);
  return smma_fail(error, "%s: cannot be written", path);
}

/* ---- Reading ---- */

/* `count` encodings of the format from an array of hexadecimal strings. */
static bool read_encodings(const json_t *array, smma_format format, int count, uint64_t *out) {
  if (json_array_size(array) != (size_t)count) return false;
  for (int i = 0; i < count; i++) {
    const char *text = json_string_value(json_array_get(array, (size_t)i));
    char *end;
    if (!text || !*text || strspn(text, "0123456789abcdefABCDEF") != strlen(text) || strlen(text) > 16) return false;
    out[i] = strtoull(text, &end, 16);
    if (out[i] != smma_low_bits(out[i], smma_encoding_of(format).bits)) return false;
  }
  return true;
}

bool smma_report_read_count(const json_t *object, const char *key, uint64_t *out) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
  *out = (uint64_t)json_integer_value(value);
  return true;
}

static bool read_example(const json_t *object, const smma_instruction *i, smma_campaign_result *r) {
  const int scales = smma_scale_count(i->k, i->scale_block);
  smma_row *row = &r->example;
  r->has_example = !json_is_null(object);
  if (!r->has_example) return true;
  return smma_report_read_count(object, "row", &r->first) &&
         read_encodings(json_object_get(object, "a"), i->a, i->k, row->a) &&
         read_encodings(json_object_get(object, "b"), i->b, i->k, row->b) &&
         read_encodings(json_object_get(object, "c"), i->c, 1, &row->c) &&
         read_encodings(json_object_get(object, "scale_a"), i->scale, scales, row->scale_a) &&
         read_encodings(json_object_get(object, "scale_b"), i->scale, scales, row->scale_b) &&
         read_encodings(json_object_get(object, "unit"), i->d, 1, &row->d) &&
         read_encodings(json_object_get(object, "against"), i->d, 1, &r->expected);
}

/* Whether the row is among the first `rows` of the share. */
static bool is_among(const smma_share *share, uint64_t rows, uint64_t row) {
  return smma_share_has(share, row) && smma_share_rows(share, row) < rows;
}

/* "5 17 1009", each among the first `rows` of the share. */
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

/* What is kept; a report of a version that kept nothing has none. */
static bool read_kept(const json_t *list, const smma_share *share, const smma_campaign_result *r, smma_sample *kept) {
  uint64_t all = 0;
  const json_t *entry;
  size_t index;
  if (!list) return true;
  json_array_foreach(list, index, entry) {
    uint64_t sort, count;
    smma_sort *s;
    if (!smma_report_read_count(entry, "sort", &sort) || !smma_report_read_count(entry, "mismatches", &count) ||
        sort >= SMMA_SORTS)
      return false;
    s = smma_sample_add_sort(kept, (int)sort);
    if (!s || !read_rows(json_string_value(json_object_get(entry, "rows")), share, r->rows, s)) return false;
    s->count = count;
    if (count < (uint64_t)s->kept || count > r->mismatches - all) return false;
    all += count;
  }
  return true;
}

/* Numbers that a campaign can have counted: an entry has rows, its first batch was checked where that is the share's,
   and a row differs if and only if there is an example of it, which differs. Only a shard may have no row of one. */
static bool is_possible(const smma_campaign_result *r, const smma_instruction *i, const smma_share *share,
                        uint64_t most_rows) {
  const smma_operation o = smma_operation_of(i);
  if (r->rows > smma_share_rows(share, most_rows) || r->mismatches > r->rows) return false;
  if (r->rows < 1 && share->count < 2) return false;
  if (r->checked != (r->rows > 0 && smma_share_has(share, 0)) || r->has_example != (r->mismatches > 0)) return false;
  if (!r->checked && (r->not_repeated || r->not_alike)) return false;
  return !r->has_example || (is_among(share, r->rows, r->first) && !smma_same_result(&o, r->expected, r->example.d));
}

static bool read_result(const json_t *object, const smma_instruction *i, const smma_share *share, uint64_t most_rows,
                        smma_campaign_result *r) {
  r->checked = json_is_true(json_object_get(object, "checked"));
  return smma_report_read_count(object, "rows", &r->rows) &&
         smma_report_read_count(object, "mismatches", &r->mismatches) &&
         smma_report_read_count(object, "not_repeated", &r->not_repeated) &&
         smma_report_read_count(object, "not_alike", &r->not_alike) &&
         read_example(json_object_get(object, "example"), i, r) && is_possible(r, i, share, most_rows);
}

static smma_report_result *find_result(smma_report *r, const char *arch, const char *name) {
  for (size_t i = 0; arch && name && i < r->count; i++) {
    const smma_instruction *x = r->results[i].instruction;
    if (strcmp(name, x->name) == 0 && strcmp(arch, smma_arch_name(x)) == 0) return &r->results[i];
  }
  return NULL;
}

static bool is_text(const json_t *value, const char *text) {
  return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

bool smma_report_read_shard(const json_t *object, smma_share *s) {
  if (!smma_report_read_count(object, "index", &s->index) || !smma_report_read_count(object, "of", &s->count) ||
      !smma_report_read_count(object, "part", &s->part))
    return false;
  return s->part > 0 && s->part <= UINT32_MAX && s->index-- > 0 && s->index < s->count && s->count <= SMMA_MOST_SHARDS;
}

static bool same_shard(const smma_report *r, const json_t *object) {
  smma_share s;
  if (!object || !r->shard.count) return !object && !r->shard.count;
  return smma_report_read_shard(object, &s) && s.index == r->shard.index && s.count == r->shard.count &&
         s.part == r->shard.part;
}

/* The first thing that the file's campaign has otherwise. */
static bool same_campaign(const smma_report *r, const json_t *file, const char *path, smma_error *error) {
  const smma_campaign *c = r->campaign;
  const json_t *seed = json_object_get(file, "seed"); /* as all seeds written in 63 bits and a sign */
  if (!is_text(json_object_get(json_object_get(file, "unit"), "name"), c->unit->name))
    return smma_fail(error, "%s is of another unit than %s; name another file", path, c->unit->name);
  if (!is_text(json_object_get(json_object_get(file, "against"), "name"), c->against->name))
    return smma_fail(error, "%s is of a comparison with another unit than %s; name another file", path,
                     c->against->name);
  if (!json_is_integer(seed) || (uint64_t)json_integer_value(seed) != c->recipe.seed)
    return smma_fail(error, "%s is of another seed than %lld; name another file", path, (long long)c->recipe.seed);
  if (!is_text(json_object_get(file, "kind"), kind_text(c)))
    return smma_fail(error, "%s is of another kind of rows than '%s'; name another file", path, kind_text(c));
  if (!same_shard(r, json_object_get(file, "shard")))
    return smma_fail(error, "%s is of another shard, or of none where one is asked for; name another file", path);
  return true;
}

/* One entry of the file. What this campaign does not ask for would be lost when it is written again. */
static bool take_entry(smma_report *r, const json_t *entry, uint64_t most_rows, const char *path, smma_error *error) {
  const char *arch = json_string_value(json_object_get(entry, "arch"));
  const char *instruction = json_string_value(json_object_get(entry, "instr"));
  smma_report_result *known = find_result(r, arch, instruction);
  smma_campaign_result result = {0};
  smma_share share;
  const char *name;
  if (!known)
    return smma_fail(error, "%s has results of %s %s, which this campaign does not ask for; name another file", path,
                     arch ? arch : "no architecture,", instruction ? instruction : "no instruction");
  name = known->instruction->name;
  share = smma_report_share(r, (size_t)(known - r->results));
  if (known->result.rows) return smma_fail(error, "%s has two entries of %s; name another file", path, name);
  if (!read_result(entry, known->instruction, &share, most_rows, &result) ||
      !read_kept(json_object_get(entry, "kept"), &share, &result, &known->kept))
    return smma_fail(error, "%s: the entry of %s is not a campaign's; name another file", path, name);
  if (result.rows > smma_share_rows(&share, r->campaign->rows))
    return smma_fail(error, "%s has %llu rows of %s; ask for as many, or name another file", path,
                     (unsigned long long)result.rows, name);
  known->result = result;
  known->result.kept = &known->kept;
  return true;
}

bool smma_report_take(smma_report *r, const json_t *file, const char *path, smma_error *error) {
  const json_t *entries = json_object_get(file, "instructions"), *entry;
  uint64_t most_rows;
  size_t index;
  if (!json_is_array(entries) || !smma_report_read_count(file, "rows", &most_rows))
    return smma_fail(error, "%s has no entries, or does not say of how many rows; name another file", path);
  json_array_foreach(entries, index, entry) if (!take_entry(r, entry, most_rows, path, error)) return false;
  return true;
}

json_t *smma_report_parse(const char *path, smma_error *error) {
  smma_file_bytes bytes;
  json_error_t where;
  json_t *file;
  if (!smma_file_load(path, LARGEST_REPORT, &bytes, error)) return NULL;
  file = json_loadb(bytes.bytes, bytes.size, JSON_REJECT_DUPLICATES, &where);
  smma_file_release(&bytes);
  if (!file) smma_fail(error, "%s: line %d: %s; it must be a campaign's report", path, where.line, where.text);
  return file;
}

bool smma_report_load(smma_report *r, const char *path, smma_error *error) {
  struct stat status;
  json_t *file;
  bool good;
  if (stat(path, &status) != 0) return true;
  if (!S_ISREG(status.st_mode)) return smma_fail(error, "%s is no regular file; name another one", path);
  if (status.st_size == 0) return true;
  file = smma_report_parse(path, error);
  good = file && same_campaign(r, file, path, error) && smma_report_take(r, file, path, error);
  json_decref(file);
  return good;
}
