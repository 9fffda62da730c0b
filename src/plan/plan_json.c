/* The JSON form of a plan (docs/plans.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "isa/format_name.h"
#include "isa/json.h"
#include "isa/key.h"
#include "plan/plan.h"

enum { VERSION = 1 };

/* The greatest number allowed in a plan, so that products of indices fit in size_t. */
static const int64_t most_number = INT64_C(1) << 40;

/* The words of enumerations, in order; each list ends with NULL. */
static const char *const deals[] = {"contiguous", "every", "interleaved", "list", NULL};
static const char *const folds[] = {"serial", "halving", "neighbours", "last-first", "strides", NULL};
static const char *const withs[] = {"add", "fma", "multiply-fma", "multiply-b-fma", NULL};
static const char *const residues[] = {"last", "first-tile", "first", "none", NULL};
static const char *const starts[] = {"zero", "c", NULL};
static const char *const froms[] = {"first", "zero", NULL};
static const char *const epilogues[] = {"alpha", "linear", "beta", "bias", "scale-d", "relu", "round", "clamp", NULL};

/* level_keys: the keys of every level. deal_keys: a level's additional keys, by its `deal`. plan_keys: the keys of a
   plan. Each list ends with NULL. */
static const char *const level_keys[] = {"deal", "fold", "strides", "with", "from", "stored", "total", NULL};
static const char *const deal_keys[][5] = {
    {"parts", "grain", NULL}, {"k", NULL}, {"parts", "tile", "fits", "whole", NULL}, {"list", NULL}};
static const char *const plan_keys[] = {"softmma-plan", "name",      "sources", "round_in", "d",
                                        "start",        "lost_tail", "sum",     "group",    "residue",
                                        "tile",         "epilogue",  NULL};

typedef struct {
  smma_json json;
  smma_plan *plan;
} reader;

#define FAIL(r, ...) smma_json_fail(&(r)->json, __VA_ARGS__)

/* Joins words as "x, y, z". */
static const char *list_of(const char *const *words, char *text, size_t size) {
  text[0] = 0;
  for (; *words; words++) {
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", *words);
  }
  return text;
}

static bool is_among(smma_span key, const char *const *words) {
  while (*words && !smma_span_is(key, *words)) words++;
  return *words != NULL;
}

/* Checks that every key of an object is in `keys` or, unless it is NULL, in `more`. */
static bool check_keys(reader *r, const char *what, const smma_json_value *object, const char *const *keys,
                       const char *const *more) {
  char first[256], second[128];
  for (const smma_json_value *m = smma_json_first(&r->json, object); m; m = smma_json_next(&r->json, m)) {
    if (is_among(m->key, keys) || (more && is_among(m->key, more))) continue;
    list_of(keys, first, sizeof first);
    list_of(more ? more : keys, second, sizeof second);
    return FAIL(r, m->key.at - 1, "%s has no key \"%.*s\"; allowed: %s%s%s", what, SMMA_SHOWN(m->key), first,
                more ? ", " : "", more ? second : "");
  }
  return true;
}

static bool must_be(reader *r, const smma_json_value *m, const char *allowed) {
  const smma_span shown = smma_json_shown(m);
  return FAIL(r, m->text.at, "\"%.*s\" cannot be %.*s; allowed: %s", SMMA_SHOWN(m->key), SMMA_SHOWN(shown), allowed);
}

/* Reads a whole number of at least 1. `otherwise` is the default; 0: the key is required. */
static bool read_size(reader *r, const smma_json_value *object, const char *key, size_t otherwise, size_t *size) {
  const smma_json_value *m = smma_json_find(&r->json, object, key);
  *size = otherwise;
  if (!m && otherwise) return true;
  if (!m) return FAIL(r, smma_json_end(object), "\"%s\" is missing; allowed: a whole number from 1 on", key);
  if (m->kind != SMMA_JSON_NUMBER || smma_json_number(m) < 1 || smma_json_number(m) > most_number)
    return must_be(r, m, "a whole number from 1 to 2^40");
  *size = (size_t)smma_json_number(m);
  return true;
}

/* Reads one of several words (default: the first). */
static bool read_choice(reader *r, const smma_json_value *object, const char *key, const char *const *words,
                        int *choice) {
  const smma_json_value *m = smma_json_find(&r->json, object, key);
  char list[256];
  *choice = 0;
  if (!m) return true;
  while (words[*choice] && !smma_json_is(m, words[*choice])) ++*choice;
  return words[*choice] || must_be(r, m, list_of(words, list, sizeof list));
}

