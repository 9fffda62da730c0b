#include "isa/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"

enum { MOST_DEPTH = 16, MOST_DIGITS = 15, MOST_MEMBERS = 64 };

typedef struct {
  smma_json *json;
  const char *at;
} reader;

bool smma_json_fail(const smma_json *json, const char *at, const char *format, ...) {
  size_t line = 1, column = 1;
  char text[sizeof json->error->text];
  va_list arguments;
  for (const char *c = json->start; c < at; c++) {
    column = *c == '\n' ? 1 : column + 1;
    line += *c == '\n';
  }
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  smma_set_error(json->error, SMMA_INVALID_TEXT, "%s:%zu:%zu: %s", json->origin, line, column, text);
  return false;
}

#define FAIL(r, ...) smma_json_fail((r)->json, __VA_ARGS__)

bool smma_span_is(smma_span span, const char *text) {
  return span.length == strlen(text) && memcmp(span.at, text, span.length) == 0;
}

int smma_span_shown(smma_span span) {
  int shown = 0;
  while (shown < 60 && (size_t)shown < span.length && span.at[shown] >= ' ') shown++;
  return shown;
}

static bool same(smma_span x, smma_span y) { return x.length == y.length && memcmp(x.at, y.at, x.length) == 0; }

static bool at_end(const reader *r) { return r->at == r->json->end; }

