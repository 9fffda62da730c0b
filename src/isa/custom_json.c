/* The JSON form of a custom unit: one flat object of words, whole numbers and flags. It is read here, not by a library,
   because every complaint names a line and a column, and libsoftmma depends on none. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/ascii.h"
#include "isa/custom.h"
#include "isa/nearest.h"

enum { MOST_MEMBERS = 64, VERSION = 1 };

typedef struct {
  const char *at;
  size_t length;
} span;

/* "key": value; the span of a word is without its quotes. */
typedef struct {
  span key, value;
  bool is_word;
} member;

typedef struct {
  const char *origin, *start, *at, *end;
  char *message;
  size_t message_size;
  member members[MOST_MEMBERS];
  size_t count;
  smma_custom custom;
  char name[128];
} reader;

__attribute__((format(printf, 3, 4))) static bool fail(reader *r, const char *at, const char *format, ...) {
  size_t line = 1, column = 1, used;
  va_list arguments;
  for (const char *c = r->start; c < at; c++) {
    column = *c == '\n' ? 1 : column + 1;
    line += *c == '\n';
  }
  used = (size_t)snprintf(r->message, r->message_size, "%s:%zu:%zu: ", r->origin, line, column);
  if (used >= r->message_size) return false;
  va_start(arguments, format);
  vsnprintf(r->message + used, r->message_size - used, format, arguments);
  va_end(arguments);
  return false;
}

static bool is(span s, const char *text) { return s.length == strlen(text) && memcmp(s.at, text, s.length) == 0; }

/* A span for "%.*s"; longer ones are cut. */
#define SHOWN(s) ((s).length < 60 ? (int)(s).length : 60), (s).at

/* ---- The text ---- */

