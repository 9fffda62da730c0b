/* The JSON form of a custom unit: one object of strings, whole numbers and flags, with a list of such objects for the
   steps of a composition. A composition that is G-FDPA may use the keys of G-FDPA instead of steps. */
#include <stdio.h>
#include <string.h>

#include "host/error.h"
#include "isa/compose.h"
#include "isa/custom.h"
#include "isa/json.h"
#include "isa/nearest.h"

enum { VERSION = 1 };

typedef struct {
  smma_json json;
  smma_algorithm algorithm; /* the algorithm whose keys the text uses */
  smma_custom custom;
  smma_g_fdpa chain; /* with SMMA_KEYS_OF_G_FDPA: the parameters of the composition to build */
  char name[128];
} reader;

#define FAIL(r, ...) smma_json_fail(&(r)->json, __VA_ARGS__)

static const smma_json_value *find(const reader *r, const char *key) {
  return smma_json_find(&r->json, r->json.value, key);
}

/* Returns the position to report for a missing key. */
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
  char list[256] = "";
  for (r->algorithm = 0; *smma_keys_name(r->algorithm); r->algorithm++) {
    r->custom.named.rule.algorithm = r->algorithm == SMMA_KEYS_OF_G_FDPA ? SMMA_COMPOSITION : r->algorithm;
    if (m && smma_json_is(m, smma_keys_name(r->algorithm))) return true;
    smma_append_text(list, sizeof list, "%s%s", *list ? ", " : "", smma_keys_name(r->algorithm));
  }
  return FAIL(r, m ? m->text.at : end_of(r), "\"algorithm\" %s; allowed: %s", m ? "does not exist" : "is missing",
              list);
}

/* Sets `*value` to the key's value in member `m`. Returns false if the member's kind or word does not fit the key. */
static bool value_of(const smma_key *key, const smma_json_value *m, int *value) {
  switch (key->kind) {
    case SMMA_KEY_INTEGER:
      if (m->kind == SMMA_JSON_NUMBER) return smma_json_int(m, value);
      break;
    case SMMA_KEY_FLAG: return *value = *m->text.at == 't', m->kind == SMMA_JSON_FLAG;
    case SMMA_KEY_FORMAT:
    case SMMA_KEY_CHOICE:
    case SMMA_KEY_ROUNDING: break;
  }
  return m->kind == SMMA_JSON_WORD && smma_key_word(key, smma_json_span(m).at, smma_json_span(m).length, value);
}

/* The object to which keys belong: a step, or the whole unit. */
typedef struct {
  const smma_json_value *object;
  smma_step *step; /* the step that receives the values; NULL for the whole unit */
} level;

static const smma_key *next_key(const reader *r, const level *l, const smma_key *previous) {
  return l->step ? smma_next_step_key(previous) : smma_next_key(r->algorithm, previous);
}

static bool fail_unknown(reader *r, const level *l, const smma_json_value *m) {
  char list[1024] = "", word[64], nearest_list[SMMA_NEAREST_COUNT * SMMA_NAME_SIZE];
  smma_nearest nearest;
  snprintf(word, sizeof word, "%.*s", SMMA_SHOWN(m->key));
  smma_nearest_start(&nearest, word);
  if (!l->step) smma_append_text(list, sizeof list, "softmma-unit, name, algorithm");
  if (!l->step && r->algorithm == SMMA_COMPOSITION) smma_append_text(list, sizeof list, ", steps");
  for (const smma_key *key = NULL; (key = next_key(r, l, key));) {
    smma_nearest_consider(&nearest, key->key, key->key);
    smma_append_text(list, sizeof list, "%s%s", *list ? ", " : "", key->key);
  }
  smma_nearest_hint(&nearest, nearest_list, sizeof nearest_list);
  return FAIL(r, m->key.at - 1, "%s has no key \"%s\"%s; allowed: %s",
              l->step ? "a step" : smma_keys_name(r->algorithm), word, nearest_list, list);
}

static bool is_head(const reader *r, smma_span key) {
  return smma_span_is(key, "softmma-unit") || smma_span_is(key, "name") || smma_span_is(key, "algorithm") ||
         (r->algorithm == SMMA_COMPOSITION && smma_span_is(key, "steps"));
}