static void skip_blanks(reader *r) {
  while (!at_end(r) && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

static bool take(reader *r, char wanted) {
  skip_blanks(r);
  if (at_end(r) || *r->at != wanted) return false;
  r->at++;
  return true;
}

/* Sets `*word` to the next string, including its quotes. `what` says what is missing if there is no string. */
static bool read_word(reader *r, const char *what, smma_span *word) {
  if (!take(r, '"')) return FAIL(r, r->at, "%s is missing; write it in double quotes", what);
  word->at = r->at - 1;
  while (!at_end(r) && *r->at >= ' ' && *r->at <= '~' && *r->at != '"' && *r->at != '\\') r->at++;
  if (at_end(r)) return FAIL(r, word->at, "the text ends inside a string; close it with '\"'");
  if (*r->at != '"')
    return FAIL(r, r->at, "this character cannot stand in a string here; allowed: printable ASCII without '\\'");
  word->length = (size_t)(++r->at - word->at);
  return true;
}

static bool is_number(smma_span s) {
  const char *digits = s.at + (s.length && *s.at == '-'), *end = s.at + s.length;
  for (const char *c = digits; c < end; c++)
    if (*c < '0' || *c > '9') return false;
  return digits < end && end - digits <= MOST_DIGITS && (*digits != '0' || end - digits == 1);
}

/* Reads a number or a flag (true or false), up to the next delimiter. */
static bool read_bare(reader *r, smma_span key, smma_json_value *value) {
  value->text.at = r->at;
  while (!at_end(r) && !strchr(" \t\r\n,]}:\"", *r->at)) r->at++;
  value->text.length = (size_t)(r->at - value->text.at);
  value->kind = is_number(value->text) ? SMMA_JSON_NUMBER : SMMA_JSON_FLAG;
  if (value->kind == SMMA_JSON_NUMBER || smma_span_is(value->text, "true") || smma_span_is(value->text, "false"))
    return true;
  if (!value->text.length) return FAIL(r, value->text.at, "\"%.*s\" has no value; write one", SMMA_SHOWN(key));
  return FAIL(r, value->text.at,
              "\"%.*s\" cannot be %.*s; allowed: a word in double quotes, a whole number, true or false",
              SMMA_SHOWN(key), SMMA_SHOWN(value->text));
}

/* Appends a value and returns its index. Returns 0 if memory runs out; no other value but the outermost has this
   index. */
static size_t new_value(reader *r) {
  smma_json *j = r->json;
  if (j->count == j->room) {
    const size_t room = 2 * j->room + 64;
    smma_json_value *more = realloc(j->value, room * sizeof *more);
    if (!more) return smma_no_memory(j->error), 0;
    j->value = more, j->room = room;
  }
  j->value[j->count] = (smma_json_value){0};
  return j->count++;
}

static bool read_value(reader *r, size_t index, smma_span key, int depth);

/* Reads the key of a member of the object with index `parent`, and the colon after it. */
static bool read_key(reader *r, size_t parent, smma_span *key) {
  const smma_json *j = r->json;
  const char *start;
  size_t members = 0;
  skip_blanks(r);
  start = r->at;
  if (!read_word(r, "a key", key)) return false;
  key->at++, key->length -= 2;
  for (size_t i = j->value[parent].first; i; i = j->value[i].next, members++)
    if (same(j->value[i].key, *key))
      return FAIL(r, start, "\"%.*s\" stands here a second time; keep one", SMMA_SHOWN(*key));
  if (members == MOST_MEMBERS) return FAIL(r, start, "more than %d keys; no object has as many", MOST_MEMBERS);
  if (!take(r, ':')) return FAIL(r, r->at, "\"%.*s\" needs a colon after it", SMMA_SHOWN(*key));
  return true;
}

/* Reads the members or elements of the value with index `parent`, and its closing bracket. */
static bool read_inner(reader *r, size_t parent, smma_span key, int depth) {
  const bool object = r->json->value[parent].kind == SMMA_JSON_OBJECT;
  const char close = object ? '}' : ']';
  const char *comma = NULL;
  size_t last = 0;
  if (depth == MOST_DEPTH) return FAIL(r, r->at, "brackets within brackets, deeper than %d", MOST_DEPTH);
  if (!object && take(r, ']')) return true;
  do {
    smma_span name = key;
    size_t index;
    skip_blanks(r);
    if (comma && !at_end(r) && *r->at == close) return FAIL(r, comma, "a comma precedes '%c'; remove it", close);
    if (object && !read_key(r, parent, &name)) return false;
    index = new_value(r);
    if (!index || !read_value(r, index, name, depth + 1)) return false;
    if (object) r->json->value[index].key = name;
    *(last ? &r->json->value[last].next : &r->json->value[parent].first) = index;
    last = index;
    skip_blanks(r);
    comma = r->at;
  } while (take(r, ','));
  if (take(r, close)) return true;
  return FAIL(r, r->at, "a comma or the %s's end is missing; allowed: ',' or '%c'", object ? "object" : "list", close);
}

/* Reads a value and stores it at `index`. `key` is for messages: the value's key, or the key of the list that contains
   the value. */
static bool read_value(reader *r, size_t index, smma_span key, int depth) {
  smma_json_value value = {0};
  skip_blanks(r);
  value.text.at = r->at;
  if (!at_end(r) && *r->at == '"') {
    value.kind = SMMA_JSON_WORD;
    if (!read_word(r, "a word", &value.text)) return false;
  } else if (!at_end(r) && (*r->at == '{' || *r->at == '[')) {
    r->json->value[index].kind = value.kind = *r->at++ == '{' ? SMMA_JSON_OBJECT : SMMA_JSON_LIST;
    if (!read_inner(r, index, key, depth)) return false;
    value.first = r->json->value[index].first;
    value.text.length = (size_t)(r->at - value.text.at);
  } else if (!read_bare(r, key, &value)) {
    return false;
  }
  r->json->value[index] = value;
  return true;
}

bool smma_json_read(smma_json *json, const char *what, const char *origin, const char *text, size_t size,
                    smma_error *error) {
  reader r = {json, text};
  *json = (smma_json){.origin = origin, .start = text, .end = text + size, .error = error};
  new_value(&r);
  if (!json->value) return false;
  skip_blanks(&r);
  if (at_end(&r) || *r.at != '{') return FAIL(&r, r.at, "%s is a JSON object; it begins with '{'", what);
  if (!read_value(&r, 0, (smma_span){what, strlen(what)}, 0)) return false;
  skip_blanks(&r);
  return at_end(&r) || FAIL(&r, r.at, "text follows the object; remove it");
}

void smma_json_free(smma_json *json) { free(json->value); }

const char *smma_json_end(const smma_json_value *value) { return value->text.at + value->text.length - 1; }

static const smma_json_value *value_at(const smma_json *json, size_t index) {
  return index ? json->value + index : NULL;
}

const smma_json_value *smma_json_first(const smma_json *json, const smma_json_value *of) {
  return value_at(json, of->first);
}

const smma_json_value *smma_json_next(const smma_json *json, const smma_json_value *behind) {
  return value_at(json, behind->next);
}

const smma_json_value *smma_json_find(const smma_json *json, const smma_json_value *object, const char *key) {
  const smma_json_value *m = smma_json_first(json, object);
  while (m && !smma_span_is(m->key, key)) m = smma_json_next(json, m);
  return m;
}

smma_span smma_json_span(const smma_json_value *value) {
  const size_t quote = value->kind == SMMA_JSON_WORD;
  return (smma_span){value->text.at + quote, value->text.length - 2 * quote};
}

smma_span smma_json_shown(const smma_json_value *value) {
  const smma_span span = smma_json_span(value);
  return value->kind == SMMA_JSON_WORD && is_number(span) ? value->text : span;
}

bool smma_json_is(const smma_json_value *value, const char *text) {
  return value->kind == SMMA_JSON_WORD && smma_span_is(smma_json_span(value), text);
}

bool smma_json_int(const smma_json_value *value, int *number) {
  const int64_t whole = smma_json_number(value);
  *number = (int)whole;
  return *number == whole;
}

int64_t smma_json_number(const smma_json_value *value) {
  const bool negative = *value->text.at == '-';
  int64_t number = 0;
  for (size_t i = negative; i < value->text.length; i++) number = 10 * number + (value->text.at[i] - '0');
  return negative ? -number : number;
}

void smma_json_put(smma_json_writer *w, const char *format, ...) {
  const size_t left = w->length < w->size ? w->size - w->length : 0;
  va_list arguments;
  va_start(arguments, format);
  w->length += (size_t)vsnprintf(left ? w->text + w->length : NULL, left, format, arguments);
  va_end(arguments);
}
