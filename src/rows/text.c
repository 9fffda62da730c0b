#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "host/bits.h"
#include "isa/format_name.h"
#include "rows/text_reader.h"

/* ---- Opening ---- */

/* Reads up to the first row. */
static bool read_header(smma_text_reader *reader, smma_error *error) {
  smma_vector_status status = smma_text_next_line(reader, error);
  if (status == SMMA_VECTOR_ROW && *smma_trim((smma_span){reader->text, reader->length}).text == '{') {
    if (!smma_json_read_header(reader, error)) return false;
    status = smma_text_next_line(reader, error);
  }
  if (status == SMMA_VECTOR_ERROR || !smma_text_check_header(reader, error)) return false;
  reader->in_rows = true;
  reader->layout = smma_vector_layout(&reader->header);
  if (reader->form == SMMA_FORM_TEXT && status == SMMA_VECTOR_ROW && memchr(reader->text, ',', reader->length)) {
    reader->form = SMMA_FORM_CSV;
    if (!smma_csv_check_names(reader, error)) return false;
    status = smma_text_next_line(reader, error);
  }
  reader->pending = status == SMMA_VECTOR_ROW;
  return status != SMMA_VECTOR_ERROR;
}

static smma_text_reader *new_reader(FILE *stream, const char *path, smma_error *error) {
  smma_text_reader *reader = calloc(1, sizeof *reader);
  if (reader) reader->path = strdup(path);
  if (!reader || !reader->path) {
    smma_fail(error, "%s: no memory", path);
    free(reader);
    return NULL;
  }
  reader->stream = stream;
  reader->header.a = reader->header.b = reader->header.c = reader->header.d = SMMA_NO_FORMAT;
  reader->header.scale = SMMA_NO_FORMAT;
  return reader;
}

smma_text_reader *smma_text_open(FILE *stream, const char *path, smma_vector_header *header, smma_error *error) {
  smma_text_reader *reader = new_reader(stream, path, error);
  if (!reader) return NULL;
  if (read_header(reader, error)) {
    *header = reader->header;
    return reader;
  }
  smma_text_close(reader);
  return NULL;
}

/* Returns the value of a hexadecimal digit, or -1. */
static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool fail_character(const smma_text_reader *reader, const char *place, smma_error *error) {
  unsigned char c = (unsigned char)*place;
  if (c == '\0') return smma_text_fail(reader, place, error, "a NUL byte; this is no text file");
  if (c < ' ' || c > '~')
    return smma_text_fail(reader, place, error, "byte 0x%02x is no hexadecimal digit; rows are raw encodings in hex",
                          c);
  return smma_text_fail(reader, place, error, "'%c' is no hexadecimal digit; rows are raw encodings in hex, without 0x",
                        c);
}

/* Checks that the row holds the expected number of numbers; otherwise sets an error and returns false. */
static bool check_count(const smma_text_reader *reader, smma_error *error) {
  char columns[128];
  const char *place = reader->text, *end = reader->text + reader->length, *surplus = NULL;
  size_t length = 0;
  int expected = 0, found = 0;
  for (int i = 0; i < SMMA_PARTS; i++) {
    const smma_part *part = &reader->layout.part[i];
    expected += part->count;
    if (part->count > 0)
      length += (size_t)snprintf(columns + length, sizeof columns - length, part->count > 1 ? "%s%s[%d]" : "%s%s",
                                 i ? " " : "", part->name, part->count);
  }
  for (;;) {
    while (place < end && smma_is_blank(*place)) place++;
    if (place == end) break;
    if (found++ == expected) surplus = place;
    while (place < end && !smma_is_blank(*place)) place++;
  }
  if (found == expected) return true;
  return smma_text_fail(reader, surplus ? surplus : end, error, "expected %d numbers (%s), found %d", expected, columns,
                        found);
}

