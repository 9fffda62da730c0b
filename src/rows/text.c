#define _POSIX_C_SOURCE 200809L
#include "rows/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "datum/datum.h"
#include "host/load.h"
#include "host/thread.h"
#include "isa/format_name.h"
#include "isa/key.h"
#include "rows/datum.h"

enum {
  LINE_LIMIT = 65536,        /* a row has at most 643 numbers of 16 digits; the rest is room for leading zeros */
  CHUNK = 1 << 21,           /* number of bytes read together */
  VALUE_LIMIT = 128,         /* bytes of a header value, including the terminating zero */
  LINES_WITHOUT_ROW = 10000, /* limit of consecutive comments and blank lines */
  RECOGNIZED_LINES = 64      /* lines within which a header must name its instruction */
};

typedef enum {
  KEY_ARCH,
  KEY_INSTRUCTION,
  KEY_K,
  KEY_A,
  KEY_B,
  KEY_C,
  KEY_D,
  KEY_SCALE, /* this key and all that follow are optional */
  KEY_RECORDED_ON,
  KEY_WAVE, /* modifiers of AMD's instructions that are not part of the name */
  KEY_FP16_OVFL,
  KEY_CLAMP,
  KEY_FLAGS,
  KEY_COUNT
} header_key;

static const char *const key_names[KEY_COUNT] = {[KEY_ARCH] = "arch",
                                                 [KEY_INSTRUCTION] = "instruction",
                                                 [KEY_K] = "k",
                                                 [KEY_A] = "a",
                                                 [KEY_B] = "b",
                                                 [KEY_C] = "c",
                                                 [KEY_D] = "d",
                                                 [KEY_SCALE] = "scale",
                                                 [KEY_RECORDED_ON] = "recorded on",
                                                 [KEY_WAVE] = "wave",
                                                 [KEY_FP16_OVFL] = "fp16_ovfl",
                                                 [KEY_CLAMP] = "clamp",
                                                 [KEY_FLAGS] = "flags"};

/* The forms that this reader reads. */
typedef enum { FORM_TEXT, FORM_CSV, FORM_JSON, FORM_JSONL } text_form;

struct smma_text_reader {
  FILE *stream;
  text_form form;
  char *path;
  smma_vector_header header;
  smma_row_layout layout;
  char values[KEY_COUNT][VALUE_LIMIT]; /* value of each key as written; empty: the key was not seen */
  bool in_rows;                        /* the header is complete */
  bool closed;                         /* in JSON: the list of rows has ended */
  bool pending;                        /* `text` holds a row that was not returned yet */
  bool ended;                          /* the line ended with a newline; the last line of a file may lack it */
  bool too_long;                       /* no line end within the limit; reading stops there */
  unsigned long long line;
  size_t length;
  char text[LINE_LIMIT];
  size_t taken, filled; /* bytes of `chunk` that were used, and bytes that it has */
  char chunk[CHUNK];    /* data read from the stream */
};

/* A section of a line; it has no terminating zero. */
typedef struct {
  const char *text;
  size_t length;
} span;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static span trim(span s) {
  for (; s.length > 0 && is_blank(s.text[0]); s.length--) s.text++;
  while (s.length > 0 && is_blank(s.text[s.length - 1])) s.length--;
  return s;
}

/* Splits "# key: value"; returns false for a comment without a key. */
static bool split_key(span line, span *key, span *value) {
  const char *colon = memchr(line.text, ':', line.length);
  if (!colon) return false;
  size_t before = (size_t)(colon - line.text);
  *key = trim((span){line.text + 1, before - 1});
  *value = trim((span){colon + 1, line.length - before - 1});
  return key->length > 0;
}

static bool equals(span s, const char *text) { return s.length == strlen(text) && memcmp(s.text, text, s.length) == 0; }

