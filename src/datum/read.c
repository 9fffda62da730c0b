/* Reads JSON (RFC 8259). */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "datum/datum.h"
#include "host/locale.h"
#include "host/utf8.h"

enum { MOST_DEPTH = 64 };

typedef struct {
  const char *origin, *start, *at, *end; /* `end` points at a zero byte that the reader has added */
  smma_error *error;
} reader;

/* Sets an error for a position of the text; returns NULL. */
static smma_datum *fail(const reader *r, const char *at, const char *what) {
  size_t line = 1, column = 1;
  for (const char *c = r->start; c < at; c++) {
    column = *c == '\n' ? 1 : column + 1;
    line += *c == '\n';
  }
  smma_fail(r->error, "%s:%zu:%zu: %s", r->origin, line, column, what);
  return NULL;
}

static void skip_blanks(reader *r) { r->at += strspn(r->at, " \t\r\n"); }

static bool take(reader *r, char wanted) {
  skip_blanks(r);
  if (*r->at != wanted || r->at == r->end) return false;
  r->at++;
  return true;
}

/* Reads four hexadecimal digits. Returns false if there are fewer. */
static bool read_unit(const char *digits, uint32_t *unit) {
  if (strspn(digits, "0123456789abcdefABCDEF") < 4) return false;
  *unit = 0;
  for (int i = 0; i < 4; i++) *unit = *unit << 4 | (uint32_t)((digits[i] & 15) + (digits[i] > '9' ? 9 : 0));
  return true;
}

/* Reads the digits after "\u": one UTF-16 unit, or two with "\u" between. Returns the number of characters used; 0 if
   they do not encode a character, or encode the zero byte. */
static int read_units(const char *digits, uint32_t *point) {
  uint32_t low;
  if (!read_unit(digits, point) || !*point || (*point & ~0x3ffu) == 0xdc00) return 0;
  if ((*point & ~0x3ffu) != 0xd800) return 4;
  if (digits[4] != '\\' || digits[5] != 'u' || !read_unit(digits + 6, &low) || (low & ~0x3ffu) != 0xdc00) return 0;
  *point = 0x10000 + ((*point & 0x3ff) << 10 | (low & 0x3ff));
  return 10;
}

static char *put_utf8(char *to, uint32_t point) {
  const int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
  *to++ = (char)(lead[more] | point >> 6 * more);
  for (int i = more - 1; i >= 0; i--) *to++ = (char)(0x80 | (point >> 6 * i & 0x3f));
  return to;
}

