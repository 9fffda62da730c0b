#include "rows/check.h"

#include <stdlib.h>
#include <string.h>

#include "host/load.h"
#include "rows/rows.h"

/* BATCH rows are computed in one call, and PIECE rows are compared with one memcmp. At most MOST_EXAMPLES correct rows
   of a batch are passed on as examples. */
enum { BATCH = 8192, PIECE = 64, MOST_EXAMPLES = 1024 };

/* A batch of rows, with their positions in the file. */
typedef struct {
  smma_rows rows;
  size_t count;
  unsigned long long line[BATCH];
  uint64_t got[BATCH];        /* computed results, in containers of d's format */
  unsigned char flags[BATCH]; /* the model's flags, if the rows have flags */
} batch;

/* What all batches of one check share. */
typedef struct {
  const char *path;
  const smma_vector_header *header;
  smma_operation operation;
  smma_check_totals *totals;
  const smma_check_watcher *watcher;
} check;

/* Reports whether `count` rows from `first` on have the model's flags. Also true for rows without flags. */
static bool same_flags(const batch *b, size_t first, size_t count) {
  const unsigned char *expected = b->rows.part[SMMA_PART_FLAGS];
  return !expected || memcmp(expected + first, b->flags + first, count) == 0;
}

static void check_row(const check *c, const batch *b, size_t i) {
  const uint64_t expected = smma_rows_result(&b->rows, i);
  const uint64_t got = smma_load(b->rows.layout.part[SMMA_PART_D].bytes, b->got, i);
  const bool same = smma_same_result(&c->operation, expected, got);
  if (same && same_flags(b, i, 1)) return;
  c->totals->mismatches++;
  c->totals->nan += !same && smma_differs_in_nan(c->operation.d, expected, got);
  c->totals->flags += same;
  if (c->watcher->mismatch) {
    smma_row row;
    smma_rows_get(&b->rows, i, &row);
    c->watcher->mismatch(&(smma_mismatch){c->path, b->line[i], c->header, &row, got, b->flags[i], same},
                         c->watcher->context);
  }
}

/* Checks rows `first` to end - 1 and counts them in the totals. Compares them one by one only if some differ. */
static void check_piece(const check *c, const batch *b, size_t first, size_t end) {
  const size_t bytes = b->rows.layout.part[SMMA_PART_D].bytes;
  const unsigned char *expected = b->rows.part[SMMA_PART_D] + first * bytes, *got = (const unsigned char *)b->got;
  c->totals->rows += end - first;
  if (memcmp(expected, got + first * bytes, (end - first) * bytes) != 0 || !same_flags(b, first, end - first))
    for (size_t i = first; i < end; i++) check_row(c, b, i);
}

/* Passes the correct rows among at most MOST_EXAMPLES rows to the watcher. These rows are spread over the batch so that
   all kinds are included. */
static void report_right(const check *c, const batch *b) {
  const size_t step = (b->count + MOST_EXAMPLES - 1) / MOST_EXAMPLES;
  for (size_t at = 0; at < b->count; at += step) {
    const size_t i = at + at / step % step;
    smma_row row;
    uint64_t got;
    if (i >= b->count) continue;
    got = smma_load(b->rows.layout.part[SMMA_PART_D].bytes, b->got, i);
    smma_rows_get(&b->rows, i, &row);
    if (smma_same_result(&c->operation, row.d, got))
      c->watcher->right(&(smma_mismatch){c->path, b->line[i], c->header, &row, got, b->flags[i], true},
                        c->watcher->context);
  }
}

static bool check_batch(const check *c, batch *b, smma_error *error) {
  const smma_batch all = smma_rows_batch(&b->rows, 0, b->count, b->got);
  smma_batch operands = all;
  const unsigned long long mismatches = c->totals->mismatches;
  if (!c->watcher->compute)
    smma_dot_rows(b->rows.instruction, &all, 0);
  else if (!c->watcher->compute(b->rows.instruction, &all, c->watcher->context, error))
    return false;
  operands.d = NULL;
  if (c->header->tininess &&
      smma_dot_flags(b->rows.instruction, &operands, c->header->tininess, 0, b->flags, error) != SMMA_OK)
    return false;
  if (c->watcher->progress) c->watcher->progress(c->totals, c->watcher->context);
  for (size_t i = 0; i < b->count; i += PIECE) check_piece(c, b, i, b->count - i < PIECE ? b->count : i + PIECE);
  if (c->watcher->right && c->totals->mismatches > mismatches) report_right(c, b);
  return true;
}

/* Checks all rows of an open reader. */
static bool check_rows(const check *c, smma_vector_reader *reader, batch *b, smma_error *error) {
  smma_vector_status status;
  do {
    smma_error failed;
    status = smma_vector_read_rows(reader, &b->rows, b->line, &b->count, error);
    if (!check_batch(c, b, &failed)) return smma_fail(error, "%s: %s", c->path, failed.text);
  } while (status == SMMA_VECTOR_ROW);
  return status == SMMA_VECTOR_END;
}

bool smma_check_rows(const smma_rows *rows, size_t count, const smma_vector_header *header, const char *name,
                     smma_check_totals *totals, const smma_check_watcher *watcher, smma_error *error) {
  const check c = {name, header, smma_operation_of(rows->instruction), totals, watcher};
  batch *b = malloc(sizeof *b);
  bool good = b && smma_rows_allocate(rows->instruction, BATCH, &b->rows);
  if (!good) smma_fail(error, "%s: no memory", name);
  for (size_t first = 0; good && first < count; first += b->count) {
    smma_error failed;
    b->count = count - first < BATCH ? count - first : BATCH;
    smma_rows_copy(&b->rows, 0, rows, first, b->count);
    for (size_t n = 0; n < b->count; n++) b->line[n] = first + n + 1;
    good = check_batch(&c, b, &failed) || smma_fail(error, "%s: %s", name, failed.text);
  }
  if (b) smma_rows_free(&b->rows);
  free(b);
  return good;
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
    const smma_row_layout layout = smma_vector_layout(&header);
    c.operation = smma_operation_of(instruction);
    if (b && smma_rows_allocate_as(instruction, &layout, BATCH, &b->rows)) {
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