/* Sets an error at a position in the current line; returns false. */
__attribute__((format(printf, 4, 5))) static bool fail_at(const smma_text_reader *reader, const char *place,
                                                          smma_error *error, const char *format, ...) {
  char what[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return smma_fail(error, "%s: line %llu, column %zu: %s", reader->path, reader->line,
                   (size_t)(place - reader->text) + 1, what);
}

static smma_vector_status fail_long_line(const smma_text_reader *reader, smma_error *error) {
  fail_at(reader, reader->text, error, "longer than %d characters; this is no vector file", LINE_LIMIT);
  return SMMA_VECTOR_ERROR;
}

/* Reads the next chunk if all bytes of the present one were used. Returns false at the end of the stream or on an
   error. */
static bool fill_chunk(smma_text_reader *reader) {
  if (reader->taken < reader->filled) return true;
  reader->taken = 0;
  reader->filled = fread(reader->chunk, 1, sizeof reader->chunk, reader->stream);
  return reader->filled > 0;
}

/* Appends bytes of the chunk to the line, up to the end of the line or of the chunk. Sets `ended` and `too_long`. */
static void take_bytes(smma_text_reader *reader) {
  const char *from = reader->chunk + reader->taken;
  const size_t there = reader->filled - reader->taken, room = LINE_LIMIT - reader->length;
  const char *end = memchr(from, '\n', there);
  size_t count = end ? (size_t)(end - from) : there;
  reader->too_long = count > room;
  if (reader->too_long) count = room;
  memcpy(reader->text + reader->length, from, count);
  reader->ended = end && !reader->too_long;
  reader->length += count;
  reader->taken += count + reader->ended;
}

/* Reads one line into reader->text, without its line end. Returns SMMA_VECTOR_ROW for any line. */
static smma_vector_status read_line(smma_text_reader *reader, smma_error *error) {
  if (reader->too_long) return fail_long_line(reader, error);
  reader->length = 0;
  reader->ended = false;
  reader->line++;
  while (!reader->ended && !reader->too_long && fill_chunk(reader)) take_bytes(reader);
  if (reader->too_long) return fail_long_line(reader, error);
  if (!reader->ended && ferror(reader->stream)) {
    smma_fail(error, "%s: line %llu: cannot read: %s", reader->path, reader->line, strerror(errno));
    return SMMA_VECTOR_ERROR;
  }
  return reader->ended || reader->length > 0 ? SMMA_VECTOR_ROW : SMMA_VECTOR_END;
}

/* Reads a decimal count from 1 to the maximum K; returns 0 for anything else. */
static int parse_count(span s) {
  int value = 0;
  if (s.length < 1 || s.length > 4) return 0;
  for (size_t i = 0; i < s.length; i++) {
    if (s.text[i] < '0' || s.text[i] > '9') return 0;
    value = value * 10 + (s.text[i] - '0');
  }
  return value <= SMMA_MAXIMUM_K ? value : 0;
}

static bool parse_text(const smma_text_reader *reader, span value, char *to, size_t size, smma_error *error) {
  if (value.length >= size) return fail_at(reader, value.text, error, "longer than %zu characters", size - 1);
  memcpy(to, value.text, value.length);
  to[value.length] = '\0';
  return true;
}

static bool parse_format(const smma_text_reader *reader, span value, smma_format *format, smma_error *error) {
  char name[32] = "";
  if (value.length < sizeof name) memcpy(name, value.text, value.length);
  *format = smma_format_from_text(name);
  if (*format != SMMA_NO_FORMAT) return true;
  return fail_at(reader, value.text, error, "'%.*s' is no number format; formats are f16, bf16, e4m3 and so on",
                 (int)(value.length < 64 ? value.length : 64), value.text);
}

/* Reads "FORMAT per N". */
static bool parse_scale(smma_text_reader *reader, span value, smma_error *error) {
  static const char separator[] = " per ";
  const size_t width = sizeof separator - 1;
  for (size_t i = 0; i + width <= value.length; i++) {
    if (memcmp(value.text + i, separator, width) != 0) continue;
    span format = trim((span){value.text, i});
    span block = trim((span){value.text + i + width, value.length - i - width});
    reader->header.scale_block = parse_count(block);
    if (reader->header.scale_block == 0)
      return fail_at(reader, block.text, error, "one scale per 1 to %d elements expected", SMMA_MAXIMUM_K);
    return parse_format(reader, format, &reader->header.scale, error);
  }
  return fail_at(reader, value.text, error, "expected a scale like 'ue8m0 per 32'");
}

/* Reads a value that must be one of the numbers `one` and `other`. */
static bool parse_modifier(const smma_text_reader *reader, span value, int one, int other, int *to, smma_error *error) {
  char words[2][8];
  snprintf(words[0], sizeof words[0], "%d", one);
  snprintf(words[1], sizeof words[1], "%d", other);
  *to = equals(value, words[1]) ? other : one;
  return equals(value, words[0]) || equals(value, words[1]) ||
         fail_at(reader, value.text, error, "'%.*s' is neither %d nor %d", (int)(value.length < 64 ? value.length : 64),
                 value.text, one, other);
}

static bool parse_tininess(smma_text_reader *reader, span value, smma_error *error) {
  smma_tininess t = SMMA_TININESS_BEFORE_ROUNDING;
  while (t <= SMMA_TININESS_AFTER_ROUNDING && !equals(value, smma_tininess_lines[t])) t++;
  reader->header.tininess = t;
  return t <= SMMA_TININESS_AFTER_ROUNDING ||
         fail_at(reader, value.text, error, "'%.*s' is neither '%s' nor '%s'",
                 (int)(value.length < 64 ? value.length : 64), value.text,
                 smma_tininess_lines[SMMA_TININESS_BEFORE_ROUNDING], smma_tininess_lines[SMMA_TININESS_AFTER_ROUNDING]);
}

static bool parse_value(smma_text_reader *reader, header_key key, span value, smma_error *error) {
  smma_vector_header *header = &reader->header;
  switch (key) {
    case KEY_ARCH: return parse_text(reader, value, header->arch, sizeof header->arch, error);
    case KEY_INSTRUCTION:
      header->line = reader->line;
      return parse_text(reader, value, header->instruction, sizeof header->instruction, error);
    case KEY_RECORDED_ON: return parse_text(reader, value, header->recorded_on, sizeof header->recorded_on, error);
    case KEY_A: return parse_format(reader, value, &header->a, error);
    case KEY_B: return parse_format(reader, value, &header->b, error);
    case KEY_C: return parse_format(reader, value, &header->c, error);
    case KEY_D: return parse_format(reader, value, &header->d, error);
    case KEY_SCALE: return parse_scale(reader, value, error);
    case KEY_WAVE: return parse_modifier(reader, value, 32, 64, &header->wave, error);
    case KEY_FP16_OVFL: return parse_modifier(reader, value, 0, 1, &header->fp16_ovfl, error);
    case KEY_CLAMP: return parse_modifier(reader, value, 0, 1, &header->clamp, error);
    case KEY_FLAGS: return parse_tininess(reader, value, error);
    default: header->k = parse_count(value); break;
  }
  if (header->k > 0) return true;
  return fail_at(reader, value.text, error, "k must be a count from 1 to %d", SMMA_MAXIMUM_K);
}

/* Sets a key's value. A repeated key must have the same value, also between rows, so that files of one instruction can
   be concatenated. */
static bool set_value(smma_text_reader *reader, header_key key, span value, smma_error *error) {
  char *known = reader->values[key];
  const char *name = key_names[key];
  if (value.length == 0) return fail_at(reader, value.text, error, "header key '%s' has no value", name);
  if (known[0] && equals(value, known)) return true;
  if (known[0])
    return fail_at(reader, value.text, error,
                   "header key '%s' was '%s' before; keep rows of different headers in files of their own", name,
                   known);
  if (reader->in_rows)
    return fail_at(reader, value.text, error, "header key '%s' after rows that had none; move it before the rows",
                   name);
  return parse_text(reader, value, known, VALUE_LIMIT, error) && parse_value(reader, key, value, error);
}

/* Reads a line that begins with '#'. Ignores unknown keys. */
static bool parse_comment(smma_text_reader *reader, span line, smma_error *error) {
  span key, value;
  const char *nul = memchr(line.text, '\0', line.length);
  if (nul) return fail_at(reader, nul, error, "a NUL byte; this is no text file");
  if (!split_key(line, &key, &value)) return true;
  for (int i = 0; i < KEY_COUNT; i++)
    if (equals(key, key_names[i])) return set_value(reader, (header_key)i, value, error);
  return true;
}

/* Reads up to the next line that is neither blank nor a comment. */
static smma_vector_status next_row_line(smma_text_reader *reader, smma_error *error) {
  for (int lines = 0; lines < LINES_WITHOUT_ROW; lines++) {
    smma_vector_status status = read_line(reader, error);
    if (status != SMMA_VECTOR_ROW) return status;
    span line = trim((span){reader->text, reader->length});
    if (line.length == 0) continue;
    if (line.text[0] != '#') return SMMA_VECTOR_ROW;
    if (!parse_comment(reader, line, error)) return SMMA_VECTOR_ERROR;
  }
  fail_at(reader, reader->text, error, "%d lines without a row; this is no vector file", LINES_WITHOUT_ROW);
  return SMMA_VECTOR_ERROR;
}

/* Checks that all required keys are present and that the scale block fits k. */
static bool check_header(const smma_text_reader *reader, smma_error *error) {
  const smma_vector_header *header = &reader->header;
  bool any = false;
  for (int i = 0; i < KEY_SCALE; i++) any |= reader->values[i][0] != '\0';
  if (!any && reader->length >= 2 && memcmp(reader->text, "//", 2) == 0)
    return fail_at(reader, reader->text, error,
                   "this is a file for $readmemh, which cannot be read back; write the rows with --format text or "
                   "binary, too");
  if (!any && reader->form != FORM_TEXT)
    return fail_at(reader, reader->text, error,
                   "no header; the first line is a record with arch, instruction, k, a, b, c and d");
  if (!any)
    return fail_at(reader, reader->text, error,
                   "no header; a vector file begins with lines '# key: value' for arch, instruction, k, a, b, c and d");
  for (int i = 0; i < KEY_SCALE; i++)
    if (!reader->values[i][0] && reader->form != FORM_TEXT)
      return fail_at(reader, reader->text, error, "header key '%s' is missing in the record of the first line",
                     key_names[i]);
    else if (!reader->values[i][0])
      return fail_at(reader, reader->text, error, "header key '%s' is missing; add a line '# %s: ...' before the rows",
                     key_names[i], key_names[i]);
  if (header->scale_block > 0 && header->k % header->scale_block != 0)
    return fail_at(reader, reader->text, error, "a scale per %d elements does not divide k = %d; mend the header",
                   header->scale_block, header->k);
  if (smma_scale_count(header->k, header->scale_block) > SMMA_MAXIMUM_ROUNDED_K)
    return fail_at(reader, reader->text, error, "k = %d with a scale per %d elements has more than %d; mend the header",
                   header->k, header->scale_block, SMMA_MAXIMUM_ROUNDED_K);
  return true;
}

/* ---- CSV and JSON ---- */

/* Checks the line of column names. */
static bool read_names(const smma_text_reader *reader, smma_error *error) {
  char *names = malloc(LINE_LIMIT);
  const span line = trim((span){reader->text, reader->length});
  bool same;
  if (!names) return smma_no_memory(error);
  smma_csv_names(&reader->layout, names, LINE_LIMIT);
  same = equals(line, names);
  free(names);
  return same ||
         fail_at(reader, reader->text, error,
                 "the columns of CSV are not those of the header: a[0],a[1] and so on, as 'vectors gen' writes them");
}

/* Replaces commas and 0x by blanks, so that the line becomes one of text with its numbers in their places. */
static void blank_separators(smma_text_reader *reader) {
  char *end = reader->text + reader->length;
  bool begins = true; /* a number may begin here */
  for (char *c = reader->text; c < end; c++) {
    const bool is_prefix = begins && end - c > 1 && c[0] == '0' && (c[1] | 0x20) == 'x';
    if (*c == ',') *c = ' ';
    begins = is_blank(*c);
    if (is_prefix) *c++ = ' ', *c = ' ';
  }
}

/* Reads a line as JSON. */
static smma_datum *read_json(const smma_text_reader *reader, span line, smma_error *error) {
  char origin[64];
  smma_error why;
  snprintf(origin, sizeof origin, "line %llu", reader->line);
  smma_datum *d = smma_datum_read(origin, line.text, line.length, &why);
  if (!d) smma_fail(error, "%s: %s", reader->path, why.text);
  return d;
}

/* Sets a header key to a JSON value. */
static bool set_json_value(smma_text_reader *reader, header_key key, const smma_datum *value, smma_error *error) {
  const char *text = smma_datum_text_of(value);
  uint64_t count;
  if (!text && !smma_datum_count_of(value, &count))
    return fail_at(reader, reader->text, error, "the value of '%s' is neither a text nor a number", key_names[key]);
  reader->length = (size_t)(text ? snprintf(reader->text, LINE_LIMIT, "%s", text)
                                 : snprintf(reader->text, LINE_LIMIT, "%llu", (unsigned long long)count));
  return set_value(reader, key, (span){reader->text, reader->length}, error);
}

/* Reads the first line of JSON or JSON Lines. In JSON it ends within the list of rows. */
static bool read_json_header(smma_text_reader *reader, smma_error *error) {
  static const char end[] = "\"rows\": [";
  span line = trim((span){reader->text, reader->length});
  char *closed = malloc(line.length + 2);
  smma_datum *d = NULL;
  bool good = true;
  if (!closed) return smma_no_memory(error);
  reader->form = FORM_JSONL;
  if (line.length > strlen(end) && memcmp(line.text + line.length - strlen(end), end, strlen(end)) == 0) {
    reader->form = FORM_JSON;
    line.length -= strlen(end);
    while (line.length && (is_blank(line.text[line.length - 1]) || line.text[line.length - 1] == ',')) line.length--;
  }
  memcpy(closed, line.text, line.length);
  if (reader->form == FORM_JSON) closed[line.length++] = '}';
  d = smma_datum_read("", closed, line.length, NULL);
  if (!d)
    fail_at(reader, reader->text, error,
            "not a whole record; JSON is read a row a line, as 'softmma vectors convert' writes it");
  for (int i = 0; d && good && i < KEY_COUNT; i++)
    if (smma_datum_get(d, key_names[i]))
      good = set_json_value(reader, (header_key)i, smma_datum_get(d, key_names[i]), error);
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
  return good || fail_at(reader, reader->text, error, "'%s' is not %d encoding%s of %s in hexadecimal", part->name,
                         part->count, part->count > 1 ? "s" : "", smma_format_text(part->format));
}

/* Reads the row of the line. SMMA_VECTOR_END: the line ends the list of rows. */
static smma_vector_status take_json_row(smma_text_reader *reader, smma_row *row, smma_error *error) {
  span line = trim((span){reader->text, reader->length});
  smma_datum *d;
  bool good;
  if (reader->closed)
    return fail_at(reader, reader->text, error, "the list of rows has ended before"), SMMA_VECTOR_ERROR;
  reader->closed = reader->form == FORM_JSON && equals(line, "]}");
  if (reader->closed) {
    const smma_vector_status status = next_row_line(reader, error);
    return status == SMMA_VECTOR_ROW ? take_json_row(reader, row, error) : status;
  }
  if (reader->form == FORM_JSON && line.length && line.text[line.length - 1] == ',') line.length--;
  d = read_json(reader, line, error);
  good = d != NULL;
  for (int p = 0; good && p < SMMA_PARTS; p++) good = take_json_part(reader, d, p, row, error);
  smma_datum_free(d);
  return good ? SMMA_VECTOR_ROW : SMMA_VECTOR_ERROR;
}

/* ---- Opening ---- */

/* Reads up to the first row. */
static bool read_header(smma_text_reader *reader, smma_error *error) {
  smma_vector_status status = next_row_line(reader, error);
  if (status == SMMA_VECTOR_ROW && *trim((span){reader->text, reader->length}).text == '{') {
    if (!read_json_header(reader, error)) return false;
    status = next_row_line(reader, error);
  }
  if (status == SMMA_VECTOR_ERROR || !check_header(reader, error)) return false;
  reader->in_rows = true;
  reader->layout = smma_vector_layout(&reader->header);
  if (reader->form == FORM_TEXT && status == SMMA_VECTOR_ROW && memchr(reader->text, ',', reader->length)) {
    reader->form = FORM_CSV;
    if (!read_names(reader, error)) return false;
    status = next_row_line(reader, error);
  }
  reader->pending = status == SMMA_VECTOR_ROW;
  return status != SMMA_VECTOR_ERROR;
}

smma_text_reader *smma_text_open(FILE *stream, const char *path, smma_vector_header *header, smma_error *error) {
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
  if (c == '\0') return fail_at(reader, place, error, "a NUL byte; this is no text file");
  if (c < ' ' || c > '~')
    return fail_at(reader, place, error, "byte 0x%02x is no hexadecimal digit; rows are raw encodings in hex", c);
  return fail_at(reader, place, error, "'%c' is no hexadecimal digit; rows are raw encodings in hex, without 0x", c);
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
    while (place < end && is_blank(*place)) place++;
    if (place == end) break;
    if (found++ == expected) surplus = place;
    while (place < end && !is_blank(*place)) place++;
  }
  if (found == expected) return true;
  return fail_at(reader, surplus ? surplus : end, error, "expected %d numbers (%s), found %d", expected, columns,
                 found);
}

