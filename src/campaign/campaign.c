#include "campaign/campaign.h"

#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "rows/check.h"
#include "unit/alike.h"
#include "unit/recording.h"

enum {
  BATCH = 65536, /* test vectors in one call of a unit */
  PIECE = 64,    /* results whose bytes are compared at once */
  CHECKED = 4096 /* test vectors that check a device's comparison before it is used */
};

/* A batch of vectors: `rows` has the unit's results as d, and `expected` the other unit's results. */
typedef struct {
  const smma_campaign *campaign;
  const smma_instruction *instruction;
  const smma_campaign_rows *numbered;
  smma_operation operation;
  smma_share share;
  smma_rows rows;
  unsigned char *expected;
  size_t d_bytes;
} work;

uint64_t smma_campaign_part(const smma_campaign *c) {
  const size_t at_once = smma_units_compare_at_once(c->unit, c->against);
  return at_once ? at_once : BATCH;
}

/* Returns the unit that is a recording, or NULL if neither unit is. A recording determines the test vectors of the
   campaign. */
static const smma_unit *recording_of(const smma_campaign *c) {
  if (smma_unit_is_recording(c->unit)) return c->unit;
  return smma_unit_is_recording(c->against) ? c->against : NULL;
}

bool smma_campaign_number(const smma_campaign *c, const smma_instruction *i, smma_campaign_rows *numbered) {
  const smma_campaign_recipe none = {0};
  return smma_campaign_rows_of(recording_of(c) ? &none : &c->recipe, i, numbered);
}

static bool allocate(const smma_campaign *c, const smma_instruction *i, smma_campaign_rows *numbered, work *w) {
  *w = (work){
      .campaign = c, .instruction = i, .numbered = numbered, .operation = smma_operation_of(i), .share = c->share};
  if (!w->share.count) w->share = (smma_share){0, 1, smma_campaign_part(c)};
  w->d_bytes = smma_bytes_of(i->d);
  w->expected = malloc(BATCH * w->d_bytes);
  return smma_rows_allocate(i, BATCH, &w->rows) && w->expected && smma_campaign_number(c, i, numbered);
}

static void release(work *w) {
  smma_rows_free(&w->rows);
  free(w->expected);
}

/* Returns how many vectors there are to compare. */
static uint64_t rows_of(const smma_campaign *c) {
  const smma_unit *recording = recording_of(c);
  size_t count;
  if (!recording) return c->rows;
  smma_recorded_rows(recording, &count);
  return count < c->rows ? count : c->rows;
}

/* Returns the unit that generates test vectors itself, or NULL if neither unit does. */
static const smma_unit *generating_of(const smma_campaign *c) {
  if (smma_unit_generates(c->unit)) return c->unit;
  return smma_unit_generates(c->against) ? c->against : NULL;
}

/* Lets unit `u` generate `count` test vectors. Stores its results as d or as the other unit's results, depending on
   which of the two it is. */
static bool generate(work *w, const smma_unit *u, uint64_t first, size_t count, smma_error *error) {
  const smma_row_selection x = smma_campaign_rows_selection(w->numbered, first);
  unsigned char *d = w->rows.part[SMMA_PART_D];
  if (!smma_unit_generate(u, &x, count, &w->rows, error)) return false;
  if (u == w->campaign->unit) return true;
  memcpy(w->expected, d, count * w->d_bytes);
  memset(d, 0, count * w->d_bytes);
  return true;
}

/* Loads `count` test vectors starting at `first`. If a unit's results are loaded with them, sets `*asked` to this unit,
   otherwise to NULL. */
static bool fill(work *w, uint64_t first, size_t count, const smma_unit **asked, smma_error *error) {
  const smma_campaign *c = w->campaign;
  const smma_unit *recording = recording_of(c), *generating = generating_of(c);
  *asked = NULL;
  if (recording) {
    size_t all;
    smma_rows_copy(&w->rows, 0, smma_recorded_rows(recording, &all), (size_t)first, count);
  } else if (!smma_units_stopped()) {
    if (generating && first >= w->numbered->cover.count)
      return *asked = generating, generate(w, generating, first, count, error);
    smma_campaign_rows_fill(w->numbered, first, count, &w->rows);
  }
  return true;
}

