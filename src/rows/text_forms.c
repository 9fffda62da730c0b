/* Reads the rows of CSV, JSON and JSON Lines. */
#include <stdlib.h>

#include "datum/datum.h"
#include "isa/ascii.h"
#include "isa/format_name.h"
#include "isa/key.h"
#include "rows/datum.h"
#include "rows/text_reader.h"

bool smma_csv_check_names(const smma_text_reader *reader, smma_error *error) {
  char *names = malloc(SMMA_LINE_LIMIT);
  const smma_span line = smma_trim((smma_span){reader->text, reader->length});
  bool same;
  if (!names) return smma_no_memory(error);
  smma_csv_names(&reader->layout, names, SMMA_LINE_LIMIT);
  same = smma_span_equals(line, names);
  free(names);
  return same ||
         smma_text_fail(
             reader, reader->text, error,
             "the columns of CSV are not those of the header: a[0],a[1] and so on, as 'vectors gen' writes them");
}

/* Checks that a cell has no blank between numbers. */
static bool check_cell(const smma_text_reader *reader, smma_span cell, smma_error *error) {
  for (size_t i = 0; i < cell.length; i++)
    if (smma_is_blank(cell.text[i]))
      return smma_text_fail(reader, cell.text + i, error, "a blank within a cell; separate numbers with commas");
  return true;
}

/* Checks that each cell has one number. Only cells after the last number may be empty, as spreadsheets save them. */
static bool check_cells(const smma_text_reader *reader, smma_error *error) {
  const char *end = reader->text + reader->length, *empty = NULL;
  for (const char *c = reader->text, *comma; c <= end; c = comma + 1) {
    comma = memchr(c, ',', (size_t)(end - c));
    if (!comma) comma = end;
    const smma_span cell = smma_trim((smma_span){c, (size_t)(comma - c)});
    if (cell.length && empty)
      return smma_text_fail(reader, empty, error, "an empty cell before the last number; give its encoding, as 0x3c00");
    if (!cell.length && !empty) empty = c;
    if (!check_cell(reader, cell, error)) return false;
  }
  return true;
}

bool smma_csv_blank_separators(smma_text_reader *reader, smma_error *error) {
  char *end = reader->text + reader->length;
  bool begins = true; /* a number may begin here */
  if (!check_cells(reader, error)) return false;
  for (char *c = reader->text; c < end; c++) {
    const bool is_prefix = begins && end - c > 1 && c[0] == '0' && (c[1] | 0x20) == 'x';
    if (*c == ',') *c = ' ';
    begins = smma_is_blank(*c);
    if (is_prefix) *c++ = ' ', *c = ' ';
  }
  return true;
}

/* Reads a line as JSON. */
static smma_datum *read_json(const smma_text_reader *reader, smma_span line, smma_error *error) {
  static const char place[] = "JSON:1:"; /* followed by the column, ": " and what is wrong */
  const size_t length = strlen(place);
  smma_error why;
  char *what = why.text;
  size_t column = 1;
  smma_datum *d = smma_datum_read("JSON", line.text, line.length, &why);
  if (d) return d;
  if (strncmp(why.text, place, length) == 0) column = strtoul(why.text + length, &what, 10), what += strlen(": ");
  smma_text_fail(reader, line.text + column - 1, error, "%s", what);
  return NULL;
}

/* Sets a header key to a JSON value. */
static bool set_json_value(smma_text_reader *reader, smma_text_key key, const smma_datum *value, smma_error *error) {
  const char *text = smma_datum_text_of(value);
  uint64_t count;
  if (!text && !smma_datum_count_of(value, &count))
    return smma_text_fail(reader, reader->text, error, "the value of '%s' is neither a text nor a number",
                          smma_text_keys[key]);
  for (const char *c = text; c && *c; c++)
    if (smma_is_control(*c))
      return smma_text_fail(reader, reader->text, error,
                            "the value of '%s' has a control character, such as a line end", smma_text_keys[key]);
  reader->length = (size_t)(text ? snprintf(reader->text, SMMA_LINE_LIMIT, "%s", text)
                                 : snprintf(reader->text, SMMA_LINE_LIMIT, "%llu", (unsigned long long)count));
  return smma_text_set_key(reader, key, (smma_span){reader->text, reader->length}, error);
}