static bool read_flag(reader *r, const smma_json_value *object, const char *key, bool *flag) {
  const smma_json_value *m = smma_json_find(&r->json, object, key);
  *flag = m && *m->text.at == 't';
  return !m || m->kind == SMMA_JSON_FLAG || must_be(r, m, "true, false");
}

/* Reports whether results can have the format. */
static bool is_floating(smma_format f) { return smma_is_operand_format(f) && !smma_is_fixed_point(f); }

static const char *formats_text(char *text, size_t size) {
  text[0] = 0;
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++) {
    const size_t used = strlen(text);
    if (is_floating(smma_format_at(row)))
      snprintf(text + used, size - used, "%s%s", used ? ", " : "", smma_format_text(smma_format_at(row)));
  }
  return text;
}

static bool read_format(reader *r, const smma_json_value *m, smma_format *format) {
  char list[256];
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++) {
    *format = smma_format_at(row);
    if (smma_json_is(m, smma_format_text(*format)) && is_floating(*format)) return true;
  }
  return must_be(r, m, formats_text(list, sizeof list));
}

/* Reads the format to which parts or totals are rounded. */
static bool read_stored(reader *r, const smma_json_value *level, const char *key, int *stored) {
  static const smma_format formats[] = {SMMA_F16, SMMA_BF16, SMMA_TF32};
  const smma_json_value *m = smma_json_find(&r->json, level, key);
  *stored = SMMA_STORED_AS_IS;
  if (!m || smma_json_is(m, "as-is")) return true;
  *stored = SMMA_STORED_AS_D;
  if (smma_json_is(m, "d")) return true;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (smma_json_is(m, smma_format_text(formats[i]))) return *stored = (int)formats[i], true;
  return must_be(r, m, "as-is, d, f16, bf16, tf32");
}

/* Reads a range [first, end) from an array of two numbers. */
static bool read_range(reader *r, const smma_json_value *pair, smma_plan_range *range) {
  const smma_json_value *x = pair->kind == SMMA_JSON_LIST ? smma_json_first(&r->json, pair) : NULL;
  const smma_json_value *y = x ? smma_json_next(&r->json, x) : NULL;
  if (y && !smma_json_next(&r->json, y) && x->kind == SMMA_JSON_NUMBER && y->kind == SMMA_JSON_NUMBER &&
      smma_json_number(x) >= 0 && smma_json_number(x) < smma_json_number(y) && smma_json_number(y) <= most_number) {
    range->first = (size_t)smma_json_number(x), range->end = (size_t)smma_json_number(y);
    return true;
  }
  return FAIL(r, pair->text.at,
              "a range is [first, end], the k from first to end - 1; allowed: 0 <= first < end <= 2^40");
}

/* Reads a list of parts, each a list of ranges. */
static bool read_list(reader *r, const smma_json_value *object, smma_plan_level *level) {
  const smma_json_value *list = smma_json_find(&r->json, object, "list");
  smma_plan_range *range;
  size_t part = 0;
  if (!list) return FAIL(r, smma_json_end(object), "\"list\" is missing, the parts; allowed: lists of ranges of k");
  if (list->kind != SMMA_JSON_LIST || !list->first)
    return must_be(r, list, "[[[first, end], ...], ...], a list a part");
  level->range = range = malloc(r->json.count * sizeof *range);
  if (!range) return smma_no_memory(r->json.error);
  for (const smma_json_value *p = smma_json_first(&r->json, list); p; p = smma_json_next(&r->json, p), part++) {
    if (p->kind != SMMA_JSON_LIST || !p->first) return FAIL(r, p->text.at, "a part is a list of ranges, at least one");
    for (const smma_json_value *x = smma_json_first(&r->json, p); x; x = smma_json_next(&r->json, x)) {
      range[level->ranges].part = part;
      if (!read_range(r, x, &range[level->ranges])) return false;
      level->ranges++;
    }
  }
  return true;
}

