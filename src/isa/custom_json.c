/* The JSON form of a custom unit: one flat object of words, whole numbers and flags. */
#include <stdio.h>
#include <string.h>

#include "isa/custom.h"
#include "isa/json.h"
#include "isa/nearest.h"

enum { VERSION = 1 };

typedef struct {
  smma_json json;
  smma_custom custom;
  char name[128];
} reader;

#define FAIL(r, ...) smma_json_fail(&(r)->json, __VA_ARGS__)

static const smma_json_value *find(const reader *r, const char *key) {
  return smma_json_find(&r->json, r->json.value, key);
}

/* Where a key that is missing is missed. */
static const char *end_of(const reader *r) { return smma_json_end(r->json.value); }

static bool read_version(reader *r) {
  const smma_json_value *m = find(r, "softmma-unit");
  if (!m) return FAIL(r, end_of(r), "\"softmma-unit\" is missing, the version of this form; allowed: %d", VERSION);
  if (m->kind != SMMA_JSON_NUMBER || smma_json_number(m) != VERSION)
    return FAIL(r, m->text.at, "\"softmma-unit\" is the version of this form; allowed: %d", VERSION);
  return true;
}

static bool read_name(reader *r) {
  const smma_json_value *m = find(r, "name");
  if (!m) return FAIL(r, end_of(r), "\"name\" is missing; allowed: 1 to 100 letters, digits, '.', '_' and '-'");
  snprintf(r->name, sizeof r->name, "%.*s", m->kind == SMMA_JSON_WORD ? (int)smma_json_span(m).length : 0,
           smma_json_span(m).at);
  r->custom.instruction.name = r->name;
  return true;
}

static bool read_algorithm(reader *r) {
  const smma_json_value *m = find(r, "algorithm");
  smma_rule *rule = &r->custom.named.rule;
  char list[256] = "";
  for (rule->algorithm = 0; *smma_model_name(rule); rule->algorithm++) {
    size_t used = strlen(list);
    if (m && smma_json_is(m, smma_model_name(rule))) return true;
    snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", smma_model_name(rule));
  }
  return FAIL(r, m ? m->text.at : end_of(r), "\"algorithm\" %s; allowed: %s",
              m ? "is none that there is" : "is missing", list);
}

/* The value of a member of its key; false where it is none of the allowed ones. */
static bool value_of(const smma_key *key, const smma_json_value *m, int *value) {
  switch (key->kind) {
    case SMMA_KEY_INTEGER:
      if (m->kind == SMMA_JSON_WORD) return *value = key->meaning, key->word && smma_json_is(m, key->word);
      return m->kind == SMMA_JSON_NUMBER && smma_json_int(m, value);
    case SMMA_KEY_FLAG: return *value = *m->text.at == 't', m->kind == SMMA_JSON_FLAG;
    case SMMA_KEY_FORMAT:
      for (*value = 0; *value < SMMA_FORMAT_COUNT; ++*value)
        if (smma_json_is(m, smma_format_text((smma_format)*value))) return key->formats >> *value & 1;
      return false;
    case SMMA_KEY_CHOICE:
    case SMMA_KEY_ROUNDING:
      for (*value = 0; key->choices[*value]; ++*value)
        if (smma_json_is(m, key->choices[*value])) return true;
  }
  return false;
}

static bool fail_unknown(reader *r, const smma_json_value *m) {
  const smma_rule *rule = &r->custom.named.rule;
  char list[512] = "softmma-unit, name, algorithm", word[64], nearest_list[SMMA_NEAREST_COUNT * SMMA_NAME_SIZE];
  smma_nearest nearest;
  snprintf(word, sizeof word, "%.*s", SMMA_SHOWN(m->key));
  smma_nearest_start(&nearest, word);
  for (const smma_key *key = NULL; (key = smma_next_key(rule->algorithm, key));) {
    size_t used = strlen(list);
    smma_nearest_consider(&nearest, key->key, key->key);
    snprintf(list + used, sizeof list - used, ", %s", key->key);
  }
  smma_nearest_list(&nearest, nearest_list, sizeof nearest_list);
  return FAIL(r, m->key.at - 1, "%s has no key \"%s\"; nearest: %s; allowed: %s", smma_model_name(rule), word,
              nearest_list, list);
}

