#include "campaign/record.h"

#include <string.h>

#include "host/clock.h"
#include "isa/format_name.h"
#include "isa/key.h"
#include "rows/datum.h"
#include "unit/recording.h"

enum { BATCH = 65536 };

void smma_record_header(const smma_record_request *q, smma_vector_header *header) {
  const smma_unit_description *d = &q->unit->description;
  const char *const parts[] = {*d->device ? d->device : q->unit->name, d->driver, d->toolkit};
  char *text = header->recorded_on, date[32];
  const size_t size = sizeof header->recorded_on;
  smma_vector_header_of(q->instruction, header);
  *text = 0;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    if (*parts[i]) smma_append_text(text, size, "%s; ", parts[i]);
  smma_append_text(text, size, "%.10s", smma_utc_text(date)); /* only the date */
}

bool smma_record_check(const smma_record_request *q, smma_error *error) {
  if (smma_unit_is_recording(q->unit)) return smma_fail(error, "%s is a recording already; copy it", q->unit->name);
  return smma_unit_computes(q->unit, q->instruction, error);
}

bool smma_record_from(smma_record_request *q, FILE *stream, const char *path, smma_error *error) {
  smma_vector_header *h = &q->header;
  q->path = path;
  q->reader = smma_vector_open(stream, path, h, error);
  if (!q->reader) return false;
  if (!q->instruction) return (q->instruction = smma_instruction_of_header(h, path, error)) != NULL;
  const smma_instruction *i = q->instruction;
  if (h->k == i->k && h->a == i->a && h->b == i->b && h->c == i->c && h->scale_block == i->scale_block &&
      (!h->scale_block || h->scale == i->scale))
    return true;
  return smma_fail(
      error, "%s: its test vectors are of %s, with K = %d, a in %s, b in %s and c in %s; those of %s are not", path,
      h->instruction, h->k, smma_format_text(h->a), smma_format_text(h->b), smma_format_text(h->c), i->name);
}

/* Computes the first `count` vectors of `rows`, and passes them on. `first` is the number of vectors before them, and
   `all` that of all, or 0. */
static bool record_batch(const smma_record_request *q, const smma_rows *rows, uint64_t first, size_t count,
                         uint64_t all, smma_record_taker *take, void *taker, smma_error *error) {
  if (!smma_unit_ask(q->unit, rows, 0, count, NULL, error) || !take(rows, count, taker, error)) return false;
  return !q->watch || !q->watch(first + count, all, q->context) || smma_fail(error, "interrupted");
}

static bool record_campaign(const smma_record_request *q, smma_rows *rows, smma_record_taker *take, void *taker,
                            smma_error *error) {
  smma_campaign_rows numbered = {0};
  bool good = smma_campaign_rows_of(&q->recipe, q->instruction, &numbered) || smma_no_memory(error);
  for (uint64_t first = 0; good && first < q->rows; first += BATCH) {
    const size_t count = q->rows - first < BATCH ? (size_t)(q->rows - first) : BATCH;
    smma_campaign_rows_fill(&numbered, first, count, rows);
    good = record_batch(q, rows, first, count, q->rows, take, taker, error);
  }
  smma_campaign_rows_free(&numbered);
  return good;
}

/* The file may have a column of flags, which the recording has not. */
static bool record_file(const smma_record_request *q, smma_rows *rows, smma_record_taker *take, void *taker,
                        smma_error *error) {
  const smma_instruction shape = smma_vector_shape(&q->header);
  const smma_row_layout layout = smma_vector_layout(&q->header);
  smma_vector_status status = SMMA_VECTOR_ROW;
  uint64_t first = 0;
  smma_rows stored;
  bool good = smma_rows_allocate_as(&shape, &layout, BATCH, &stored) || smma_no_memory(error);
  while (good && status == SMMA_VECTOR_ROW) {
    size_t count;
    status = smma_vector_read_rows(q->reader, &stored, NULL, &count, error);
    for (size_t n = 0; n < count; n++) {
      smma_row row;
      smma_rows_get(&stored, n, &row);
      smma_rows_put(rows, n, &row);
    }
    good = status != SMMA_VECTOR_ERROR && (!count || record_batch(q, rows, first, count, 0, take, taker, error));
    first += count;
  }
  smma_rows_free(&stored);
  return good && (first || smma_fail(error, "%s: it has no test vectors", q->path));
}

bool smma_record(const smma_record_request *q, smma_record_taker *take, void *taker, smma_error *error) {
  smma_rows rows;
  if (!smma_rows_allocate(q->instruction, BATCH, &rows)) return smma_fail(error, "no memory for %d rows", BATCH);
  const bool good =
      q->reader ? record_file(q, &rows, take, taker, error) : record_campaign(q, &rows, take, taker, error);
  smma_rows_free(&rows);
  return good;
}

/* ---- As a file ---- */

typedef struct {
  smma_vector_writer *writer;
  FILE *stream;
} file;

static bool write_rows(const smma_rows *rows, size_t count, void *taker, smma_error *error) {
  const file *f = taker;
  return !ferror(f->stream) && smma_vector_write_rows(f->writer, rows, count, error);
}

bool smma_record_write(const smma_record_request *q, FILE *stream, smma_vector_format format, smma_error *error) {
  smma_vector_header header;
  file f = {.stream = stream};
  bool good;
  smma_record_header(q, &header);
  f.writer = smma_vector_create(stream, format, &header, q->reader ? SMMA_ROWS_LATER : q->rows, error);
  good = f.writer && (smma_record(q, write_rows, &f, error) || ferror(stream));
  good = good && (ferror(stream) || smma_vector_finish(f.writer, error));
  smma_vector_free(f.writer);
  return good;
}

/* ---- As data ---- */

void smma_append_rows(smma_datum *list, const smma_rows *rows, size_t count) {
  const smma_instruction *i = rows->instruction;
  for (size_t n = 0; n < count; n++) {
    smma_datum *d = smma_datum_record();
    smma_row row;
    smma_rows_get(rows, n, &row);
    smma_put_operands(d, i, &row);
    smma_datum_put(d, "d", smma_encodings_datum(i->d, &row.d, 1));
    smma_datum_append(list, d);
  }
}

smma_datum *smma_record_datum(const smma_vector_header *header, smma_datum *rows) {
  smma_datum *d = smma_datum_record();
  smma_put_text(d, "arch", header->arch);
  smma_put_text(d, "instr", header->instruction);
  smma_put_text(d, "recorded_on", header->recorded_on);
  smma_datum_put(d, "rows", rows);
  return d;
}