/* Reads the escape after a backslash into `*to`; returns false if it is invalid. */
static bool read_escape(reader *r, char **to) {
  static const char letter[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
  const char *found = *r->at ? strchr(letter, *r->at) : NULL;
  uint32_t point;
  int length;
  if (found) {
    *(*to)++ = plain[found - letter];
    r->at++;
    return true;
  }
  if (*r->at != 'u' || !(length = read_units(r->at + 1, &point))) return false;
  *to = put_utf8(*to, point);
  r->at += 1 + length;
  return true;
}

/* Reads the string whose quote is the next character; returns NULL with an error. */
static char *read_string(reader *r) {
  const char *start = r->at++;
  const char *close = r->at;
  char *text, *to;
  while (*close && *close != '"') close += *close == '\\' && close[1] ? 2 : 1;
  if (!*close) return fail(r, start, "the text ends inside a string; close it with '\"'"), NULL;
  text = to = malloc((size_t)(close - start));
  if (!text) return fail(r, start, "no memory for a string"), NULL;
  while (r->at < close) {
    uint32_t point;
    const char *at = r->at;
    const int length = smma_utf8_decode(at, &point);
    if (!length || point < 0x20)
      return fail(r, at, "a string holds a byte that is no UTF-8, or a control character"), free(text), NULL;
    r->at += length;
    if (point != '\\') {
      memcpy(to, at, (size_t)length);
      to += length;
    } else if (!read_escape(r, &to)) {
      return fail(r, at, "no such escape; allowed: \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX of a character"),
             free(text), NULL;
    }
  }
  r->at = close + 1;
  *to = '\0';
  return text;
}

/* Returns the length of the number at `text`, or 0 if there is no number. */
static size_t number_length(const char *text, bool *whole) {
  const char *c = text + (*text == '-');
  size_t digits = strspn(c, "0123456789");
  *whole = true;
  if (!digits || (digits > 1 && *c == '0')) return 0;
  c += digits;
  if (*c == '.') {
    digits = strspn(++c, "0123456789");
    if (!digits) return 0;
    c += digits;
    *whole = false;
  }
  if (*c == 'e' || *c == 'E') {
    c++;
    c += *c == '-' || *c == '+';
    digits = strspn(c, "0123456789");
    if (!digits) return 0;
    c += digits;
    *whole = false;
  }
  return (size_t)(c - text);
}

static double real_of(const char *text, size_t length) {
  smma_locale locale;
  char copy[512];
  double value;
  if (length >= sizeof copy) length = sizeof copy - 1;
  memcpy(copy, text, length);
  copy[length] = '\0';
  locale = smma_locale_enter();
  value = strtod(copy, NULL);
  smma_locale_leave(locale);
  return value;
}

static smma_datum *read_number(reader *r) {
  bool whole;
  const char *start = r->at;
  const size_t length = number_length(start, &whole);
  long long count;
  if (!length) return fail(r, start, "no value; allowed: a string, a number, true, false, null, a list or an object");
  r->at += length;
  errno = 0;
  count = whole ? strtoll(start, NULL, 10) : 0;
  return whole && !errno ? smma_datum_count(count) : smma_datum_real(real_of(start, length));
}

static smma_datum *read_datum(reader *r, int depth);

static smma_datum *read_list(reader *r, int depth) {
  smma_datum *list = smma_datum_list();
  if (take(r, ']')) return list;
  do {
    smma_datum *element = read_datum(r, depth + 1);
    if (!element) return smma_datum_free(list), NULL;
    smma_datum_append(list, element);
  } while (take(r, ','));
  if (take(r, ']')) return list;
  smma_datum_free(list);
  return fail(r, r->at, "',' or ']' expected");
}

/* Reads a key, its colon and its value into the record. */
static bool read_member(reader *r, smma_datum *record, int depth) {
  smma_datum *value = NULL;
  const char *start;
  char *key;
  skip_blanks(r);
  start = r->at;
  if (*start != '"') return fail(r, start, "a key in double quotes expected"), false;
  key = read_string(r);
  if (!key) return false;
  if (smma_datum_get(record, key))
    fail(r, start, "this key stands here a second time; keep one");
  else if (!take(r, ':'))
    fail(r, r->at, "':' expected");
  else
    value = read_datum(r, depth + 1);
  if (value) smma_datum_put(record, key, value);
  free(key);
  return value;
}

static smma_datum *read_record(reader *r, int depth) {
  smma_datum *record = smma_datum_record();
  if (take(r, '}')) return record;
  do
    if (!read_member(r, record, depth)) return smma_datum_free(record), NULL;
  while (take(r, ','));
  if (take(r, '}')) return record;
  smma_datum_free(record);
  return fail(r, r->at, "',' or '}' expected");
}

static bool take_word(reader *r, const char *word) {
  if (strncmp(r->at, word, strlen(word)) != 0) return false;
  r->at += strlen(word);
  return true;
}

static smma_datum *read_text(reader *r) {
  char *text = read_string(r);
  smma_datum *d = smma_datum_text(text);
  return text ? free(text), d : (smma_datum_free(d), NULL);
}

static smma_datum *read_datum(reader *r, int depth) {
  skip_blanks(r);
  if (depth > MOST_DEPTH) return fail(r, r->at, "lists and objects are more than 64 deep");
  switch (*r->at) {
    case '"': return read_text(r);
    case '[': return r->at++, read_list(r, depth);
    case '{': return r->at++, read_record(r, depth);
    default: break;
  }
  if (take_word(r, "true")) return smma_datum_flag(true);
  if (take_word(r, "false")) return smma_datum_flag(false);
  if (take_word(r, "null")) return smma_datum_null();
  return read_number(r);
}

smma_datum *smma_datum_read(const char *origin, const char *text, size_t size, smma_error *error) {
  char *copy = malloc(size + 1);
  smma_error why = {SMMA_OK, ""};
  reader r = {origin, copy, copy, copy ? copy + size : NULL, &why};
  smma_datum *d;
  if (!copy) return smma_fail(error, "%s: no memory to read it", origin), NULL;
  memcpy(copy, text, size);
  copy[size] = '\0';
  d = read_datum(&r, 0);
  skip_blanks(&r);
  if (d && r.at < r.end) {
    fail(&r, r.at, "text follows the end");
    smma_datum_free(d);
    d = NULL;
  }
  if (d && !smma_datum_is_complete(d)) {
    smma_datum_free(d);
    d = NULL;
  }
  if (!d) smma_fail(error, why.text[0] ? "%s" : "%s: no memory to read it", why.text[0] ? why.text : origin);
  free(copy);
  return d;
}