static void set(reader *r, const level *l, const smma_key *key, int value) {
  if (l->step)
    smma_set_key_of_step(l->step, key, value);
  else if (key->of_chain)
    smma_set_key_of_chain(&r->chain, key, value);
  else
    smma_custom_set(&r->custom, key, value);
}

static int get(const reader *r, const level *l, const smma_key *key) {
  if (key->of_chain) return smma_key_of_chain(&r->chain, key);
  return l->step ? smma_key_of_step(l->step, key) : smma_custom_get(&r->custom, key);
}

static const smma_key *find_key(const reader *r, const level *l, const char *name, size_t length) {
  return l->step ? smma_find_step_key(name, length) : smma_find_key(r->algorithm, name, length);
}

static bool read_members(reader *r, const level *l) {
  char allowed[256];
  for (const smma_json_value *m = smma_json_first(&r->json, l->object); m; m = smma_json_next(&r->json, m)) {
    const smma_key *key = find_key(r, l, m->key.at, m->key.length);
    const smma_span shown = smma_json_shown(m);
    int value;
    if (!l->step && is_head(r, m->key)) continue;
    if (!key) return fail_unknown(r, l, m);
    if (!value_of(key, m, &value))
      return FAIL(r, m->text.at, "\"%s\" cannot be %.*s; allowed: %s", key->key, SMMA_SHOWN(shown),
                  smma_key_allowed(key, allowed, sizeof allowed));
    set(r, l, key, value);
  }
  return true;
}

/* Sets keys that the text lacks to their defaults. If the default is the value of another key, that key must have its
   value already: it stands earlier in the table, or in the text. */
static bool fill_in(reader *r, const level *l) {
  char allowed[256];
  for (const smma_key *key = NULL; (key = next_key(r, l, key));) {
    if (smma_json_find(&r->json, l->object, key->key)) continue;
    if (key->like) {
      const smma_key *like = find_key(r, l, key->like, strlen(key->like));
      if (!smma_json_find(&r->json, l->object, key->like) && like->otherwise == SMMA_KEY_REQUIRED)
        continue; /* reported when its own turn comes */
      set(r, l, key, get(r, l, like));
    } else if (key->otherwise == SMMA_KEY_REQUIRED) {
      return FAIL(r, smma_json_end(l->object), "\"%s\" is missing; allowed: %s", key->key,
                  smma_key_allowed(key, allowed, sizeof allowed));
    } else {
      set(r, l, key, key->otherwise);
    }
  }
  return true;
}

/* Reads the steps. This comes after the rest of the unit, because a window of all nodes needs their number, which
   depends on K. */
static bool read_steps(reader *r) {
  smma_composition *p = &r->custom.named.rule.with.composition;
  const smma_json_value *list = find(r, "steps");
  if (r->algorithm != SMMA_COMPOSITION) return true;
  if (!list || list->kind != SMMA_JSON_LIST)
    return FAIL(r, list ? list->text.at : end_of(r), "\"steps\" %s; allowed: a list of 1 to %d objects",
                list ? "is no list" : "is missing", SMMA_MAXIMUM_STEPS);
  for (const smma_json_value *m = smma_json_first(&r->json, list); m; m = smma_json_next(&r->json, m)) {
    const level l = {m, &p->step[p->steps]};
    if (m->kind != SMMA_JSON_OBJECT) return FAIL(r, m->text.at, "a step is an object: { \"take\": 8, ... }");
    if (p->steps == SMMA_MAXIMUM_STEPS) return FAIL(r, m->text.at, "more than %d steps", SMMA_MAXIMUM_STEPS);
    if (!read_members(r, &l) || !fill_in(r, &l)) return false;
    if (l.step->window == SMMA_NONE) l.step->window = smma_composition_nodes(p, r->custom.instruction.k, p->steps);
    p->steps++;
  }
  return true;
}

/* Returns the value in the text that a fault is about; NULL if the text does not contain it. */
static const smma_json_value *find_fault(const reader *r, const smma_custom_fault *fault) {
  const bool in_step = fault->step >= 0 && r->algorithm == SMMA_COMPOSITION;
  const smma_json_value *m = in_step ? smma_json_first(&r->json, find(r, "steps")) : NULL;
  for (int step = 0; in_step && step < fault->step; step++) m = smma_json_next(&r->json, m);
  return in_step ? smma_json_find(&r->json, m, fault->key) : find(r, fault->key);
}