static bool read_strides(reader *r, const smma_json_value *object, smma_plan_level *level) {
  const smma_json_value *m = smma_json_find(&r->json, object, "strides");
  const char *allowed = "whole numbers that become less, down to 1, at most 16";
  size_t last = (size_t)most_number + 1;
  if (level->fold != SMMA_FOLD_STRIDES)
    return !m || FAIL(r, m->key.at - 1, "\"strides\" goes with \"fold\": \"strides\" only");
  if (!m) return FAIL(r, smma_json_end(object), "\"strides\" is missing; allowed: %s", allowed);
  if (m->kind != SMMA_JSON_LIST) return must_be(r, m, allowed);
  for (const smma_json_value *x = smma_json_first(&r->json, m); x; x = smma_json_next(&r->json, x)) {
    const int64_t stride = x->kind == SMMA_JSON_NUMBER ? smma_json_number(x) : 0;
    if (stride < 1 || (size_t)stride >= last || level->strides == SMMA_MOST_STRIDES) return must_be(r, m, allowed);
    level->stride[level->strides++] = last = (size_t)stride;
  }
  return last == 1 || must_be(r, m, allowed);
}

static bool others_scale(const smma_plan *p, const smma_plan_level *level) {
  const smma_plan_level *scaled = smma_plan_scaled_level(p);
  return scaled && scaled != level;
}

/* Checks for combinations that a level does not allow. */
static bool check_level(reader *r, const smma_json_value *object, const smma_plan_level *level, bool outermost) {
  if (level->deal == SMMA_DEAL_LIST && !outermost)
    return FAIL(r, object->text.at, "\"list\" deals out the whole K; allowed: as the first level");
  if (level->with != SMMA_WITH_ADD && (level->deal != SMMA_DEAL_EVERY || others_scale(r->plan, level)))
    return FAIL(r, object->text.at, "\"%s\" goes with one level only, which deals out every k", withs[level->with]);
  if (level->with != SMMA_WITH_ADD && (level->fold != SMMA_FOLD_SERIAL || !level->from_zero))
    return FAIL(
        r, object->text.at,
        "\"%s\" multiplies each part by its scale factors; allowed: with \"fold\": \"serial\", \"from\": \"zero\"",
        withs[level->with]);
  if (level->from_zero && level->fold != SMMA_FOLD_SERIAL)
    return FAIL(r, object->text.at, "\"from\": \"zero\" goes with \"fold\": \"serial\" only");
  return true;
}

/* Checks the number of interleaved parts, which the length of K does not limit, because such parts may be empty. */
static bool check_lanes(reader *r, const smma_json_value *object, const smma_plan_level *level) {
  return level->count <= SMMA_MOST_LANES ||
         must_be(r, smma_json_find(&r->json, object, "parts"), "1 to 4096 where \"deal\" is interleaved");
}

static bool read_deal(reader *r, const smma_json_value *object, smma_plan_level *level) {
  switch (level->deal) {
    case SMMA_DEAL_CONTIGUOUS:
      return read_size(r, object, "parts", 0, &level->count) && read_size(r, object, "grain", 1, &level->grain);
    case SMMA_DEAL_EVERY: return read_size(r, object, "k", 0, &level->grain);
    case SMMA_DEAL_INTERLEAVED:
      return read_size(r, object, "parts", 0, &level->count) && check_lanes(r, object, level) &&
             read_size(r, object, "tile", 1, &level->grain) && read_flag(r, object, "fits", &level->fits) &&
             read_flag(r, object, "whole", &level->whole);
    case SMMA_DEAL_LIST: return read_list(r, object, level);
  }
  return false;
}

static bool read_level(reader *r, const smma_json_value *object, smma_plan_level *level, bool outermost) {
  int deal, fold, with, from;
  char list[128];
  if (object->kind != SMMA_JSON_OBJECT) return FAIL(r, object->text.at, "a level of the sum is an object: {...}");
  if (!smma_json_find(&r->json, object, "deal"))
    return FAIL(r, smma_json_end(object), "\"deal\" is missing; allowed: %s", list_of(deals, list, sizeof list));
  if (!read_choice(r, object, "deal", deals, &deal) || !read_choice(r, object, "fold", folds, &fold) ||
      !read_choice(r, object, "with", withs, &with) || !read_choice(r, object, "from", froms, &from))
    return false;
  level->deal = (smma_deal)deal, level->fold = (smma_fold)fold, level->with = (smma_with)with;
  level->from_zero = from;
  return check_keys(r, "this level", object, level_keys, deal_keys[deal]) && read_deal(r, object, level) &&
         read_strides(r, object, level) && read_stored(r, object, "stored", &level->stored) &&
         read_stored(r, object, "total", &level->total) && check_level(r, object, level, outermost);
}

