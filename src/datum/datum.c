#include "datum/datum.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "host/utf8.h"

struct smma_datum {
  smma_datum_kind kind;
  bool incomplete;
  bool is_table; /* a list of records */
  union {
    bool flag;
    int64_t count;
    double real;
    char *text;
    struct {
      smma_datum **element;
      char **key; /* keys of a record's elements; NULL in a list */
      size_t size, room;
      size_t *place; /* for a record: a hash table with 2 * room entries; an entry is the element's index plus 1 */
    };
  };
};

static smma_datum *new_datum(smma_datum_kind kind) {
  smma_datum *d = calloc(1, sizeof *d);
  if (d) d->kind = kind;
  return d;
}

smma_datum *smma_datum_null(void) { return new_datum(SMMA_DATUM_NULL); }

smma_datum *smma_datum_flag(bool flag) {
  smma_datum *d = new_datum(SMMA_DATUM_FLAG);
  if (d) d->flag = flag;
  return d;
}

smma_datum *smma_datum_count(int64_t count) {
  smma_datum *d = new_datum(SMMA_DATUM_COUNT);
  if (d) d->count = count;
  return d;
}

smma_datum *smma_datum_real(double value) {
  smma_datum *d;
  if (!isfinite(value)) return smma_datum_text(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  d = new_datum(SMMA_DATUM_REAL);
  if (d) d->real = value;
  return d;
}

/* Makes a datum that takes over the text, or frees the text if memory runs out. If the text is not UTF-8, each byte
   outside ASCII becomes '?'. */
static smma_datum *datum_of_text(char *text) {
  smma_datum *d = text ? new_datum(SMMA_DATUM_TEXT) : NULL;
  if (!d) return free(text), NULL;
  if (!smma_is_utf8(text))
    for (char *c = text; *c; c++)
      if ((unsigned char)*c >= 0x80) *c = '?';
  d->text = text;
  return d;
}

smma_datum *smma_datum_text(const char *text) { return text ? datum_of_text(strdup(text)) : smma_datum_null(); }

smma_datum *smma_datum_print(const char *format, ...) {
  va_list arguments, again;
  char *text = NULL;
  int length;
  va_start(arguments, format);
  va_copy(again, arguments);
  length = vsnprintf(NULL, 0, format, arguments);
  if (length >= 0 && (text = malloc((size_t)length + 1))) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  va_end(arguments);
  return datum_of_text(text);
}

smma_datum *smma_datum_list(void) { return new_datum(SMMA_DATUM_LIST); }

smma_datum *smma_datum_table(void) {
  smma_datum *d = smma_datum_list();
  if (d) d->is_table = true;
  return d;
}

bool smma_datum_is_table(const smma_datum *d) {
  const smma_datum *first = smma_datum_kind_of(d) == SMMA_DATUM_LIST ? smma_datum_at(d, 0) : NULL;
  return d && (d->is_table || smma_datum_kind_of(first) == SMMA_DATUM_RECORD);
}

smma_datum *smma_datum_record(void) { return new_datum(SMMA_DATUM_RECORD); }

static bool is_parent(const smma_datum *d) { return d && (d->kind == SMMA_DATUM_LIST || d->kind == SMMA_DATUM_RECORD); }

/* Returns the position of the key in the record's hash table, or the free position where it belongs (hash FNV-1a:
   Fowler, Noll, Vo). */
static size_t *place_of(const smma_datum *record, const char *key) {
  const size_t mask = 2 * record->room - 1;
  uint64_t hash = 0xcbf29ce484222325;
  size_t at;
  for (const char *c = key; *c; c++) hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
  at = (size_t)(hash ^ hash >> 32) & mask;
  while (record->place[at] && strcmp(record->key[record->place[at] - 1], key) != 0) at = (at + 1) & mask;
  return &record->place[at];
}

static bool make_keys(smma_datum *record, size_t room) {
  char **key = realloc(record->key, room * sizeof *key);
  size_t *place = calloc(2 * room, sizeof *place);
  if (key) record->key = key;
  if (!key || !place) return free(place), false;
  free(record->place);
  record->place = place;
  record->room = room;
  for (size_t i = 0; i < record->size; i++) *place_of(record, key[i]) = i + 1;
  return true;
}

static bool make_room(smma_datum *d) {
  const size_t room = d->room ? 2 * d->room : 8;
  smma_datum **element;
  if (d->size < d->room) return true;
  element = realloc(d->element, room * sizeof *element);
  if (!element) return false;
  d->element = element;
  if (d->kind == SMMA_DATUM_RECORD) return make_keys(d, room);
  d->room = room;
  return true;
}

static void add(smma_datum *parent, char *key, smma_datum *child) {
  if (parent && child && (key || parent->kind == SMMA_DATUM_LIST) && make_room(parent)) {
    if (key) *place_of(parent, key) = parent->size + 1, parent->key[parent->size] = key;
    parent->element[parent->size++] = child;
    parent->incomplete |= child->incomplete;
    return;
  }
  if (parent) parent->incomplete = true;
  free(key);
  smma_datum_free(child);
}

void smma_datum_append(smma_datum *list, smma_datum *child) { add(list, NULL, child); }
void smma_datum_put(smma_datum *record, const char *key, smma_datum *child) { add(record, strdup(key), child); }

smma_datum *smma_datum_texts(const char *const *text, size_t count) {
  smma_datum *list = smma_datum_list();
  for (size_t n = 0; n < count; n++) smma_datum_append(list, smma_datum_text(text[n]));
  return list;
}

smma_datum *smma_datum_list_of(size_t count, ...) {
  smma_datum *list = smma_datum_list();
  va_list elements;
  va_start(elements, count);
  for (size_t n = 0; n < count; n++) smma_datum_append(list, va_arg(elements, smma_datum *));
  va_end(elements);
  return list;
}

bool smma_datum_is_complete(const smma_datum *d) { return d && !d->incomplete; }

void smma_datum_free(smma_datum *d) {
  if (!d) return;
  if (d->kind == SMMA_DATUM_TEXT) free(d->text);
  if (is_parent(d)) {
    for (size_t i = 0; i < d->size; i++) {
      smma_datum_free(d->element[i]);
      if (d->key) free(d->key[i]);
    }
    free(d->element);
    free(d->key);
    free(d->place);
  }
  free(d);
}

smma_datum_kind smma_datum_kind_of(const smma_datum *d) { return d ? d->kind : SMMA_DATUM_NULL; }

size_t smma_datum_size(const smma_datum *d) { return is_parent(d) ? d->size : 0; }

const smma_datum *smma_datum_at(const smma_datum *d, size_t index) {
  return index < smma_datum_size(d) ? d->element[index] : NULL;
}

const char *smma_datum_key(const smma_datum *d, size_t index) {
  return index < smma_datum_size(d) && d->key ? d->key[index] : NULL;
}

const smma_datum *smma_datum_get(const smma_datum *record, const char *key) {
  return smma_datum_size(record) && record->key ? smma_datum_at(record, *place_of(record, key) - 1) : NULL;
}

const char *smma_datum_text_of(const smma_datum *d) {
  return smma_datum_kind_of(d) == SMMA_DATUM_TEXT ? d->text : NULL;
}

bool smma_datum_flag_of(const smma_datum *d) { return smma_datum_kind_of(d) == SMMA_DATUM_FLAG && d->flag; }

double smma_datum_real_of(const smma_datum *d) {
  switch (smma_datum_kind_of(d)) {
    case SMMA_DATUM_COUNT: return (double)d->count;
    case SMMA_DATUM_REAL: return d->real;
    default: return NAN;
  }
}

int64_t smma_datum_integer_of(const smma_datum *d) { return smma_datum_kind_of(d) == SMMA_DATUM_COUNT ? d->count : 0; }

bool smma_datum_count_of(const smma_datum *d, uint64_t *count) {
  if (smma_datum_kind_of(d) != SMMA_DATUM_COUNT || d->count < 0) return false;
  *count = (uint64_t)d->count;
  return true;
}

/* ---- Writing ---- */

typedef struct {
  FILE *stream;
  int layout, digits;
} writer;

static void write_text(const char *text, FILE *stream) {
  static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
  putc('"', stream);
  for (; *text; text++) {
    const char *special = strchr(plain, *text);
    if (special)
      fprintf(stream, "\\%c", letter[special - plain]);
    else if ((unsigned char)*text < 0x20)
      fprintf(stream, "\\u%04X", *text);
    else
      putc(*text, stream);
  }
  putc('"', stream);
}

/* Writes a real: a whole number ends in ".0", an exponent has no leading zeros, and the decimal point does not depend
   on the locale. */
static void write_real(double value, FILE *stream, int precision) {
  char text[64];
  size_t sign_and_digits, digits;
  const char *rest;
  snprintf(text, sizeof text, "%.*g", precision, value);
  sign_and_digits = strspn(text, "-0123456789");
  rest = text + sign_and_digits + strcspn(text + sign_and_digits, "e0123456789");
  digits = strspn(rest, "0123456789");
  fprintf(stream, "%.*s", (int)sign_and_digits, text);
  if (digits || rest[0] != 'e') fprintf(stream, ".%.*s", digits ? (int)digits : 1, digits ? rest : "0");
  if (rest[digits] == 'e') fprintf(stream, "e%d", atoi(rest + digits + 1));
}

static void new_line(const writer *w, int depth) {
  if (w->layout > 0) fprintf(w->stream, "\n%*s", w->layout * depth, "");
}

static void write_datum(const smma_datum *d, const writer *w, int depth);

static void write_elements(const smma_datum *d, const writer *w, int depth) {
  FILE *stream = w->stream;
  putc(d->key ? '{' : '[', stream);
  for (size_t i = 0; i < d->size; i++) {
    if (i) fputs(w->layout ? "," : ", ", stream);
    new_line(w, depth + 1);
    if (d->key) {
      write_text(d->key[i], stream);
      fputs(w->layout == SMMA_JSON_COMPACT ? ":" : ": ", stream);
    }
    write_datum(d->element[i], w, depth + 1);
  }
  new_line(w, depth);
  putc(d->key ? '}' : ']', stream);
}

static void write_datum(const smma_datum *d, const writer *w, int depth) {
  FILE *stream = w->stream;
  switch (smma_datum_kind_of(d)) {
    case SMMA_DATUM_NULL: fputs("null", stream); break;
    case SMMA_DATUM_FLAG: fputs(d->flag ? "true" : "false", stream); break;
    case SMMA_DATUM_COUNT: fprintf(stream, "%lld", (long long)d->count); break;
    case SMMA_DATUM_REAL: write_real(d->real, stream, w->digits); break;
    case SMMA_DATUM_TEXT: write_text(d->text, stream); break;
    case SMMA_DATUM_LIST:
    case SMMA_DATUM_RECORD:
      if (d->size)
        write_elements(d, w, depth);
      else
        fputs(d->kind == SMMA_DATUM_LIST ? "[]" : "{}", stream);
  }
}

bool smma_datum_write_digits(const smma_datum *d, FILE *stream, int layout, int digits) {
  write_datum(d, &(writer){stream, layout, digits}, 0);
  return !ferror(stream);
}

bool smma_datum_write(const smma_datum *d, FILE *stream, int layout) {
  return smma_datum_write_digits(d, stream, layout, 17);
}
