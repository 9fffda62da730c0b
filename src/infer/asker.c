#include "infer/asker.h"

#include <string.h>
#include <sys/stat.h>

#include "io/file.h"
#include "rows/text.h"

static bool is_known(const smma_asking *a, size_t index, const smma_rows *rows, size_t at) {
  smma_row known, row;
  smma_rows_get(&a->known, index, &known);
  smma_rows_get(rows, at, &row);
  return smma_same_operands_in(&rows->layout, &known, &row);
}

/* As many of the next rows as the record has; false if it has others. */
static bool take_known(smma_asking *a, smma_rows *rows, size_t count, size_t *taken) {
  const smma_part *d = &rows->layout.part[SMMA_PART_D];
  for (*taken = 0; *taken < count && a->rows < a->known_count; (*taken)++, a->rows++) {
    if (!is_known(a, (size_t)a->rows, rows, *taken))
      return smma_fail(a->error,
                       "the record's row %llu is not the one that this search asks: it is of another seed or unit",
                       (unsigned long long)a->rows);
    memcpy(rows->part[SMMA_PART_D] + *taken * d->bytes, a->known.part[SMMA_PART_D] + a->rows * d->bytes, d->bytes);
  }
  return true;
}

bool smma_asking_run(smma_asking *a, smma_rows *rows, size_t count) {
  size_t taken;
  if (!take_known(a, rows, count, &taken)) return false;
  if (taken == count) return true;
  if (!smma_unit_ask(a->unit, rows, taken, count - taken, NULL, a->error)) return false;
  a->calls++;
  a->rows += count - taken;
  if (!a->record) return true;
  for (size_t i = taken; i < count; i++) {
    smma_row row;
    smma_rows_get(rows, i, &row);
    smma_text_write_row(a->record, &rows->layout, &row);
  }
  return fflush(a->record) == 0 || smma_fail(a->error, "the record cannot be written any further");
}

/* ---- Records ---- */

/* All whole rows; of a text a last line that was cut off is as if it were not there. */
static bool read_rows(smma_asking *a, FILE *stream, const char *path) {
  smma_vector_header header, own;
  smma_error why;
  smma_vector_reader *reader = smma_vector_open(stream, path, &header, a->error);
  smma_vector_status status = SMMA_VECTOR_ROW;
  uint64_t rows;
  smma_row row;
  bool good = reader != NULL;
  if (!good) return false;
  smma_vector_header_of(a->instruction, &own);
  if (strcmp(header.arch, own.arch) != 0 || strcmp(header.instruction, own.instruction) != 0)
    good = smma_fail(a->error, "%s: it records %s of %s, and not %s of %s", path, header.instruction, header.arch,
                     own.instruction, own.arch);
  while (good && (status = smma_vector_next(reader, &row, &why)) == SMMA_VECTOR_ROW) {
    if (a->known_count == a->known.capacity && !smma_rows_grow(&a->known, 2 * a->known.capacity + 1024))
      good = smma_fail(a->error, "out of memory");
    if (good) smma_rows_put(&a->known, a->known_count++, &row);
  }
  if (good && status == SMMA_VECTOR_ERROR && smma_vector_count(reader, &rows))
    good = smma_fail(a->error, "%s", why.text);
  smma_vector_close(reader);
  return good;
}

static bool write_again(const smma_asking *a, const char *path) {
  smma_vector_header header;
  smma_output output;
  if (!smma_output_open(path, &output, a->error)) return false;
  smma_vector_header_of(a->instruction, &header);
  smma_text_write_header(output.stream, &header);
  if (!smma_text_write_rows(output.stream, &a->known, a->known_count)) {
    smma_output_abandon(&output);
    return smma_fail(a->error, "out of memory");
  }
  return smma_output_commit(&output, a->error);
}

bool smma_asking_open_record(smma_asking *a, const char *path) {
  struct stat is;
  FILE *stream;
  bool good = smma_rows_allocate(a->instruction, 1024, &a->known) || smma_fail(a->error, "out of memory");
  if (good && stat(path, &is) == 0 && is.st_size > 0) {
    stream = fopen(path, "r");
    good = stream ? read_rows(a, stream, path) : smma_fail(a->error, "%s cannot be read", path);
    if (stream) fclose(stream);
  }
  good = good && write_again(a, path);
  if (good && !(a->record = fopen(path, "a"))) good = smma_fail(a->error, "%s cannot be written", path);
  if (!good) smma_asking_close_record(a);
  return good;
}

void smma_asking_close_record(smma_asking *a) {
  if (a->record) fclose(a->record);
  a->record = NULL;
  smma_rows_free(&a->known);
  a->known_count = 0;
}