/* Reads the number at `*place`, which is number i of a part, and moves `*place` past it. */
static bool parse_number(const smma_text_reader *reader, const char **place, const smma_part *part, int i,
                         uint64_t *number, smma_error *error) {
  const char *c = *place, *end = reader->text + reader->length;
  int bits = smma_encoding_of(part->format).bits, digit;
  uint64_t value = 0, lost = 0;
  while (c < end && is_blank(*c)) c++;
  const char *start = c;
  if (c == end) return check_count(reader, error);
  for (; c < end && (digit = digit_of(*c)) >= 0; c++) {
    lost |= value >> 60;
    value = value << 4 | (uint64_t)digit;
  }
  if (c < end && !is_blank(*c)) return fail_character(reader, c, error);
  if (bits < 64) lost |= value >> bits;
  if (c == end && !reader->ended && c - start < smma_text_digits(part->format))
    return fail_at(reader, start, error,
                   "the file ends in this line, and %.*s has fewer than %d digits: it may be truncated; end the line",
                   (int)(c - start), start, smma_text_digits(part->format));
  *place = c;
  *number = value;
  if (lost == 0) return true;
  if (!check_count(reader, error)) return false; /* a wrong number of elements is the more likely cause */
  return fail_at(reader, start, error,
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
    smma_vector_status status = next_row_line(reader, error);
    if (status == SMMA_VECTOR_END && reader->form == FORM_JSON && !reader->closed)
      return fail_at(reader, reader->text, error, "the list of rows has no end: the file is truncated"),
             SMMA_VECTOR_ERROR;
    if (status != SMMA_VECTOR_ROW) return status;
  }
  reader->pending = false;
  if (reader->form == FORM_JSON || reader->form == FORM_JSONL) return take_json_row(reader, row, error);
  if (reader->form == FORM_CSV) blank_separators(reader);
  for (int p = 0; p < SMMA_PARTS; p++) {
    const smma_part *part = &reader->layout.part[p];
    if (!parse_part(reader, &place, part, smma_part_of(row, part), error)) return SMMA_VECTOR_ERROR;
  }
  for (end = reader->text + reader->length; place < end && is_blank(*place); place++) continue;
  if (place < end) {
    check_count(reader, error);
    return SMMA_VECTOR_ERROR;
  }
  return SMMA_VECTOR_ROW;
}