static bool ask(smma_unit *u, const work *w, size_t count, void *d, smma_error *error) {
  return smma_unit_ask(u, &w->rows, 0, count, d, error);
}

static bool differ(const work *w, const void *x, const void *y, size_t i) {
  return !smma_same_result(&w->operation, smma_load(w->d_bytes, x, i), smma_load(w->d_bytes, y, i));
}

/* Counts the mismatches among the first `count` results, and sets `*first` to the index of the first one. Compares
   results one by one only in pieces that are not identical. */
static uint64_t count_different(const work *w, size_t count, size_t *first) {
  const unsigned char *d = w->rows.part[SMMA_PART_D];
  uint64_t different = 0;
  for (size_t from = 0; from < count; from += PIECE) {
    const size_t end = count - from < PIECE ? count : from + PIECE;
    if (memcmp(d + from * w->d_bytes, w->expected + from * w->d_bytes, (end - from) * w->d_bytes) == 0) continue;
    for (size_t i = from; i < end; i++)
      if (differ(w, d, w->expected, i) && different++ == 0) *first = i;
  }
  return different;
}

/* Adds the mismatches among the first `count` vectors to the sample; `first` is the number of the batch's first vector.
   This is the last step of a batch, so vectors of an interrupted batch are never in the sample. */
static bool keep_different(const work *w, uint64_t first, size_t count, smma_campaign_result *result,
                           smma_error *error) {
  const unsigned char *d = w->rows.part[SMMA_PART_D];
  for (size_t i = 0; result->kept && i < count; i++)
    if (differ(w, d, w->expected, i) &&
        !smma_sample_add(result->kept, &w->operation, smma_campaign_rows_kind(w->numbered, first + i), first + i,
                         smma_load(w->d_bytes, w->expected, i), smma_load(w->d_bytes, d, i), NULL))
      return smma_no_memory(error);
  return true;
}

/* Checks whether the unit's results of the batch depend on the vectors alone. */
static bool check_unit(const work *w, size_t count, smma_campaign_result *result, smma_error *error) {
  smma_alikeness alikeness;
  if (!smma_check_alike(w->campaign->unit, &w->rows, count, &alikeness, error)) return false;
  result->not_repeated = alikeness.not_repeated;
  result->not_alike = alikeness.not_alike;
  result->checked = true;
  return true;
}

static bool take_example(const work *w, uint64_t first, size_t at, smma_campaign_result *result, smma_error *error) {
  const smma_campaign *c = w->campaign;
  result->has_example = true;
  result->first = first + at;
  smma_rows_get(&w->rows, at, &result->example);
  result->expected = smma_load(w->d_bytes, w->expected, at);
  if (recording_of(c)) return true; /* a recording has no simpler vectors */
  return smma_minimise(c->unit, c->against, w->instruction, &result->example, &result->expected, error);
}

/* Computes a batch with both units. A unit counts vectors from the start of the batch, so the message adds the
   batch's numbers. */
static bool ask_both(work *w, uint64_t first, size_t count, smma_error *error) {
  const smma_campaign *c = w->campaign;
  const smma_unit *asked;
  smma_error why;
  if (fill(w, first, count, &asked, &why) && (asked == c->unit || ask(c->unit, w, count, NULL, &why)) &&
      (asked == c->against || ask(c->against, w, count, w->expected, &why)))
    return true;
  return smma_fail(error, "%s; the batch is rows %llu to %llu", why.text, (unsigned long long)first,
                   (unsigned long long)(first + count - 1));
}

/* Compares a part of the campaign on the device of both units. If there are mismatches, computes the first one and some
   vectors after it again on the host, and adds their mismatches to the sample. */
