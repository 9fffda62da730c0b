#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/coverage.h"
#include "io/custom_file.h"
#include "io/sha256.h"
#include "isa/custom.h"

bool smma_coverage_of(smma_coverage *coverage, const smma_instruction *instruction, smma_covered **covered,
                      smma_error *error) {
  smma_covered *one;
  for (size_t n = 0; n < coverage->count; n++)
    if (coverage->one[n].instruction == instruction) {
      *covered = &coverage->one[n];
      return true;
    }
  one = realloc(coverage->one, (coverage->count + 1) * sizeof *one);
  if (!one) smma_die("out of memory");
  coverage->one = one;
  one += coverage->count;
  *one = (smma_covered){.instruction = instruction};
  if (!smma_event_space_make(instruction, &one->space))
    return smma_fail(error, "%s: no events are known of blocks of %d products in %s", instruction->name,
                     smma_block_of(&one->space.operation), smma_arch_name(instruction));
  one->hits = calloc(one->space.events, sizeof *one->hits);
  if (!one->hits) smma_die("out of memory");
  coverage->count++;
  *covered = one;
  return true;
}

void smma_coverage_free(smma_coverage *coverage) {
  for (size_t n = 0; n < coverage->count; n++) {
    free(coverage->one[n].hits);
    free(coverage->one[n].found);
  }
  free(coverage->one);
}

smma_event_state smma_event_state_of(const smma_covered *c, size_t event) {
  return smma_event_state_in(&c->space, c->hits, c->found, event);
}

void smma_count_states(const smma_covered *c, smma_event_kind kind, size_t count[SMMA_EVENT_STATES]) {
  memset(count, 0, SMMA_EVENT_STATES * sizeof *count);
  for (int b = 0; b < c->space.blocks; b++) {
    const smma_event_block *block = &c->space.block[b];
    if (kind != SMMA_EVENT_KINDS && block->kind != kind) continue;
    for (size_t e = 0; e < (size_t)(block->places * block->values); e++)
      count[smma_event_state_of(c, block->first + e)]++;
  }
}

/* ---- Files ---- */

/* Of the rule as a custom unit has it, and of how events are numbered: counts of another one mean something else. */
static const char *digest_of(const smma_covered *c, char text[65]) {
  const size_t size = smma_custom_write(c->instruction, NULL, 0);
  char *unit = malloc(size + 64);
  if (!unit) smma_die("out of memory");
  smma_custom_write(c->instruction, unit, size + 1);
  snprintf(unit + size, 64, " %zu events in %d blocks", c->space.events, c->space.blocks);
  smma_sha256(unit, strlen(unit), text);
  free(unit);
  return text;
}

static json_t *hits_json(const smma_covered *c) {
  json_t *hits = json_array();
  for (size_t e = 0; e < c->space.events; e++) json_array_append_new(hits, json_integer((json_int_t)c->hits[e]));
  return hits;
}

void smma_coverage_write(const smma_coverage *coverage, FILE *stream) {
  json_t *runs = json_array(), *all;
  for (size_t n = 0; n < coverage->count; n++) {
    const smma_covered *c = &coverage->one[n];
    char digest[65];
    json_array_append_new(
        runs, json_pack("{s:o, s:s, s:s, s:I, s:o}", "arch", smma_json_text(smma_arch_name(c->instruction)),
                        "instruction", c->instruction->name, "rule", digest_of(c, digest), "rows", (json_int_t)c->rows,
                        "hits", hits_json(c)));
  }
  all = json_pack("{s:i, s:o}", "softmma-coverage", 1, "runs", runs);
  json_dumpf(all, stream, JSON_COMPACT);
  fputc('\n', stream);
  json_decref(all);
}

bool smma_coverage_is_file(const char *path) {
  static const char start[] = "{\"softmma-coverage\":";
  char text[sizeof start] = "";
  struct stat status;
  FILE *stream;
  bool is;
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false; /* a pipe is read but once */
  stream = fopen(path, "r");
  if (!stream) return false;
  is = fread(text, 1, sizeof start - 1, stream) == sizeof start - 1 && strcmp(text, start) == 0;
  fclose(stream);
  return is;
}

/* A run whose counts are whole and of this program's rule. */
static const smma_instruction *check_run(json_t *run, const char *path, smma_coverage *coverage, smma_covered **covered,
                                         smma_error *error) {
  const char *arch = json_string_value(json_object_get(run, "arch"));
  const char *name = json_string_value(json_object_get(run, "instruction"));
  const char *rule = json_string_value(json_object_get(run, "rule"));
  const json_t *rows = json_object_get(run, "rows"), *hits = json_object_get(run, "hits");
  const smma_instruction *i;
  char digest[65];
  smma_error why;
  if (!arch || !name || !rule || !json_is_integer(rows) || json_integer_value(rows) < 0 || !json_is_array(hits)) {
    smma_fail(error, "%s: a run without arch, instruction, rule, rows and hits: the file was changed or cut", path);
    return NULL;
  }
  i = smma_resolve_instruction(arch, name, &why);
  if (!i || !smma_coverage_of(coverage, i, covered, &why)) {
    smma_fail(error, "%s: %s", path, why.text);
    return NULL;
  }
  if (strcmp(rule, digest_of(*covered, digest)) != 0 || json_array_size(hits) != (*covered)->space.events) {
    smma_fail(error, "%s: %s %s: counted by another rule, or another version; count again", path, arch, name);
    return NULL;
  }
  for (size_t e = 0; e < (*covered)->space.events; e++)
    if (!json_is_integer(json_array_get(hits, e)) || json_integer_value(json_array_get(hits, e)) < 0) {
      smma_fail(error, "%s: %s %s: event %zu has no count", path, arch, name, e);
      return NULL;
    }
  return i;
}

bool smma_coverage_add_file(smma_coverage *coverage, const char *path, smma_error *error) {
  json_error_t where;
  json_t *all = json_load_file(path, JSON_REJECT_DUPLICATES, &where), *runs = json_object_get(all, "runs"), *run;
  const json_t *version = json_object_get(all, "softmma-coverage");
  smma_covered *covered;
  size_t n;
  bool ok = false;
  if (!all)
    smma_fail(error, "%s: line %d: %s", path, where.line, where.text);
  else if (!json_is_integer(version) || json_integer_value(version) != 1 || !json_is_array(runs))
    smma_fail(error, "%s: no coverage of version 1", path);
  else
    ok = true;
  json_array_foreach(runs, n, run) if (ok && !check_run(run, path, coverage, &covered, error)) ok = false;
  for (n = 0; ok && n < json_array_size(runs); n++) {
    run = json_array_get(runs, n);
    check_run(run, path, coverage, &covered, error);
    covered->rows += (uint64_t)json_integer_value(json_object_get(run, "rows"));
    for (size_t e = 0; e < covered->space.events; e++)
      covered->hits[e] += (uint64_t)json_integer_value(json_array_get(json_object_get(run, "hits"), e));
  }
  json_decref(all);
  return ok;
}