/* Checks the unit. If the text has parameters of G-FDPA, first builds the composition from them. */
static bool check_unit(reader *r, smma_custom_fault *fault) {
  const smma_instruction *i = &r->custom.instruction;
  if (r->algorithm == SMMA_KEYS_OF_G_FDPA) {
    if (!smma_custom_check_chain(&r->custom, &r->chain, fault)) return false;
    r->custom.named.rule.with.composition = smma_compose_g_fdpa(&r->chain, i->k, i->d);
  }
  return smma_custom_check(&r->custom, fault);
}

static bool check(reader *r) {
  smma_custom_fault fault;
  const smma_json_value *m;
  char step[24] = "";
  if (check_unit(r, &fault)) return true;
  m = find_fault(r, &fault);
  if (fault.step >= 0 && r->algorithm == SMMA_COMPOSITION) snprintf(step, sizeof step, "step %d, ", fault.step + 1);
  return FAIL(r, m ? m->text.at : end_of(r), "%s\"%s\": %s", step, fault.key, fault.text);
}

static const smma_instruction *made_of(reader *r) {
  const level whole = {r->json.value, NULL};
  const smma_instruction *made;
  if (!read_version(r) || !read_name(r) || !read_algorithm(r) || !read_members(r, &whole) || !fill_in(r, &whole) ||
      !read_steps(r) || !check(r))
    return NULL;
  made = smma_custom_make(&r->custom);
  if (!made) smma_no_memory(r->json.error);
  return made;
}

const smma_instruction *smma_custom_read(const char *origin, const char *text, size_t size, smma_error *error) {
  reader r = {.custom.instruction = {.origin = origin, .scale = SMMA_NO_FORMAT}};
  const bool read = smma_json_read(&r.json, "a custom unit", origin, text, size, error);
  const smma_instruction *made = read ? made_of(&r) : NULL;
  smma_json_free(&r.json);
  return made;
}

/* ---- Writing ---- */

static void put_value(smma_json_writer *w, const smma_key *key, int value) {
  char text[32];
  const bool quoted =
      key->kind != SMMA_KEY_FLAG && !(key->kind == SMMA_KEY_INTEGER && value >= key->least && value <= key->most);
  smma_json_put(w, quoted ? "\"%s\": \"%s\"" : "\"%s\": %s", key->key, smma_key_value(key, value, text, sizeof text));
}

/* Writes a step, without keys whose values are the defaults. */
static void put_step(smma_json_writer *w, const smma_composition *p, int k, int step) {
  const char *comma = "";
  smma_json_put(w, "%s\n    { ", step ? "," : "");
  for (const smma_key *key = NULL; (key = smma_next_step_key(key));) {
    const int value = smma_key_of_step(&p->step[step], key);
    if (smma_step_key_is_told(p, k, step, key)) {
      smma_json_put(w, "%s", comma);
      put_value(w, key, value);
      comma = ", ";
    }
  }
  smma_json_put(w, " }");
}

size_t smma_custom_write(const smma_instruction *instruction, char *text, size_t size) {
  smma_json_writer w = {text, size, 0};
  smma_custom custom = smma_custom_of(instruction);
  if (size) text[0] = 0;
  smma_json_put(&w, "{\n  \"softmma-unit\": %d,\n  \"name\": \"%s\",\n  \"algorithm\": \"%s\"", VERSION,
                instruction->name, smma_model_name(&custom.named.rule));
  for (const smma_key *key = NULL; (key = smma_next_key(custom.named.rule.algorithm, key));) {
    if (smma_custom_left_out(&custom, key)) continue;
    smma_json_put(&w, ",\n  ");
    put_value(&w, key, smma_custom_get(&custom, key));
  }
  if (custom.named.rule.algorithm == SMMA_COMPOSITION) {
    const smma_composition *p = &custom.named.rule.with.composition;
    smma_json_put(&w, ",\n  \"steps\": [");
    for (int step = 0; step < p->steps; step++) put_step(&w, p, instruction->k, step);
    smma_json_put(&w, "\n  ]");
  }
  smma_json_put(&w, "\n}\n");
  return w.length;
}