static bool compare_there(work *w, size_t count, smma_campaign_result *result, smma_error *error) {
  const smma_campaign *c = w->campaign;
  const uint64_t at = smma_share_row(&w->share, result->rows);
  const smma_row_selection x = smma_campaign_rows_selection(w->numbered, at);
  smma_campaign_result r = *result;
  smma_rows_difference found;
  if (!smma_units_compare(c->unit, c->against, w->instruction, &x, count, &found, error)) return false;
  if (found.rows) {
    const uint64_t first = at + found.first;
    const size_t left = count - found.first, again = left < BATCH ? left : BATCH;
    if (!ask_both(w, first, again, error) || (!r.has_example && !take_example(w, first, 0, &r, error)) ||
        !keep_different(w, first, again, &r, error))
      return false;
  }
  r.mismatches += found.rows;
  r.rows += count;
  *result = r;
  return true;
}

/* Runs one batch; `result` changes only if the whole batch was computed. */
static bool run_batch(work *w, size_t count, smma_campaign_result *result, smma_error *error) {
  const uint64_t at = smma_share_row(&w->share, result->rows);
  smma_campaign_result r = *result;
  size_t example = count;
  if (!ask_both(w, at, count, error)) return false;
  r.mismatches += count_different(w, count, &example);
  if (example < count && !r.has_example && !take_example(w, at, example, &r, error)) return false;
  r.rows += count;
  if (at == 0 && !check_unit(w, count, &r, error)) return false;
  if (example < count && !keep_different(w, at, count, &r, error)) return false;
  *result = r;
  return true;
}

/* Runs the next vectors, up to the end of their part. The first batch has the vectors for coverage; it runs on the
   host, where check_unit computes it again in other orders. */
static bool run_next(work *w, size_t at_once, uint64_t rows, smma_campaign_result *result, smma_error *error) {
  const uint64_t left = rows - result->rows, in_part = w->share.part - result->rows % w->share.part,
                 count = left < in_part ? left : in_part;
  if (at_once && smma_share_row(&w->share, result->rows) >= BATCH)
    return compare_there(w, (size_t)count, result, error);
  return run_batch(w, count < BATCH ? (size_t)count : BATCH, result, error);
}

bool smma_campaign_run(const smma_campaign *c, const smma_instruction *i, smma_campaign_watcher *watcher, void *context,
                       smma_campaign_rows *numbered, smma_campaign_result *result, bool *stopped, smma_error *error) {
  const size_t at_once = smma_units_compare_at_once(c->unit, c->against);
  uint64_t rows;
  bool done = true;
  work w;
  *stopped = false;
  if (!allocate(c, i, numbered, &w)) {
    release(&w);
    return smma_fail(error, "no memory for %d rows of %s", BATCH, i->name);
  }
  rows = smma_share_rows(&w.share, rows_of(c));
  if (at_once && result->rows < rows) {
    const smma_row_selection x = smma_campaign_rows_selection(numbered, 0);
    done = smma_units_check_compare(c->unit, c->against, i, &x, CHECKED, error);
  }
  while (done && !*stopped && result->rows < rows) {
    done = run_next(&w, at_once, rows, result, error);
    *stopped = done ? watcher(result, context) : smma_units_stopped();
  }
  release(&w);
  return done || *stopped;
}

bool smma_campaign_again(const smma_campaign *c, const smma_campaign_rows *numbered, const uint64_t *number,
                         size_t count, smma_rows *rows, uint64_t *expected, smma_error *error) {
  const smma_unit *recording = recording_of(c);
  const size_t bytes = smma_bytes_of(numbered->instruction->d);
  unsigned char *other = malloc((count + 1) * bytes);
  bool good = other || smma_no_memory(error);
  for (size_t n = 0; good && n < count; n++) {
    smma_row row;
    size_t all;
    if (recording) {
      smma_rows_copy(rows, n, smma_recorded_rows(recording, &all), (size_t)number[n], 1);
      continue;
    }
    smma_campaign_rows_get(numbered, number[n], &row);
    smma_rows_put(rows, n, &row);
  }
  good = good && smma_unit_ask(c->unit, rows, 0, count, NULL, error) &&
         smma_unit_ask(c->against, rows, 0, count, other, error);
  for (size_t n = 0; good && n < count; n++) expected[n] = smma_load(bytes, other, n);
  free(other);
  return good;
}