/* Reads the number at `*place`, which is number i of a part, and moves `*place` past it. */
static bool parse_number(const smma_text_reader *reader, const char **place, const smma_part *part, int i,
                         uint64_t *number, smma_error *error) {
  const char *c = *place, *end = reader->text + reader->length;
  int bits = smma_encoding_of(part->format).bits, digit;
  uint64_t value = 0, lost = 0;
  while (c < end && smma_is_blank(*c)) c++;
  const char *start = c;
  if (c == end) return check_count(reader, error);
  for (; c < end && (digit = digit_of(*c)) >= 0; c++) {
    lost |= value >> 60;
    value = value << 4 | (uint64_t)digit;
  }
  if (c < end && !smma_is_blank(*c)) return fail_character(reader, c, error);
  if (bits < 64) lost |= value >> bits;
  if (c == end && !reader->ended && c - start < smma_text_digits(part->format))
    return smma_text_fail(
        reader, start, error,
        "the file ends in this line, and %.*s has fewer than %d digits: it may be truncated; end the line",
        (int)(c - start), start, smma_text_digits(part->format));
  *place = c;
  *number = value;
  if (lost == 0) return true;
  if (!check_count(reader, error)) return false; /* a wrong number of elements is the more likely cause */
  return smma_text_fail(
      reader, start, error,
      part->count > 1 ? "%.*s does not fit %s's %d bits (%s[%d])" : "%.*s does not fit %s's %d bits (%s)",
      c - start < 64 ? (int)(c - start) : 64, start, smma_format_text(part->format), bits, part->name, i);
}

/* The value of each hexadecimal digit with bit 4 set; 0 for other characters. */
static const uint8_t hexadecimal[256] = {
    ['0'] = 0x10, ['1'] = 0x11, ['2'] = 0x12, ['3'] = 0x13, ['4'] = 0x14, ['5'] = 0x15, ['6'] = 0x16, ['7'] = 0x17,
    ['8'] = 0x18, ['9'] = 0x19, ['a'] = 0x1a, ['b'] = 0x1b, ['c'] = 0x1c, ['d'] = 0x1d, ['e'] = 0x1e, ['f'] = 0x1f,
    ['A'] = 0x1a, ['B'] = 0x1b, ['C'] = 0x1c, ['D'] = 0x1d, ['E'] = 0x1e, ['F'] = 0x1f};

/* Reads a number in the usual form: an optional blank and exactly the digits of its format. Returns false for any other
   form, which parse_number reads. */
static inline bool take_number(const char **place, const char *end, int digits, int bits, uint64_t *number) {
  const char *c = *place;
  uint64_t value = 0;
  unsigned all = 0x10;
  if (c < end && *c == ' ') c++;
  if (end - c < digits) return false;
  for (int i = 0; i < digits; i++) {
    const unsigned digit = hexadecimal[(unsigned char)c[i]];
    all &= digit;
    value = value << 4 | (digit & 15);
  }
  if (!all || smma_low_bits(value, bits) != value || (end - c > digits && c[digits] != ' ')) return false;
  *place = c + digits;
  *number = value;
  return true;
}

/* Reads all numbers of a part. */
static bool parse_part(const smma_text_reader *reader, const char **place, const smma_part *part, uint64_t *number,
                       smma_error *error) {
  const char *end = reader->text + reader->length;
  const int digits = part->count ? smma_text_digits(part->format) : 0;
  const int bits = part->count ? smma_encoding_of(part->format).bits : 0;
  for (int i = 0; i < part->count; i++) {
    const bool taken = digits == 4   ? take_number(place, end, 4, bits, number + i)
                       : digits == 2 ? take_number(place, end, 2, bits, number + i)
                                     : take_number(place, end, digits, bits, number + i);
    if (!taken && !parse_number(reader, place, part, i, number + i, error)) return false;
  }
  return true;
}