static bool is_head(smma_span key) {
  return smma_span_is(key, "softmma-unit") || smma_span_is(key, "name") || smma_span_is(key, "algorithm");
}

static bool read_members(reader *r) {
  char allowed[256];
  for (const smma_json_value *m = smma_json_first(&r->json, r->json.value); m; m = smma_json_next(&r->json, m)) {
    const smma_key *key = smma_find_key(r->custom.named.rule.algorithm, m->key.at, m->key.length);
    const smma_span shown = smma_json_span(m);
    int value;
    if (is_head(m->key)) continue;
    if (!key) return fail_unknown(r, m);
    if (!value_of(key, m, &value))
      return FAIL(r, m->text.at, "\"%s\" cannot be %.*s; allowed: %s", key->key, SMMA_SHOWN(shown),
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
      return FAIL(r, end_of(r), "\"%s\" is missing; allowed: %s", key->key,
                  smma_key_allowed(key, allowed, sizeof allowed));
    } else {
      smma_custom_set(&r->custom, key, key->otherwise);
    }
  }
  return true;
}

static bool check(reader *r) {
  smma_custom_fault fault;
  const smma_json_value *m;
  if (smma_custom_check(&r->custom, &fault)) return true;
  m = find(r, fault.key);
  return FAIL(r, m ? m->text.at : end_of(r), "\"%s\": %s", fault.key, fault.text);
}

static const smma_instruction *made_of(reader *r) {
  const smma_instruction *made;
  if (!read_version(r) || !read_name(r) || !read_algorithm(r) || !read_members(r) || !fill_in(r) || !check(r))
    return NULL;
  made = smma_custom_make(&r->custom);
  if (!made) FAIL(r, r->json.start, "out of memory");
  return made;
}

const smma_instruction *smma_custom_read(const char *origin, const char *text, size_t size, char *message,
                                         size_t message_size) {
  reader r = {.custom.instruction = {.origin = origin, .scale = SMMA_NO_FORMAT}};
  const bool read = smma_json_read(&r.json, "a custom unit", origin, text, size, message, message_size);
  const smma_instruction *made = read ? made_of(&r) : NULL;
  smma_json_free(&r.json);
  return made;
}

/* ---- Writing ---- */

static void put_value(smma_json_writer *w, const smma_key *key, int value) {
  switch (key->kind) {
    case SMMA_KEY_INTEGER:
      if (key->word && value == key->meaning)
        smma_json_put(w, "\"%s\"", key->word);
      else
        smma_json_put(w, "%d", value);
      break;
    case SMMA_KEY_FORMAT: smma_json_put(w, "\"%s\"", smma_format_text((smma_format)value)); break;
    case SMMA_KEY_CHOICE:
    case SMMA_KEY_ROUNDING: smma_json_put(w, "\"%s\"", key->choices[value]); break;
    case SMMA_KEY_FLAG: smma_json_put(w, "%s", value ? "true" : "false"); break;
  }
}

size_t smma_custom_write(const smma_instruction *instruction, char *text, size_t size) {
  smma_json_writer w = {text, size, 0};
  smma_custom custom = smma_custom_of(instruction);
  if (size) text[0] = 0;
  smma_json_put(&w, "{\n  \"softmma-unit\": %d,\n  \"name\": \"%s\",\n  \"algorithm\": \"%s\"", VERSION,
                instruction->name, smma_model_name(&custom.named.rule));
  for (const smma_key *key = NULL; (key = smma_next_key(custom.named.rule.algorithm, key));) {
    if (smma_custom_left_out(&custom, key)) continue;
    smma_json_put(&w, ",\n  \"%s\": ", key->key);
    put_value(&w, key, smma_custom_get(&custom, key));
  }
  smma_json_put(&w, "\n}\n");
  return w.length;
}