static void skip_blanks(reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

static bool take(reader *r, char wanted) {
  skip_blanks(r);
  if (r->at == r->end || *r->at != wanted) return false;
  r->at++;
  return true;
}

/* A string of printable ASCII, which needs no escapes. */
static bool read_word(reader *r, const char *what, span *word) {
  const char *start = r->at;
  if (!take(r, '"')) return fail(r, r->at, "%s is missing; write it in double quotes", what);
  word->at = r->at;
  while (r->at < r->end && *r->at >= ' ' && *r->at <= '~' && *r->at != '"' && *r->at != '\\') r->at++;
  word->length = (size_t)(r->at - word->at);
  if (r->at < r->end && *r->at == '"') {
    r->at++;
    return true;
  }
  if (r->at == r->end) return fail(r, start, "the text ends inside a string; close it with '\"'");
  return fail(r, r->at, "this character cannot stand in a string here; allowed: printable ASCII without '\\'");
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A number or a flag: up to the next character that ends one. */
static bool read_bare(reader *r, span key, span *value) {
  const char *digits;
  value->at = r->at;
  while (r->at < r->end && !strchr(" \t\r\n,}:\"", *r->at)) r->at++;
  value->length = (size_t)(r->at - value->at);
  if (is(*value, "true") || is(*value, "false")) return true;
  digits = value->at + (value->length && *value->at == '-');
  for (const char *c = digits; c < r->at; c++)
    if (!is_digit(*c)) digits = r->at;
  if (digits < r->at && r->at - digits < 8 && (*digits != '0' || r->at - digits == 1)) return true;
  return fail(r, value->at, "\"%.*s\" takes no such value; allowed: a word in quotes, a whole number, true or false",
              SHOWN(key));
}

static bool read_member(reader *r) {
  member *m = &r->members[r->count];
  const char *start;
  skip_blanks(r);
  start = r->at;
  if (!read_word(r, "a key", &m->key)) return false;
  for (size_t i = 0; i < r->count; i++)
    if (r->members[i].key.length == m->key.length && memcmp(r->members[i].key.at, m->key.at, m->key.length) == 0)
      return fail(r, start, "\"%.*s\" stands here a second time; keep one", SHOWN(m->key));
  if (r->count + 1 == MOST_MEMBERS) return fail(r, start, "more than %d keys; no unit has as many", MOST_MEMBERS - 1);
  if (!take(r, ':')) return fail(r, r->at, "\"%.*s\" needs a colon behind it", SHOWN(m->key));
  skip_blanks(r);
  m->is_word = r->at < r->end && *r->at == '"';
  if (m->is_word ? !read_word(r, "a word", &m->value) : !read_bare(r, m->key, &m->value)) return false;
  r->count++;
  return true;
}

/* `end` becomes where the object is closed. */
static bool read_object(reader *r) {
  if (!take(r, '{')) return fail(r, r->at, "a custom unit is a JSON object; it begins with '{'");
  do {
    if (!read_member(r)) return false;
  } while (take(r, ','));
  if (!take(r, '}')) return fail(r, r->at, "a comma or the object's end is missing; allowed: ',' or '}'");
  skip_blanks(r);
  if (r->at != r->end) return fail(r, r->at, "there is text behind the object; remove it");
  while (*--r->end != '}') continue;
  return true;
}

/* ---- Its meaning ---- */

static const member *find(const reader *r, const char *key) {
  for (size_t i = 0; i < r->count; i++)
    if (is(r->members[i].key, key)) return &r->members[i];
  return NULL;
}

static const char *place_of(const member *m) { return m->value.at - m->is_word; }

static bool read_version(reader *r) {
  const member *m = find(r, "softmma-unit");
  if (!m) return fail(r, r->end, "\"softmma-unit\" is missing, the version of this form; allowed: %d", VERSION);
  if (m->is_word || !is(m->value, "1"))
    return fail(r, place_of(m), "\"softmma-unit\" is the version of this form; allowed: %d", VERSION);
  return true;
}

static bool read_name(reader *r) {
  const member *m = find(r, "name");
  if (!m) return fail(r, r->end, "\"name\" is missing; allowed: 1 to 100 letters, digits, '.', '_' and '-'");
  snprintf(r->name, sizeof r->name, "%.*s", m->is_word ? (int)m->value.length : 0, m->value.at);
  r->custom.instruction.name = r->name;
  return true;
}

static bool read_algorithm(reader *r) {
  const member *m = find(r, "algorithm");
  smma_rule *rule = &r->custom.named.rule;
  char list[256] = "";
  for (rule->algorithm = 0; *smma_model_name(rule); rule->algorithm++) {
    size_t used = strlen(list);
    if (m && m->is_word && is(m->value, smma_model_name(rule))) return true;
    snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", smma_model_name(rule));
  }
  return fail(r, m ? place_of(m) : r->end, "\"algorithm\" %s; allowed: %s", m ? "is none that there is" : "is missing",
              list);
}

/* The value of a member of its key; false where it is none of the allowed ones. */
static bool value_of(const smma_key *key, const member *m, int *value) {
  char word[64];
  snprintf(word, sizeof word, "%.*s", SHOWN(m->value));
  switch (key->kind) {
    case SMMA_KEY_INTEGER:
      if (m->is_word) return *value = key->meaning, key->word && is(m->value, key->word);
      return sscanf(word, "%d", value) == 1;
    case SMMA_KEY_FLAG: return *value = is(m->value, "true"), !m->is_word && !is_digit(word[strlen(word) - 1]);
    case SMMA_KEY_FORMAT:
      for (*value = 0; *value < SMMA_FORMAT_COUNT; ++*value)
        if (m->is_word && is(m->value, smma_format_text((smma_format)*value))) return key->formats >> *value & 1;
      return false;
    case SMMA_KEY_CHOICE:
    case SMMA_KEY_ROUNDING:
      for (*value = 0; key->choices[*value]; ++*value)
        if (m->is_word && is(m->value, key->choices[*value])) return true;
  }
  return false;
}

static bool fail_unknown(reader *r, const member *m) {
  const smma_rule *rule = &r->custom.named.rule;
  char list[512] = "softmma-unit, name, algorithm", word[64], nearest_list[SMMA_NEAREST_COUNT * SMMA_NAME_SIZE];
  smma_nearest nearest;
  snprintf(word, sizeof word, "%.*s", SHOWN(m->key));
  smma_nearest_start(&nearest, word);
  for (const smma_key *key = NULL; (key = smma_next_key(rule->algorithm, key));) {
    size_t used = strlen(list);
    smma_nearest_consider(&nearest, key->key, key->key);
    snprintf(list + used, sizeof list - used, ", %s", key->key);
  }
  smma_nearest_list(&nearest, nearest_list, sizeof nearest_list);
  return fail(r, m->key.at - 1, "%s has no key \"%s\"; nearest: %s; allowed: %s", smma_model_name(rule), word,
              nearest_list, list);
}

static bool read_members(reader *r) {
  char allowed[256];
  for (size_t i = 0; i < r->count; i++) {
    const member *m = &r->members[i];
    const smma_key *key = smma_find_key(r->custom.named.rule.algorithm, m->key.at, m->key.length);
    int value;
    if (is(m->key, "softmma-unit") || is(m->key, "name") || is(m->key, "algorithm")) continue;
    if (!key) return fail_unknown(r, m);
    if (!value_of(key, m, &value))
      return fail(r, place_of(m), "\"%s\" cannot be %.*s; allowed: %s", key->key, SHOWN(m->value),
                  smma_key_allowed(key, allowed, sizeof allowed));
    smma_custom_set(&r->custom, key, value);
  }
  return true;
}

/* Where a key takes another's value, that one comes first or is given. */
static bool fill_in(reader *r) {
  smma_algorithm algorithm = r->custom.named.rule.algorithm;
  char allowed[256];
  for (const smma_key *key = NULL; (key = smma_next_key(algorithm, key));) {
    if (find(r, key->key)) continue;
    if (key->like) {
      const smma_key *like = smma_find_key(algorithm, key->like, strlen(key->like));
      if (!find(r, key->like) && like->otherwise == SMMA_KEY_REQUIRED) continue; /* it is missed in its turn */
      smma_custom_set(&r->custom, key, smma_custom_get(&r->custom, like));
    } else if (key->otherwise == SMMA_KEY_REQUIRED) {
      return fail(r, r->end, "\"%s\" is missing; allowed: %s", key->key,
                  smma_key_allowed(key, allowed, sizeof allowed));
    } else {
      smma_custom_set(&r->custom, key, key->otherwise);
    }
  }
  return true;
}

static bool check(reader *r) {
  smma_custom_fault fault;
  const member *m;
  if (smma_custom_check(&r->custom, &fault)) return true;
  m = find(r, fault.key);
  return fail(r, m ? place_of(m) : r->end, "\"%s\": %s", fault.key, fault.text);
}

const smma_instruction *smma_custom_read(const char *origin, const char *text, size_t size, char *message,
                                         size_t message_size) {
  reader r = {.origin = origin, .start = text, .at = text, .end = text + size, .message = message};
  const smma_instruction *made;
  r.message_size = message_size;
  r.custom.instruction.origin = origin;
  r.custom.instruction.scale = SMMA_NO_FORMAT;
  if (!read_object(&r) || !read_version(&r) || !read_name(&r) || !read_algorithm(&r) || !read_members(&r) ||
      !fill_in(&r) || !check(&r))
    return NULL;
  made = smma_custom_make(&r.custom);
  if (!made) fail(&r, text, "out of memory");
  return made;
}

/* ---- Writing ---- */

typedef struct {
  char *text;
  size_t size, length;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...) {
  size_t left = w->length < w->size ? w->size - w->length : 0;
  va_list arguments;
  va_start(arguments, format);
  w->length += (size_t)vsnprintf(left ? w->text + w->length : NULL, left, format, arguments);
  va_end(arguments);
}

static void put_value(writer *w, const smma_key *key, int value) {
  switch (key->kind) {
    case SMMA_KEY_INTEGER:
      if (key->word && value == key->meaning)
        put(w, "\"%s\"", key->word);
      else
        put(w, "%d", value);
      break;
    case SMMA_KEY_FORMAT: put(w, "\"%s\"", smma_format_text((smma_format)value)); break;
    case SMMA_KEY_CHOICE:
    case SMMA_KEY_ROUNDING: put(w, "\"%s\"", key->choices[value]); break;
    case SMMA_KEY_FLAG: put(w, "%s", value ? "true" : "false"); break;
  }
}

size_t smma_custom_write(const smma_instruction *instruction, char *text, size_t size) {
  writer w = {text, size, 0};
  smma_custom custom = smma_custom_of(instruction);
  if (size) text[0] = 0;
  put(&w, "{\n  \"softmma-unit\": %d,\n  \"name\": \"%s\",\n  \"algorithm\": \"%s\"", VERSION, instruction->name,
      smma_model_name(&custom.named.rule));
  for (const smma_key *key = NULL; (key = smma_next_key(custom.named.rule.algorithm, key));) {
    if (smma_custom_left_out(&custom, key)) continue;
    put(&w, ",\n  \"%s\": ", key->key);
    put_value(&w, key, smma_custom_get(&custom, key));
  }
  put(&w, "\n}\n");
  return w.length;
}