smma_vector_status smma_text_next(smma_text_reader *reader, smma_row *row, smma_error *error) {
  const char *place = reader->text, *end;
  if (!reader->pending) {
    smma_vector_status status = smma_text_next_line(reader, error);
    if (status == SMMA_VECTOR_END && reader->form == SMMA_FORM_JSON && !reader->closed)
      return smma_text_fail(reader, reader->text, error, "the list of rows has no end: the file is truncated"),
             SMMA_VECTOR_ERROR;
    if (status != SMMA_VECTOR_ROW) return status;
  }
  reader->pending = false;
  if (reader->form == SMMA_FORM_JSON || reader->form == SMMA_FORM_JSONL) return smma_json_take_row(reader, row, error);
  if (reader->form == SMMA_FORM_CSV && !smma_csv_blank_separators(reader, error)) return SMMA_VECTOR_ERROR;
  for (int p = 0; p < SMMA_PARTS; p++) {
    const smma_part *part = &reader->layout.part[p];
    if (!parse_part(reader, &place, part, smma_part_of(row, part), error)) return SMMA_VECTOR_ERROR;
  }
  for (end = reader->text + reader->length; place < end && smma_is_blank(*place); place++) continue;
  if (place < end) {
    check_count(reader, error);
    return SMMA_VECTOR_ERROR;
  }
  return SMMA_VECTOR_ROW;
}

unsigned long long smma_text_line(const smma_text_reader *reader) { return reader->line; }

void smma_text_close(smma_text_reader *reader) {
  if (!reader) return;
  free(reader->path);
  free(reader);
}

/* ---- Recognising vector files ---- */

/* Reports whether a text has the mark of JSON, with any blanks around its colon. */
static bool has_mark(smma_span text) {
  const size_t key = strlen(SMMA_JSON_MARK_KEY), value = strlen(SMMA_JSON_MARK_VALUE);
  for (; text.length > key + value; text.text++, text.length--) {
    if (memcmp(text.text, SMMA_JSON_MARK_KEY, key) != 0) continue;
    smma_span rest = smma_trim((smma_span){text.text + key, text.length - key});
    if (rest.length <= value || rest.text[0] != ':') continue;
    rest = smma_trim((smma_span){rest.text + 1, rest.length - 1});
    if (rest.length >= value && memcmp(rest.text, SMMA_JSON_MARK_VALUE, value) == 0) return true;
  }
  return false;
}

/* Reports whether a line that is not a comment begins a JSON file of test vectors: it has a whole header, or the mark
   is in the line or soon after it. The reader refuses a file with the mark in another line, and says why. */
static bool begins_json(smma_text_reader *reader, smma_span line) {
  const size_t there = reader->filled - reader->taken;
  const smma_span next = {reader->chunk + reader->taken, there < SMMA_LINE_LIMIT ? there : SMMA_LINE_LIMIT};
  smma_error ignored;
  if (line.text[0] != '{') return false;
  if (has_mark(line) || has_mark(next)) return true;
  return smma_json_read_header(reader, &ignored) && smma_text_check_header(reader, &ignored);
}

static bool names_instruction(smma_span comment) {
  smma_span key, value;
  return smma_split_key(comment, &key, &value) && smma_span_equals(key, smma_text_keys[SMMA_KEY_INSTRUCTION]) &&
         value.length > 0;
}

/* Reports whether the lines before the rows name an instruction. The reader has to report faults in these lines, so
   they do not matter here. */
static bool begins_as_vectors(smma_text_reader *reader) {
  smma_error ignored;
  for (int i = 0; i < SMMA_LINES_WITHOUT_ROW && smma_text_read_line(reader, &ignored) == SMMA_VECTOR_ROW; i++) {
    const smma_span line = smma_trim((smma_span){reader->text, reader->length});
    if (line.length == 0) continue;
    if (line.text[0] != '#') return begins_json(reader, line);
    if (names_instruction(line)) return true;
    smma_text_take_comment(reader, line, &ignored);
  }
  return false;
}

bool smma_vector_is_text(FILE *stream) {
  smma_error ignored;
  smma_text_reader *reader = new_reader(stream, "", &ignored);
  bool recognized;
  if (!reader) return true; /* so that the caller opens the file, which reports that there is no memory */
  rewind(stream);
  recognized = begins_as_vectors(reader);
  smma_text_close(reader);
  rewind(stream);
  return recognized;
}