/* Reports whether a character is a hexadecimal digit, and stores its value in `*value`. */
static inline bool take_digit(char c, uint8_t *value) {
  const uint8_t number = (uint8_t)(c - '0'), letter = (uint8_t)((c | 0x20) - 'a');
  *value = number < 10 ? number : (uint8_t)(letter + 10);
  return (number < 10) | (letter < 6);
}

/* Stores numbers of `digits` digits each, with one character between them, in containers of `bytes` bytes; `digits` and
   `bytes` are constants at each call. Reports whether every number has at most `bits` bits. */
static inline bool store_numbers(const uint8_t *digit, int digits, int bits, size_t bytes, void *to, size_t count) {
  uint64_t surplus = 0;
  for (size_t i = 0; i < count; i++, digit += digits + 1) {
    uint64_t number = 0;
    for (int d = 0; d < digits; d++) number = number << 4 | digit[d];
    surplus |= number ^ smma_low_bits(number, bits);
    smma_store(bytes, to, i, number);
  }
  return surplus == 0;
}

static bool store_part(const uint8_t *digit, const smma_part *part, void *to) {
  const int digits = smma_text_digits(part->format), bits = smma_encoding_of(part->format).bits;
  const size_t count = (size_t)part->count;
  switch (digits) {
    case 1: return store_numbers(digit, 1, bits, 1, to, count);
    case 2: return store_numbers(digit, 2, bits, 1, to, count);
    case 4: return store_numbers(digit, 4, bits, 2, to, count);
    case 8: return store_numbers(digit, 8, bits, 4, to, count);
    default: return store_numbers(digit, digits, bits, part->bytes, to, count);
  }
}

