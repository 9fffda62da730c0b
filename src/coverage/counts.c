/* Files whose coverage is added: vector files, and files of stored counts, {"softmma-coverage": 1, "runs": [...]}, with
   one run for each instruction. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "coverage/coverage.h"
#include "host/load.h"
#include "io/custom_file.h"
#include "io/file.h"
#include "io/sha256.h"
#include "isa/custom.h"

enum { LARGEST_FILE = 1 << 28 };

/* Digests the rule, in the form of a custom unit, and the numbering of events, because counts of another rule have
   another meaning. Returns false when memory is short. */
static bool digest_of(const smma_covered *c, char text[65]) {
  const size_t size = smma_custom_write(c->instruction, NULL, 0);
  char *unit = malloc(size + 64);
  if (!unit) return false;
  smma_custom_write(c->instruction, unit, size + 1);
  snprintf(unit + size, 64, " %zu events in %d blocks", c->space.events, c->space.blocks);
  smma_sha256(unit, strlen(unit), text);
  free(unit);
  return true;
}

/* Returns a count as files hold it: at most INT64_MAX. */
static int64_t stored_count(uint64_t count) { return count > INT64_MAX ? INT64_MAX : (int64_t)count; }

static smma_datum *run_datum(const smma_covered *c) {
  smma_datum *run = smma_datum_record(), *hits = smma_datum_list();
  char digest[65];
  const bool is_digested = digest_of(c, digest);
  for (size_t e = 0; e < c->space.events; e++) smma_datum_append(hits, smma_datum_count(stored_count(c->hits[e])));
  smma_put_text(run, "arch", smma_arch_name(c->instruction));
  smma_put_text(run, "instruction", c->instruction->name);
  smma_datum_put(run, "rule", is_digested ? smma_datum_text(digest) : NULL);
  smma_put_count(run, "rows", (uint64_t)stored_count(c->rows));
  smma_datum_put(run, "hits", hits);
  return run;
}

smma_datum *smma_coverage_counts(const smma_coverage *coverage) {
  smma_datum *all = smma_datum_record(), *runs = smma_datum_list();
  for (size_t n = 0; n < coverage->count; n++) smma_datum_append(runs, run_datum(&coverage->one[n]));
  smma_put_count(all, "softmma-coverage", 1);
  smma_datum_put(all, "runs", runs);
  return all;
}

bool smma_is_coverage_counts(const char *path) {
  static const char start[] = "{\"softmma-coverage\":";
  char text[sizeof start] = "";
  struct stat status;
  FILE *stream;
  bool is;
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false; /* a pipe can be read only once */
  stream = fopen(path, "r");
  if (!stream) return false;
  is = fread(text, 1, sizeof start - 1, stream) == sizeof start - 1 && strcmp(text, start) == 0;
  fclose(stream);
  return is;
}

/* Returns the coverage that a run adds to, if its counts are complete and of this program's rule, or NULL with one
   error line. */
static smma_covered *check_run(const smma_datum *run, const char *path, smma_coverage *coverage, smma_error *error) {
  const char *arch = smma_datum_text_of(smma_datum_get(run, "arch"));
  const char *name = smma_datum_text_of(smma_datum_get(run, "instruction"));
  const char *rule = smma_datum_text_of(smma_datum_get(run, "rule"));
  const smma_datum *hits = smma_datum_get(run, "hits");
  const smma_instruction *i;
  smma_covered *c;
  char digest[65];
  uint64_t count;
  smma_error why;
  if (!arch || !name || !rule || !smma_datum_count_of(smma_datum_get(run, "rows"), &count) ||
      smma_datum_kind_of(hits) != SMMA_DATUM_LIST) {
    smma_fail(error, "%s: a run without arch, instruction, rule, rows and hits: the file was changed or truncated",
              path);
    return NULL;
  }
  i = smma_resolve_instruction(arch, name, &why);
  c = i ? smma_coverage_of(coverage, i, &why) : NULL;
  if (!c) return smma_fail(error, "%s: %s", path, why.text), NULL;
  if (!digest_of(c, digest)) return smma_no_memory(error), NULL;
  if (strcmp(rule, digest) != 0 || smma_datum_size(hits) != c->space.events) {
    smma_fail(error, "%s: %s %s: counted by another rule, or another version; count again", path, arch, name);
    return NULL;
  }
  for (size_t e = 0; e < c->space.events; e++)
    if (!smma_datum_count_of(smma_datum_at(hits, e), &count)) {
      smma_fail(error, "%s: %s %s: event %zu has no count", path, arch, name, e);
      return NULL;
    }
  return c;
}