static bool read_sum(reader *r) {
  const smma_json_value *m = smma_json_find(&r->json, r->json.value, "sum");
  smma_plan *p = r->plan;
  if (!m) return true;
  if (m->kind != SMMA_JSON_LIST) return must_be(r, m, "a list of levels, the outermost first");
  for (const smma_json_value *x = smma_json_first(&r->json, m); x; x = smma_json_next(&r->json, x)) {
    if (p->levels == SMMA_MOST_LEVELS) return FAIL(r, x->text.at, "more than %d levels", SMMA_MOST_LEVELS);
    if (!read_level(r, x, &p->level[p->levels++], x == smma_json_first(&r->json, m))) return false;
  }
  return true;
}

/* Reads an operation: "relu", or {"round": "f16"}. */
static bool read_operation(reader *r, const smma_json_value *x, smma_epilogue *e) {
  const smma_json_value *of = x->kind == SMMA_JSON_OBJECT ? smma_json_first(&r->json, x) : NULL;
  int kind = 0;
  if (of && !smma_json_next(&r->json, of))
    for (kind = SMMA_EPILOGUE_ROUND; epilogues[kind]; kind++)
      if (smma_span_is(of->key, epilogues[kind]))
        return e->kind = (smma_epilogue_kind)kind, read_format(r, of, &e->format);
  for (kind = 0; kind < SMMA_EPILOGUE_ROUND; kind++)
    if (smma_json_is(x, epilogues[kind])) return e->kind = (smma_epilogue_kind)kind, true;
  return FAIL(r, x->text.at,
              "no operation of an epilogue whose bits are known; allowed: \"alpha\", \"linear\", \"beta\", \"bias\", "
              "\"scale-d\", "
              "\"relu\", {\"round\": FORMAT}, {\"clamp\": FORMAT}");
}

static bool read_epilogue(reader *r) {
  const smma_json_value *m = smma_json_find(&r->json, r->json.value, "epilogue");
  smma_plan *p = r->plan;
  if (!m) return true;
  if (m->kind != SMMA_JSON_LIST) return must_be(r, m, "a list of operations");
  for (const smma_json_value *x = smma_json_first(&r->json, m); x; x = smma_json_next(&r->json, x)) {
    if (p->epilogues == SMMA_MOST_EPILOGUE) return FAIL(r, x->text.at, "more than %d operations", SMMA_MOST_EPILOGUE);
    if (!read_operation(r, x, &p->epilogue[p->epilogues++])) return false;
  }
  return true;
}

static const char *copy_of(const smma_json_value *word) {
  const smma_span s = smma_json_span(word);
  char *copy = malloc(s.length + 1);
  if (!copy) return NULL;
  memcpy(copy, s.at, s.length);
  copy[s.length] = 0;
  return copy;
}

static bool read_name(reader *r) {
  const smma_json_value *m = smma_json_find(&r->json, r->json.value, "name");
  if (!m) return FAIL(r, smma_json_end(r->json.value), "\"name\" is missing; allowed: a text");
  if (m->kind != SMMA_JSON_WORD || smma_json_span(m).length == 0 || smma_json_span(m).length > 100)
    return must_be(r, m, "1 to 100 characters");
  r->plan->name = copy_of(m);
  return r->plan->name || smma_no_memory(r->json.error);
}

static bool read_sources(reader *r) {
  const smma_json_value *m = smma_json_find(&r->json, r->json.value, "sources");
  smma_plan *p = r->plan;
  if (!m) return true;
  if (m->kind != SMMA_JSON_LIST) return must_be(r, m, "a list of texts");
  for (const smma_json_value *x = smma_json_first(&r->json, m); x; x = smma_json_next(&r->json, x)) {
    if (x->kind != SMMA_JSON_WORD || p->sources == SMMA_MOST_SOURCES)
      return must_be(r, m, "a list of at most 16 texts");
    p->source[p->sources] = copy_of(x);
    if (!p->source[p->sources++]) return smma_no_memory(r->json.error);
  }
  return true;
}

static bool read_version(reader *r) {
  const smma_json_value *m = smma_json_find(&r->json, r->json.value, "softmma-plan");
  if (!m)
    return FAIL(r, smma_json_end(r->json.value), "\"softmma-plan\" is missing, the version of this form; allowed: %d",
                VERSION);
  return (m->kind == SMMA_JSON_NUMBER && smma_json_number(m) == VERSION) ||
         must_be(r, m, "1, the version of this form");
}

