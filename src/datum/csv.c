/* Writes a list of records as CSV (RFC 4180). */
#include <stdlib.h>
#include <string.h>

#include "datum/datum.h"

enum { LONGEST_PATH = 256 };

static bool is_record(const smma_datum *d) { return smma_datum_kind_of(d) == SMMA_DATUM_RECORD; }
static bool is_list(const smma_datum *d) { return smma_datum_kind_of(d) == SMMA_DATUM_LIST; }

/* Returns the datum itself or the first element of a record that is a list of records, with records in it if there is
   one; NULL if there is none. */
static const smma_datum *table_of(const smma_datum *d) {
  const smma_datum *empty = NULL;
  if (smma_datum_is_table(d)) return d;
  for (size_t i = 0; is_record(d) && i < smma_datum_size(d); i++) {
    const smma_datum *list = smma_datum_at(d, i);
    if (!smma_datum_is_table(list)) continue;
    if (smma_datum_size(list)) return list;
    if (!empty) empty = list;
  }
  return empty;
}

/* Receives a value of a record, and its key; for a value of a record within, the keys of both, separated by a dot. */
typedef void visitor(const char *path, const smma_datum *value, void *context);

static void visit_values(const smma_datum *record, const char *before, visitor *visit, void *context) {
  char path[LONGEST_PATH];
  for (size_t i = 0; i < smma_datum_size(record); i++) {
    const smma_datum *value = smma_datum_at(record, i);
    snprintf(path, sizeof path, "%s%s%s", before, *before ? "." : "", smma_datum_key(record, i));
    if (is_record(value))
      visit_values(value, path, visit, context);
    else if (!is_list(value))
      visit(path, value, context);
  }
}

/* Adds a column: an element of the record `columns`, whose value is the number of the column. */
static void add_column(const char *path, const smma_datum *value, void *columns) {
  (void)value;
  if (!smma_datum_get(columns, path)) smma_put_count(columns, path, smma_datum_size(columns));
}

/* A row of the table, with a cell for each column. */
typedef struct {
  const smma_datum *columns, **cell;
} table_row;

static void set_cell(const char *path, const smma_datum *value, void *context) {
  const table_row *row = context;
  row->cell[smma_datum_integer_of(smma_datum_get(row->columns, path))] = value;
}

static void write_text(const char *text, FILE *stream) {
  if (!text[strcspn(text, ",\"\r\n")]) {
    fputs(text, stream);
    return;
  }
  putc('"', stream);
  for (; *text; text++) fprintf(stream, *text == '"' ? "\"\"" : "%c", *text);
  putc('"', stream);
}

static void write_cell(const smma_datum *value, FILE *stream) {
  if (smma_datum_kind_of(value) == SMMA_DATUM_TEXT)
    write_text(smma_datum_text_of(value), stream);
  else if (smma_datum_kind_of(value) != SMMA_DATUM_NULL)
    smma_datum_write(value, stream, SMMA_JSON_COMPACT);
}

static void write_rows(const smma_datum *table, const table_row *row, FILE *stream) {
  const size_t columns = smma_datum_size(row->columns);
  for (size_t c = 0; c < columns; c++) {
    if (c) putc(',', stream);
    write_text(smma_datum_key(row->columns, c), stream);
  }
  putc('\n', stream);
  for (size_t i = 0; i < smma_datum_size(table); i++) {
    memset(row->cell, 0, columns * sizeof *row->cell);
    visit_values(smma_datum_at(table, i), "", set_cell, (void *)row);
    for (size_t c = 0; c < columns; c++) {
      if (c) putc(',', stream);
      write_cell(row->cell[c], stream);
    }
    putc('\n', stream);
  }
}

bool smma_datum_write_csv(const smma_datum *d, FILE *stream, smma_error *error) {
  const smma_datum *table = table_of(d);
  smma_datum *columns = smma_datum_record();
  table_row row = {.columns = columns};
  bool done = table != NULL || smma_fail(error, "the result has no list of records, of which a table could be made");
  for (size_t i = 0; done && i < smma_datum_size(table); i++)
    visit_values(smma_datum_at(table, i), "", add_column, columns);
  if (done) row.cell = malloc((smma_datum_size(columns) + 1) * sizeof *row.cell);
  done = done && ((row.cell && smma_datum_is_complete(columns)) || smma_no_memory(error));
  if (done && smma_datum_size(table)) write_rows(table, &row, stream);
  free(row.cell);
  smma_datum_free(columns);
  return done;
}