/* Reads a line of the usual length as a row and stores it at `index`. `blanks` is from find_blanks. Returns false if
   the line has another form. */
static bool take_line(const char *text, size_t length, const char *blanks, const smma_row_layout *layout,
                      smma_rows *rows, size_t index) {
  uint8_t digit[SMMA_LONGEST_LINE];
  const uint8_t *next = digit;
  uint8_t good = 1;
#pragma omp simd reduction(& : good)
  for (size_t i = 0; i < length; i++) {
    const bool is_digit = take_digit(text[i], &digit[i]);
    good &= blanks[i] ? text[i] == blanks[i] : is_digit;
  }
  for (int p = 0; good && p < SMMA_PARTS; p++) {
    const smma_part *part = &layout->part[p];
    const size_t count = (size_t)part->count;
    if (count == 0) continue;
    if (rows->part[p]) good = store_part(next, part, rows->part[p] + index * count * part->bytes);
    next += count * (size_t)(smma_text_digits(part->format) + 1);
  }
  return good;
}

/* Fills `blanks` with the characters of a line in the usual form: blanks and the newline where they belong, and 0 for
   each digit. */
static void find_blanks(const smma_row_layout *layout, char *blanks) {
  char *c = blanks;
  for (int p = 0; p < SMMA_PARTS; p++)
    for (int i = 0; i < layout->part[p].count; i++, *c++ = ' ')
      for (int d = smma_text_digits(layout->part[p].format); d > 0; d--) *c++ = 0;
  c[-1] = '\n';
}