/* Reads the groups of an instruction's products, and which group is short. */
static bool read_groups(reader *r) {
  const smma_json_value *whole = r->json.value, *tile = smma_json_find(&r->json, whole, "tile");
  const smma_json_value *group = smma_json_find(&r->json, whole, "group");
  const smma_json_value *lost = smma_json_find(&r->json, whole, "lost_tail");
  smma_plan *p = r->plan;
  int residue;
  if (!read_choice(r, whole, "residue", residues, &residue)) return false;
  p->residue = (smma_residue)residue;
  if (p->residue == SMMA_RESIDUE_FIRST_TILE && !read_size(r, whole, "tile", 0, &p->tile)) return false;
  if (p->residue != SMMA_RESIDUE_FIRST_TILE && tile)
    return FAIL(r, tile->key.at - 1, "\"tile\" goes with \"residue\": \"first-tile\" only");
  if (lost && (p->levels == 0 || p->level[0].deal != SMMA_DEAL_CONTIGUOUS))
    return FAIL(r, lost->key.at - 1, "\"lost_tail\" goes with a first level that is contiguous only");
  return (!group || read_size(r, whole, "group", 0, &p->group)) &&
         (!lost || read_size(r, whole, "lost_tail", 0, &p->lost_tail));
}

/* Reads how A and B are rounded, if the plan defines it. */
static bool read_round_in(reader *r) {
  int rounding;
  if (!read_choice(r, r->json.value, "round_in", smma_roundings, &rounding)) return false;
  r->plan->has_operand_rounding = smma_json_find(&r->json, r->json.value, "round_in") != NULL;
  r->plan->operand_rounding = (smma_rounding)rounding;
  return true;
}

static bool read_plan(reader *r) {
  const smma_json_value *d = smma_json_find(&r->json, r->json.value, "d");
  int start;
  if (!read_version(r) || !check_keys(r, "a plan", r->json.value, plan_keys, NULL) || !read_name(r)) return false;
  if (!read_sources(r) || !read_round_in(r) || !read_choice(r, r->json.value, "start", starts, &start)) return false;
  r->plan->starts_from_c = start;
  r->plan->d = SMMA_NO_FORMAT;
  return (!d || read_format(r, d, &r->plan->d)) && read_sum(r) && read_groups(r) && read_epilogue(r);
}

smma_plan *smma_plan_read(const char *origin, const char *text, size_t size, smma_error *error) {
  reader r = {.plan = calloc(1, sizeof *r.plan)};
  bool read = smma_json_read(&r.json, "a plan", origin, text, size, error);
  if (read) read = r.plan ? read_plan(&r) : smma_no_memory(error);
  smma_json_free(&r.json);
  if (read) return r.plan;
  smma_plan_release(r.plan);
  return NULL;
}

const smma_plan_level *smma_plan_scaled_level(const smma_plan *p) {
  for (size_t i = 0; i < p->levels; i++)
    if (p->level[i].with != SMMA_WITH_ADD) return &p->level[i];
  return NULL;
}

bool smma_plan_has(const smma_plan *p, smma_epilogue_kind kind) {
  for (size_t i = 0; i < p->epilogues; i++)
    if (p->epilogue[i].kind == kind) return true;
  return false;
}

bool smma_plan_adds_c(const smma_plan *plan) {
  return smma_plan_has(plan, SMMA_EPILOGUE_LINEAR) || smma_plan_has(plan, SMMA_EPILOGUE_BETA);
}

bool smma_plan_takes_c(const smma_plan *plan) { return plan->starts_from_c || smma_plan_adds_c(plan); }

bool smma_plan_takes_d(smma_format d) {
  for (int row = 0; row < SMMA_FORMAT_COUNT; row++)
    if (smma_format_at(row) == d) return is_floating(d);
  return false;
}

void smma_plan_release(smma_plan *p) {
  if (!p) return;
  free((char *)p->name);
  for (size_t i = 0; i < p->sources; i++) free((char *)p->source[i]);
  for (size_t i = 0; i < p->levels; i++) free((smma_plan_range *)p->level[i].range);
  free(p);
}

/* ---- Writing ---- */

static void put_list(smma_json_writer *w, const smma_plan_level *l) {
  smma_json_put(w, ", \"list\": [");
  for (size_t i = 0; i < l->ranges; i++) {
    const bool first = i == 0 || l->range[i].part != l->range[i - 1].part;
    smma_json_put(w, "%s%s[%zu, %zu]",
                  i == 0  ? ""
                  : first ? "], "
                          : ", ",
                  first ? "[" : "", l->range[i].first, l->range[i].end);
  }
  smma_json_put(w, "]]");
}