/* Removes `"rows": [`, with any blanks, and the commas before it from the end of a line. Returns false if the line ends
   otherwise. */
static bool cut_rows(smma_span *line) {
  static const char *const end[] = {"[", ":", "\"rows\""};
  smma_span rest = *line;
  for (size_t i = 0; i < sizeof end / sizeof *end; i++) {
    const size_t length = strlen(end[i]);
    rest = smma_trim(rest);
    if (rest.length < length || memcmp(rest.text + rest.length - length, end[i], length) != 0) return false;
    rest.length -= length;
  }
  while (rest.length && (smma_is_blank(rest.text[rest.length - 1]) || rest.text[rest.length - 1] == ',')) rest.length--;
  *line = rest;
  return true;
}

bool smma_json_read_header(smma_text_reader *reader, smma_error *error) {
  smma_span line = smma_trim((smma_span){reader->text, reader->length});
  char *closed = malloc(line.length + 2);
  smma_datum *d = NULL;
  bool good = true;
  if (!closed) return smma_no_memory(error);
  reader->form = cut_rows(&line) ? SMMA_FORM_JSON : SMMA_FORM_JSONL;
  memcpy(closed, line.text, line.length);
  if (reader->form == SMMA_FORM_JSON) closed[line.length++] = '}';
  d = smma_datum_read("", closed, line.length, NULL);
  if (!d)
    smma_text_fail(reader, reader->text, error,
                   "not a whole record; JSON is read a row a line, as 'softmma vectors convert' writes it");
  if (d && smma_datum_get(d, "rows"))
    good = smma_text_fail(reader, reader->text, error,
                          "rows stand in the line of the header; JSON is read a row a line, as 'softmma vectors "
                          "convert' writes it");
  for (int i = 0; d && good && i < SMMA_KEY_COUNT; i++)
    if (smma_datum_get(d, smma_text_keys[i]))
      good = set_json_value(reader, (smma_text_key)i, smma_datum_get(d, smma_text_keys[i]), error);
  good = d && good;
  smma_datum_free(d);
  free(closed);
  return good;
}

static bool take_json_part(const smma_text_reader *reader, const smma_datum *record, int p, smma_row *row,
                           smma_error *error) {
  const smma_part *part = &reader->layout.part[p];
  const smma_datum *value = smma_datum_get(record, part->name);
  smma_datum *list = NULL;
  bool good = true;
  if (!part->count) return true;
  if (smma_datum_kind_of(value) == SMMA_DATUM_TEXT)
    list = smma_datum_list_of(1, smma_datum_text(smma_datum_text_of(value)));
  good = smma_encodings_read(list ? list : value, part->format, part->count, smma_part_of(row, part));
  smma_datum_free(list);
  return good || smma_text_fail(reader, reader->text, error, "'%s' is not %d encoding%s of %s in hexadecimal",
                                part->name, part->count, part->count > 1 ? "s" : "", smma_format_text(part->format));
}

smma_vector_status smma_json_take_row(smma_text_reader *reader, smma_row *row, smma_error *error) {
  smma_span line = smma_trim((smma_span){reader->text, reader->length});
  smma_datum *d;
  bool good;
  if (reader->closed)
    return smma_text_fail(reader, reader->text, error, "the list of rows has ended before"), SMMA_VECTOR_ERROR;
  reader->closed = reader->form == SMMA_FORM_JSON && smma_span_equals(line, "]}");
  if (reader->closed) {
    const smma_vector_status status = smma_text_next_line(reader, error);
    return status == SMMA_VECTOR_ROW ? smma_json_take_row(reader, row, error) : status;
  }
  if (reader->form == SMMA_FORM_JSON && line.length && line.text[line.length - 1] == ',') line.length--;
  d = read_json(reader, line, error);
  good = d != NULL;
  for (int p = 0; good && p < SMMA_PARTS; p++) good = take_json_part(reader, d, p, row, error);
  smma_datum_free(d);
  return good ? SMMA_VECTOR_ROW : SMMA_VECTOR_ERROR;
}