/* Adds a count of a file to `count`. A sum that files cannot hold becomes INT64_MAX. */
static void add_count(uint64_t *count, const smma_datum *of_file) {
  *count = (uint64_t)stored_count(*count) + (uint64_t)smma_datum_integer_of(of_file);
  *count = (uint64_t)stored_count(*count);
}

static void add_run(smma_covered *c, const smma_datum *run) {
  const smma_datum *hits = smma_datum_get(run, "hits");
  add_count(&c->rows, smma_datum_get(run, "rows"));
  for (size_t e = 0; e < c->space.events; e++) add_count(&c->hits[e], smma_datum_at(hits, e));
}

/* Adds the counts of all runs of a file. Checks all runs first, so that nothing is added if there is an error. */
static bool add_runs(smma_coverage *coverage, const smma_datum *all, const char *path, smma_error *error) {
  const smma_datum *runs = smma_datum_get(all, "runs");
  uint64_t version;
  if (!smma_datum_count_of(smma_datum_get(all, "softmma-coverage"), &version) || version != 1 ||
      smma_datum_kind_of(runs) != SMMA_DATUM_LIST)
    return smma_fail(error, "%s: no coverage of version 1", path);
  for (size_t n = 0; n < smma_datum_size(runs); n++)
    if (!check_run(smma_datum_at(runs, n), path, coverage, error)) return false;
  for (size_t n = 0; n < smma_datum_size(runs); n++) {
    smma_covered *c = check_run(smma_datum_at(runs, n), path, coverage, error);
    if (!c) return false;
    add_run(c, smma_datum_at(runs, n));
  }
  return true;
}

bool smma_coverage_add_counts(smma_coverage *coverage, const char *path, smma_error *error) {
  smma_file_bytes file;
  smma_datum *all;
  bool done;
  if (!smma_file_load(path, LARGEST_FILE, &file, error)) return false;
  all = smma_datum_read(path, file.bytes, file.size, error);
  done = all && add_runs(coverage, all, path, error);
  smma_datum_free(all);
  smma_file_release(&file);
  return done;
}

/* ---- Vector files ---- */

typedef struct {
  smma_coverage *coverage;
  void (*progress)(uint64_t rows, void *context);
  void *context;
} reader;

/* Computes rows of a file, stores their results in the batch, and counts their events. */
static bool count_batch(const smma_instruction *instruction, const smma_batch *batch, void *context,
                        smma_error *error) {
  const smma_rows rows = smma_rows_of_batch(instruction, batch);
  uint64_t *d = malloc(batch->rows * sizeof *d);
  const bool done = d ? smma_coverage_count(((reader *)context)->coverage, instruction, &rows, batch->rows, d, error)
                      : smma_no_memory(error);
  for (size_t r = 0; done && r < batch->rows; r++) smma_store(rows.layout.part[SMMA_PART_D].bytes, batch->d, r, d[r]);
  free(d);
  return done;
}

static void tell_progress(const smma_check_totals *totals, void *context) {
  const reader *r = context;
  if (r->progress) r->progress(totals->rows, r->context);
}

bool smma_coverage_add_file(smma_coverage *coverage, const char *path, void (*progress)(uint64_t rows, void *context),
                            void *context, smma_error *error) {
  reader r = {coverage, progress, context};
  const smma_check_watcher watcher = {.compute = count_batch, .progress = tell_progress, .context = &r};
  const bool is_input = strcmp(path, "-") == 0;
  FILE *stream;
  bool done;
  if (smma_is_coverage_counts(path)) return smma_coverage_add_counts(coverage, path, error);
  stream = is_input ? stdin : fopen(path, "r");
  if (!stream) return smma_fail(error, "%s: %s", path, strerror(errno));
  done = smma_check_stream(stream, is_input ? "standard input" : path, &coverage->totals, &watcher, error);
  if (!is_input) fclose(stream);
  return done;
}