static void put_stored(smma_json_writer *w, const char *key, int stored) {
  if (stored == SMMA_STORED_AS_IS) return;
  smma_json_put(w, ", \"%s\": \"%s\"", key, stored == SMMA_STORED_AS_D ? "d" : smma_format_text((smma_format)stored));
}

static void put_level(smma_json_writer *w, const smma_plan_level *l) {
  smma_json_put(w, "    {\"deal\": \"%s\"", deals[l->deal]);
  switch (l->deal) {
    case SMMA_DEAL_CONTIGUOUS: smma_json_put(w, ", \"parts\": %zu, \"grain\": %zu", l->count, l->grain); break;
    case SMMA_DEAL_EVERY: smma_json_put(w, ", \"k\": %zu", l->grain); break;
    case SMMA_DEAL_INTERLEAVED:
      smma_json_put(w, ", \"parts\": %zu, \"tile\": %zu%s%s", l->count, l->grain, l->fits ? ", \"fits\": true" : "",
                    l->whole ? ", \"whole\": true" : "");
      break;
    case SMMA_DEAL_LIST: put_list(w, l); break;
  }
  smma_json_put(w, ", \"fold\": \"%s\"", folds[l->fold]);
  for (size_t i = 0; i < l->strides; i++)
    smma_json_put(w, "%s%zu%s", i ? ", " : ", \"strides\": [", l->stride[i], i + 1 == l->strides ? "]" : "");
  if (l->with != SMMA_WITH_ADD) smma_json_put(w, ", \"with\": \"%s\"", withs[l->with]);
  smma_json_put(w, ", \"from\": \"%s\"", froms[l->from_zero]);
  put_stored(w, "stored", l->stored);
  put_stored(w, "total", l->total);
  smma_json_put(w, "}");
}

static void put_epilogue(smma_json_writer *w, const smma_epilogue *e) {
  if (e->kind < SMMA_EPILOGUE_ROUND)
    smma_json_put(w, "\"%s\"", epilogues[e->kind]);
  else
    smma_json_put(w, "{\"%s\": \"%s\"}", epilogues[e->kind], smma_format_text(e->format));
}

size_t smma_plan_write(const smma_plan *p, char *text, size_t size) {
  smma_json_writer w = {text, size, 0};
  if (size) text[0] = 0;
  smma_json_put(&w, "{\n  \"softmma-plan\": %d,\n  \"name\": \"%s\",\n", VERSION, p->name);
  for (size_t i = 0; i < p->sources; i++)
    smma_json_put(&w, "%s\"%s\"%s", i ? ",\n              " : "  \"sources\": [", p->source[i],
                  i + 1 == p->sources ? "],\n" : "");
  if (p->has_operand_rounding) smma_json_put(&w, "  \"round_in\": \"%s\",\n", smma_roundings[p->operand_rounding]);
  if (p->d != SMMA_NO_FORMAT) smma_json_put(&w, "  \"d\": \"%s\",\n", smma_format_text(p->d));
  smma_json_put(&w, "  \"start\": \"%s\",\n", starts[p->starts_from_c]);
  if (p->lost_tail) smma_json_put(&w, "  \"lost_tail\": %zu,\n", p->lost_tail);
  smma_json_put(&w, "  \"sum\": [%s", p->levels ? "\n" : "");
  for (size_t i = 0; i < p->levels; i++)
    put_level(&w, &p->level[i]), smma_json_put(&w, "%s\n", i + 1 < p->levels ? "," : "");
  smma_json_put(&w, "%s],\n", p->levels ? "  " : "");
  if (p->group) smma_json_put(&w, "  \"group\": %zu,\n", p->group);
  smma_json_put(&w, "  \"residue\": \"%s\"", residues[p->residue]);
  if (p->residue == SMMA_RESIDUE_FIRST_TILE) smma_json_put(&w, ",\n  \"tile\": %zu", p->tile);
  for (size_t i = 0; i < p->epilogues; i++) {
    smma_json_put(&w, "%s", i ? ", " : ",\n  \"epilogue\": [");
    put_epilogue(&w, &p->epilogue[i]);
    if (i + 1 == p->epilogues) smma_json_put(&w, "]");
  }
  smma_json_put(&w, "\n}\n");
  return w.length;
}