size_t smma_text_take_rows(smma_text_reader *reader, smma_rows *rows, size_t first, size_t most) {
  const smma_row_layout *layout = &reader->layout;
  const size_t length = smma_text_line_length(layout);
  const char *text = reader->chunk + reader->taken;
  char blanks[SMMA_LONGEST_LINE];
  size_t count = (reader->filled - reader->taken) / length, good;
  if (reader->pending || reader->too_long || reader->form != FORM_TEXT) return 0;
  if (count > most) count = most;
  good = count;
  find_blanks(layout, blanks);
#pragma omp parallel for num_threads(smma_default_threads()) schedule(static) reduction(min : good) if (count > 256)
  for (size_t i = 0; i < count; i++)
    if (i < good && !take_line(text + i * length, length, blanks, layout, rows, first + i)) good = i;
  reader->taken += good * length;
  reader->line += good;
  return good;
}

unsigned long long smma_text_line(const smma_text_reader *reader) { return reader->line; }

void smma_text_close(smma_text_reader *reader) {
  if (!reader) return;
  free(reader->path);
  free(reader);
}

bool smma_vector_is_text(FILE *stream) {
  char text[1024];
  bool recognized = false;
  rewind(stream);
  for (int i = 0; i < RECOGNIZED_LINES && !recognized && fgets(text, sizeof text, stream); i++) {
    text[strcspn(text, "\n")] = '\0';
    span line = trim((span){text, strlen(text)}), key, value;
    if (line.length == 0) continue;
    if (line.text[0] == '{') recognized = strstr(line.text, SMMA_JSON_MARK) != NULL;
    if (line.text[0] != '#') break;
    recognized = split_key(line, &key, &value) && equals(key, key_names[KEY_INSTRUCTION]) && value.length > 0;
  }
  rewind(stream);
  return recognized;
}
