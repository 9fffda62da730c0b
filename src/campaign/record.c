#include "campaign/record.h"

#include <string.h>

#include "host/clock.h"
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

bool smma_record(const smma_record_request *q, smma_record_taker *take, void *taker, smma_error *error) {
  smma_campaign_rows numbered = {0};
  smma_rows rows;
  bool good =
      smma_rows_allocate(q->instruction, BATCH, &rows) && smma_campaign_rows_of(&q->recipe, q->instruction, &numbered);
  if (!good) smma_fail(error, "no memory for %d rows", BATCH);
  for (uint64_t first = 0; good && first < q->rows; first += BATCH) {
    const size_t count = q->rows - first < BATCH ? (size_t)(q->rows - first) : BATCH;
    smma_campaign_rows_fill(&numbered, first, count, &rows);
    good = smma_unit_ask(q->unit, &rows, 0, count, NULL, error) && take(&rows, count, taker, error);
    if (good && q->watch && q->watch(first + count, q->rows, q->context)) good = smma_fail(error, "interrupted");
  }
  smma_campaign_rows_free(&numbered);
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
  f.writer = smma_vector_create(stream, format, &header, q->rows, error);
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
