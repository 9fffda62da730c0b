#include "rows/check.h"

#include <stdlib.h>

#include "host/load.h"
#include "rows/rows.h"

/* Rows that are computed together. */
enum { BATCH = 8192 };

/* Rows that were read, and where. */
typedef struct {
  smma_rows rows;
  size_t count;
  unsigned long long line[BATCH];
  uint64_t got[BATCH]; /* in containers of d */
} batch;

/* What one stream is checked with. */
typedef struct {
  const char *path;
  const smma_vector_header *header;
  smma_operation operation;
  smma_check_totals *totals;
  const smma_check_watcher *watcher;
} check;

static void check_row(const check *c, const batch *b, size_t i) {
  const uint64_t expected = smma_rows_result(&b->rows, i);
  const uint64_t got = smma_load(b->rows.layout.part[SMMA_PART_D].bytes, b->got, i);
  c->totals->rows++;
  if (c->watcher->progress && c->totals->rows % 4096 == 0) c->watcher->progress(c->totals, c->watcher->context);
  if (smma_same_result(&c->operation, expected, got)) return;
  c->totals->mismatches++;
  if (c->watcher->mismatch) {
    smma_row row;
    smma_rows_get(&b->rows, i, &row);
    c->watcher->mismatch(&(smma_mismatch){c->path, b->line[i], c->header, &row, got}, c->watcher->context);
  }
}

static bool check_batch(const check *c, batch *b, smma_error *error) {
  const smma_batch all = smma_rows_batch(&b->rows, 0, b->count, b->got);
  if (!c->watcher->compute)
    smma_dot_rows(b->rows.instruction, &all, 0);
  else if (!c->watcher->compute(b->rows.instruction, &all, c->watcher->context, error))
    return false;
  for (size_t i = 0; i < b->count; i++) check_row(c, b, i);
  b->count = 0;
  return true;
}

/* The next rows, up to the batch's end. */
static smma_vector_status read_rows(smma_vector_reader *reader, batch *b, smma_error *error) {
  smma_vector_status status = SMMA_VECTOR_ROW;
  while (status == SMMA_VECTOR_ROW && b->count < BATCH) {
    const size_t count = smma_vector_take_rows(reader, &b->rows, b->count, BATCH - b->count);
    smma_row row;
    for (size_t i = 0; i < count; i++) b->line[b->count++] = smma_vector_line(reader) - count + i + 1;
    if (count > 0) continue;
    status = smma_vector_next(reader, &row, error);
    if (status != SMMA_VECTOR_ROW) break;
    b->line[b->count] = smma_vector_line(reader);
    smma_rows_put(&b->rows, b->count++, &row);
  }
  return status;
}

/* All rows of an open reader. */
static bool check_rows(const check *c, smma_vector_reader *reader, batch *b, smma_error *error) {
  smma_vector_status status;
  do {
    smma_error failed;
    status = read_rows(reader, b, error);
    if (!check_batch(c, b, &failed)) return smma_fail(error, "%s: %s", c->path, failed.text);
  } while (status == SMMA_VECTOR_ROW);
  return status == SMMA_VECTOR_END;
}

bool smma_check_stream(FILE *stream, const char *path, smma_check_totals *totals, const smma_check_watcher *watcher,
                       smma_error *error) {
  smma_vector_header header;
  check c = {.path = path, .header = &header, .totals = totals, .watcher = watcher};
  const smma_instruction *instruction;
  bool done = false;
  smma_vector_reader *reader = smma_vector_open(stream, path, &header, error);
  if (!reader) return false;
  instruction = smma_instruction_of_header(&header, path, error);
  if (instruction) {
    batch *b = malloc(sizeof *b);
    c.operation = smma_operation_of(instruction);
    if (b) b->count = 0;
    if (b && smma_rows_allocate(instruction, BATCH, &b->rows)) {
      done = check_rows(&c, reader, b, error);
      smma_rows_free(&b->rows);
    } else {
      smma_fail(error, "%s: no memory", path);
    }
    free(b);
  }
  smma_vector_close(reader);
  return done;
}
