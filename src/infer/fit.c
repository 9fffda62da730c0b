#include "infer/fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/thread.h"
#include "isa/compose.h"

enum { MOST_VALUES = 640, MOST_MODELS = 4096, EVERY_VALUE_OF = 200, MOST_BITS = 64, GLANCE = 48, STRIDE = 7919 };

/* To be tried. */
struct smma_fit_models {
  smma_composition model[MOST_MODELS];
  size_t wrong[MOST_MODELS];
  int count;
};
typedef struct smma_fit_models models;

bool smma_fit_open(const smma_samples *samples, const smma_instruction *i, smma_fit *f) {
  *f = (smma_fit){.samples = samples, .model = smma_custom_of(i)};
  f->model.instruction.name = "inferred";
  f->model.named.rule = (smma_rule){.algorithm = SMMA_COMPOSITION, .nan = SMMA_NAN_QUIET};
  f->models = malloc(sizeof *f->models);
  return f->models && smma_fit_look_at(f, SIZE_MAX);
}

void smma_fit_close(smma_fit *f) {
  free(f->order);
  free(f->models);
  f->order = NULL;
  f->models = NULL;
}

smma_operation smma_fit_operation(const smma_fit *f, const smma_composition *p) {
  const smma_instruction *i = &f->model.instruction;
  smma_operation o = {.a = i->a, .b = i->b, .c = i->c, .d = i->d, .scale = i->scale, .k = i->k};
  o.scale_block = i->scale_block;
  o.rule = f->model.named.rule;
  o.rule.with.composition = *p;
  return o;
}

bool smma_fit_has_model(const smma_fit *f) { return f->model.named.rule.with.composition.steps > 0; }

const smma_composition *smma_fit_composition(const smma_fit *f) { return &f->model.named.rule.with.composition; }

static smma_composition *composition_of(smma_fit *f) { return &f->model.named.rule.with.composition; }

/* ---- Counting ---- */

/* Rows that disagree, if these are fewer than with the model that there is; else SIZE_MAX. Of many that disagree now
   some, in which all kinds of rows are mixed, are asked alone: what mends none of them is given up. */
static size_t count_fewer(const smma_fit *f, const smma_composition *p) {
  const smma_operation o = smma_fit_operation(f, p);
  const size_t glance = f->wrong < GLANCE ? f->wrong : GLANCE;
  size_t wrong = 0;
  for (size_t i = 0; i < f->looked; i++) {
    if (i == glance && wrong == glance) return SIZE_MAX;
    wrong += !smma_sample_agrees(f->samples, &o, f->order[i]);
    if (wrong >= f->wrong) return SIZE_MAX;
  }
  return wrong;
}

size_t smma_fit_count(const smma_fit *f, const smma_composition *p, size_t most) {
  const smma_operation o = smma_fit_operation(f, p);
  size_t wrong = 0;
  for (size_t i = 0; i < f->looked && wrong <= most; i++) wrong += !smma_sample_agrees(f->samples, &o, f->order[i]);
  return wrong;
}

bool smma_fit_is_near(const smma_fit *f, const smma_composition *p, size_t most, size_t *wrong) {
  const smma_operation o = smma_fit_operation(f, p);
  const size_t some = f->looked < GLANCE * 2 ? f->looked : GLANCE * 2;
  size_t among_some = 0;
  for (size_t i = 0; i < some; i++) among_some += !smma_sample_agrees(f->samples, &o, f->order[i]);
  if (among_some * f->looked > 4 * most * some + 2 * f->looked) return false;
  *wrong = smma_fit_count(f, p, most);
  return *wrong <= most;
}

/* Rows that disagree come first, so that models which do not mend them are soon given up. */
static void put_wrong_first(smma_fit *f) {
  const smma_operation o = smma_fit_operation(f, composition_of(f));
  size_t wrong = 0;
  for (size_t i = 0; i < f->looked; i++) {
    const size_t at = f->order[i];
    if (smma_sample_agrees(f->samples, &o, at)) continue;
    f->order[i] = f->order[wrong];
    f->order[wrong++] = at;
  }
  f->wrong = wrong;
}

bool smma_fit_look_at(smma_fit *f, size_t looked) {
  const size_t count = f->samples->count;
  size_t *order = f->capacity < count ? realloc(f->order, count * sizeof *order) : f->order;
  size_t hard, evenly;
  if (count && !order) return false;
  if (f->capacity < count) f->order = order, f->capacity = count;
  f->looked = looked < count ? looked : count;
  hard = f->looked == count ? 0 : f->hards < SMMA_MOST_HARD ? f->hards : SMMA_MOST_HARD;
  if (hard > f->looked / 2) hard = f->looked / 2;
  evenly = f->looked - hard;
  for (size_t i = 0; i < hard; i++) f->order[i] = f->hard[(f->hards - 1 - i) % SMMA_MOST_HARD];
  for (size_t i = 0; i < evenly; i++) f->order[hard + i] = i * STRIDE % evenly * count / evenly;
  if (composition_of(f)->steps) put_wrong_first(f);
  return true;
}

void smma_fit_remember_misfits(smma_fit *f) {
  for (size_t i = 0; i < f->wrong && i < SMMA_MOST_HARD / 8; i++) f->hard[f->hards++ % SMMA_MOST_HARD] = f->order[i];
}

bool smma_fit_allows(const smma_fit *f, const smma_composition *p) {
  smma_custom custom = f->model;
  smma_custom_fault fault;
  custom.named.rule.with.composition = *p;
  return smma_custom_check(&custom, &fault);
}

bool smma_fit_start(smma_fit *f, const smma_composition *p) {
  if (!smma_fit_allows(f, p)) return false;
  *composition_of(f) = *p;
  put_wrong_first(f);
  return true;
}

/* ---- Models to be tried ---- */

/* The best of these, if it is better than what there is; the first of several. */
static bool take_best(smma_fit *f) {
  models *m = f->models;
  size_t *wrong = m->wrong, least = f->wrong;
  int best = -1;
#pragma omp parallel for num_threads(smma_default_threads()) schedule(dynamic, 16) if (m->count >= 64)
  for (int n = 0; n < m->count; n++)
    wrong[n] = smma_fit_allows(f, &m->model[n]) ? count_fewer(f, &m->model[n]) : SIZE_MAX;
  f->tried += (uint64_t)m->count;
  for (int n = 0; n < m->count; n++)
    if (wrong[n] < least) least = wrong[n], best = n;
  if (best < 0) return false;
  *composition_of(f) = m->model[best];
  put_wrong_first(f);
  return true;
}

/* ---- Values ---- */

static int add_value(int *value, int count, const smma_key *key, int now, int x) {
  if (count == MOST_VALUES || x == now || !smma_key_allows(key, x)) return count;
  for (int i = 0; i < count; i++)
    if (value[i] == x) return count;
  value[count] = x;
  return count + 1;
}

static bool is_number(const smma_key *key) { return key->kind == SMMA_KEY_INTEGER; }

static int choices_of(const smma_key *key) {
  int count = 0;
  if (key->kind == SMMA_KEY_FLAG) return 2;
  if (key->kind == SMMA_KEY_FORMAT) return SMMA_FORMAT_COUNT;
  while (key->choices[count]) count++;
  return count;
}

static int add_words(int *value, int count, const smma_key *key, int now) {
  if (key->word) count = add_value(value, count, key, now, key->meaning);
  if (key->other_word) count = add_value(value, count, key, now, key->other_meaning);
  return count;
}

/* Where exponents of these formats begin and end. */
static int anchors_of(const smma_instruction *i, int *anchor) {
  const smma_encoding a = smma_encoding_of(i->a), b = smma_encoding_of(i->b), d = smma_encoding_of(i->d);
  const int products = smma_minimum_exponent(a) + smma_minimum_exponent(b), least = smma_minimum_exponent(d);
  int count = 0;
  anchor[count++] = 0;
  anchor[count++] = products;
  anchor[count++] = products - a.fraction_bits - b.fraction_bits;
  anchor[count++] = least;
  anchor[count++] = least - d.fraction_bits;
  anchor[count++] = (int)(smma_largest_fields(d) >> d.fraction_bits) - d.bias + 1;
  anchor[count++] = -least;
  return count;
}

/* Those worth trying in the place of `now`: all of a few, of many those in steps of powers of two from `now`, or from
   where exponents begin and end. */
static int values_of(const smma_fit *f, const smma_key *key, int now, int *value) {
  const bool few = !is_number(key) || key->most - key->least <= EVERY_VALUE_OF;
  int anchor[8], anchors = anchors_of(&f->model.instruction, anchor), count = 0;
  count = add_words(value, count, key, now);
  if (!is_number(key))
    for (int x = 0; x < choices_of(key); x++) count = add_value(value, count, key, now, x);
  else if (few)
    for (int x = key->least; x <= key->most && x <= MOST_BITS; x++) count = add_value(value, count, key, now, x);
  if (few) return count;
  for (int step = 1; step <= 512; step *= 2) {
    count = add_value(value, count, key, now, now - step);
    count = add_value(value, count, key, now, now + step);
  }
  for (int n = 0; n < anchors; n++)
    for (int step = -12; step <= 12; step++) count = add_value(value, count, key, now, anchor[n] + step);
  return count;
}

/* ---- Moves ---- */

/* The key of accumulators for one of terms; NULL if it has none. */
static const smma_key *accumulators_key(const smma_key *key) {
  char name[64];
  if (key->member < offsetof(smma_step, term) || key->member >= offsetof(smma_step, accumulator)) return NULL;
  snprintf(name, sizeof name, "accumulator_%s", key->key);
  return smma_find_step_key(name, strlen(name));
}

static bool is_of_accumulator(const smma_key *key) {
  return key->member >= offsetof(smma_step, accumulator) &&
         key->member < offsetof(smma_step, accumulator) + sizeof(smma_cut);
}

/* Sets a key of a step; of terms that of the accumulator, too, where there is none, or `both`. */
static void set(smma_step *s, const smma_key *key, int value, bool both) {
  const smma_key *other = accumulators_key(key);
  smma_set_key_of_step(s, key, value);
  if (other && (both || s->join != SMMA_JOIN_CHAIN)) smma_set_key_of_step(s, other, value);
}

static void propose(smma_fit *f, const smma_composition *p) {
  models *m = f->models;
  if (m->count < MOST_MODELS) m->model[m->count++] = *p;
}

/* Whether a key cannot matter because of others: of how terms are cut that are not, of a width that there is not. */
static bool is_idle(const smma_step *s, const smma_key *key) {
  static const size_t of_narrow[] = {offsetof(smma_step, narrow_rounding), offsetof(smma_step, narrow_subnormals)};
  const bool of_accumulator = is_of_accumulator(key);
  const smma_cut *cut = of_accumulator ? &s->accumulator : &s->term;
  if (of_accumulator && s->join != SMMA_JOIN_CHAIN) return true;
  if (key->member == of_narrow[0] || key->member == of_narrow[1]) return s->narrow_bits == SMMA_NONE;
  if (key->member == offsetof(smma_step, width_overflow)) return s->width == SMMA_NONE;
  if (key->member == offsetof(smma_step, early_underflow)) return s->subnormal_outputs == SMMA_SUBNORMALS_KEPT;
  if (!of_accumulator && !accumulators_key(key)) return false;
  if (strstr(key->key, "alignment_bits") || strstr(key->key, "drop")) return false;
  if (strstr(key->key, "alignment_rounding")) return cut->bits == SMMA_EXACT_ALIGNMENT;
  return s->term.bits == SMMA_EXACT_ALIGNMENT && s->accumulator.bits == SMMA_EXACT_ALIGNMENT &&
         s->term.drop == SMMA_NONE && s->accumulator.drop == SMMA_NONE;
}

/* A key of one step. */
static bool move_one(smma_fit *f, int step, const smma_key *key) {
  const smma_composition p = *composition_of(f);
  const int now = smma_key_of_step(&p.step[step], key);
  int value[MOST_VALUES];
  const int count = values_of(f, key, now, value);
  const bool chain = p.step[step].join == SMMA_JOIN_CHAIN;
  if (is_idle(&p.step[step], key)) return false;
  f->models->count = 0;
  for (int n = 0; n < count; n++)
    for (int both = 0; both <= (chain && accumulators_key(key)); both++) {
      smma_composition other = p;
      set(&other.step[step], key, value[n], both);
      propose(f, &other);
    }
  return take_best(f);
}

/* A key of all steps, which gets one value; or one step of powers of two further in each. */
static bool move_all(smma_fit *f, const smma_key *key) {
  const smma_composition p = *composition_of(f);
  int value[MOST_VALUES];
  const int count = values_of(f, key, smma_key_of_step(&p.step[0], key), value);
  if (is_of_accumulator(key) || p.steps == 1) return false;
  f->models->count = 0;
  for (int n = 0; n < count; n++) {
    smma_composition other = p;
    for (int step = 0; step < p.steps; step++) set(&other.step[step], key, value[n], true);
    propose(f, &other);
  }
  return take_best(f);
}

/* Two keys of one step: values of the first near what it is, or words, and all of the other. */
static bool move_two(smma_fit *f, int step, const char *one, const char *other) {
  const smma_key *key[2] = {smma_find_step_key(one, strlen(one)), smma_find_step_key(other, strlen(other))};
  const smma_composition p = *composition_of(f);
  int value[2][MOST_VALUES], count[2];
  const bool chain = p.step[step].join == SMMA_JOIN_CHAIN;
  for (int n = 0; n < 2; n++) {
    const int now = smma_key_of_step(&p.step[step], key[n]);
    if (is_of_accumulator(key[n]) && !chain) return false;
    count[n] = n ? values_of(f, key[n], now, value[n]) : 0;
    for (int near = -4; !n && is_number(key[n]) && near <= 4; near++)
      count[n] = add_value(value[n], count[n], key[n], now, now + near);
    if (!n && !is_number(key[n])) count[n] = values_of(f, key[n], now, value[n]);
    if (!n) count[n] = add_words(value[n], count[n], key[n], now);
  }
  f->models->count = 0;
  for (int x = 0; x < count[0]; x++)
    for (int y = 0; y < count[1]; y++)
      for (int both = 0; both <= chain; both++) {
        smma_composition next = p;
        set(&next.step[step], key[0], value[0][x], both);
        set(&next.step[step], key[1], value[1][y], both);
        propose(f, &next);
      }
  return take_best(f);
}

/* A key of the whole composition, and flushes of all operands together. */
static bool move_whole(smma_fit *f, const smma_key *key) {
  int value[MOST_VALUES];
  smma_custom custom = f->model;
  const int count = values_of(f, key, smma_custom_get(&custom, key), value);
  f->models->count = 0;
  for (int n = 0; n < count; n++) {
    smma_custom_set(&custom, key, value[n]);
    propose(f, &custom.named.rule.with.composition);
  }
  return take_best(f);
}

static bool move_flushes(smma_fit *f) {
  f->models->count = 0;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++)
      for (int c = 0; c < 3; c++) {
        smma_composition p = *composition_of(f);
        p.subnormal_a = (smma_subnormal_policy)a;
        p.subnormal_b = (smma_subnormal_policy)b;
        p.subnormal_c = (smma_subnormal_policy)c;
        propose(f, &p);
      }
  return take_best(f);
}

/* Of a step, but for its place in the sum, which is the shape's. */
static const smma_key *next_movable_key(const smma_key *key) {
  while ((key = smma_next_step_key(key)) && key->member < offsetof(smma_step, reference)) continue;
  return key;
}

/* Of the composition itself, without operands, scale factors and NaN. */
static const smma_key *next_whole_key(const smma_key *key) {
  while ((key = smma_next_key(SMMA_COMPOSITION, key)))
    if (key->of_rule && strcmp(key->key, "nan") != 0) break;
  return key;
}

static bool has_stopped(smma_fit_watch watch) { return watch.stop && watch.stop(watch.context); }

/* Keys that few units need are tried where the others do not mend anything. */
static bool is_rare(const smma_key *key) {
  static const size_t rare[] = {offsetof(smma_step, term.offset),
                                offsetof(smma_step, accumulator.offset),
                                offsetof(smma_step, term.least),
                                offsetof(smma_step, accumulator.least),
                                offsetof(smma_step, term.drop),
                                offsetof(smma_step, accumulator.drop),
                                offsetof(smma_step, width),
                                offsetof(smma_step, width_overflow),
                                offsetof(smma_step, narrow_subnormals),
                                offsetof(smma_step, output),
                                offsetof(smma_step, early_underflow)};
  for (size_t n = 0; n < sizeof rare / sizeof rare[0]; n++)
    if (key->member == rare[n]) return true;
  return false;
}

/* Of the steps, the last one first; and, with the rare ones, of the whole. */
static bool sweep_single(smma_fit *f, bool rare, smma_fit_watch watch) {
  bool better = false;
  for (int step = composition_of(f)->steps - 1; step >= 0; step--)
    for (const smma_key *key = NULL; f->wrong && (key = next_movable_key(key)) && !has_stopped(watch);)
      if (is_rare(key) == rare) better |= move_one(f, step, key);
  for (const smma_key *key = NULL; rare && f->wrong && (key = next_whole_key(key)) && !has_stopped(watch);)
    better |= move_whole(f, key);
  return better;
}

/* Of all steps, and flushes. */
static bool sweep_all(smma_fit *f, smma_fit_watch watch) {
  bool better = move_flushes(f);
  for (const smma_key *key = NULL; f->wrong && (key = next_movable_key(key)) && !has_stopped(watch);)
    better |= move_all(f, key);
  return better;
}

static bool sweep_together(smma_fit *f, smma_fit_watch watch) {
  static const char *const pairs[][2] = {{"alignment_rounding", "alignment_bits"},
                                         {"accumulator_alignment_rounding", "accumulator_alignment_bits"},
                                         {"narrow_rounding", "narrow_bits"},
                                         {"rounding", "narrow_bits"},
                                         {"rounding", "alignment_bits"},
                                         {"reference", "alignment_bits"},
                                         {"width_overflow", "width"},
                                         {"exponent", "zero_exponent"},
                                         {"exponent", "alignment_bits"},
                                         {"accumulator_exponent", "accumulator_zero_exponent"},
                                         {"accumulator_exponent", "accumulator_alignment_bits"},
                                         {"accumulator_alignment_bits", "alignment_bits"},
                                         {"narrow_bits", "alignment_bits"},
                                         {"early_underflow", "subnormal_outputs"},
                                         {"opposing", "alignment_bits"},
                                         {"opposing", "rounding"},
                                         {"drop", "alignment_bits"},
                                         {"output", "rounding"}};
  enum { PAIRS = sizeof pairs / sizeof pairs[0] };
  bool better = sweep_all(f, watch);
  for (int step = composition_of(f)->steps - 1; step >= 0; step--)
    for (int n = 0; n < PAIRS && f->wrong && !has_stopped(watch); n++)
      better |= move_two(f, step, pairs[n][0], pairs[n][1]);
  return better;
}

/* ---- At random ---- */

enum { ROUNDS_AT_RANDOM = 8, MOST_TOGETHER = 4 };

/* SplitMix64. */
static uint64_t draw(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static int below(uint64_t *state, int bound) { return (int)(draw(state) % (unsigned)bound); }

/* A word, a value near the one that there is, near another step's or the fraction bits of d, or any. */
static int random_value(const smma_fit *f, const smma_composition *p, const smma_key *key, int now, uint64_t *state) {
  int value[MOST_VALUES], words = add_words(value, 0, key, now);
  const int fraction_bits = smma_encoding_of(f->model.instruction.d).fraction_bits;
  if (!is_number(key)) return below(state, choices_of(key));
  if (words && below(state, 4) == 0) return value[below(state, words)];
  switch (below(state, 4)) {
    case 0: return smma_key_of_step(&p->step[below(state, p->steps)], key) + below(state, 3) - 1;
    case 1: return now + below(state, 9) - 4;
    case 2: return fraction_bits + below(state, 12) - 1;
    default: return value[below(state, values_of(f, key, now, value))];
  }
}

static const smma_key *random_step_key(uint64_t *state) {
  const smma_key *key = next_movable_key(NULL);
  static int count;
  if (!count)
    for (const smma_key *k = NULL; (k = next_movable_key(k));) count++;
  for (int n = below(state, count); n > 0; n--) key = next_movable_key(key);
  return key;
}

/* Two to four keys at once, most of them of one step. */
static void propose_at_random(smma_fit *f, uint64_t *state) {
  smma_composition p = *composition_of(f);
  int step = below(state, p.steps);
  for (int n = 2 + below(state, MOST_TOGETHER - 1); n > 0; n--) {
    const smma_key *key = random_step_key(state);
    int value;
    if (below(state, 4) == 0) step = below(state, p.steps);
    if (is_idle(&p.step[step], key)) continue;
    value = random_value(f, &p, key, smma_key_of_step(&p.step[step], key), state);
    if (smma_key_allows(key, value)) set(&p.step[step], key, value, below(state, 2) == 0);
  }
  propose(f, &p);
}

static bool move_at_random(smma_fit *f, smma_fit_watch watch) {
  uint64_t state = f->wrong;
  for (int round = 0; round < ROUNDS_AT_RANDOM && !has_stopped(watch); round++) {
    f->models->count = 0;
    while (f->models->count < MOST_MODELS) propose_at_random(f, &state);
    if (take_best(f)) return true;
  }
  return false;
}

static bool is_near(const smma_fit *f) { return f->wrong && f->wrong * 8 < f->looked; }

bool smma_fit_sweep(smma_fit *f, smma_fit_watch watch) {
  const bool better = sweep_all(f, watch);
  return sweep_single(f, false, watch) || better;
}

void smma_fit_descend(smma_fit *f, smma_fit_watch watch) {
  do {
    do {
      while (f->wrong && sweep_single(f, false, watch)) continue;
    } while (f->wrong && sweep_single(f, true, watch));
  } while (f->wrong && !has_stopped(watch) && sweep_together(f, watch));
}

/* ---- Out of models whose odd values make up for one another ---- */

static int value_where_not_given(const smma_step *s, const smma_key *key, int nodes) {
  if (key->member == offsetof(smma_step, window)) return nodes;
  if (key->like) return smma_key_of_step(s, smma_find_step_key(key->like, strlen(key->like)));
  return key->otherwise;
}

/* Half of the keys whose values would be written get those that are not. */
static bool forget_at_random(smma_fit *f, uint64_t *state) {
  smma_composition p = *composition_of(f);
  for (int step = 0; step < p.steps; step++) {
    const int nodes = smma_composition_nodes(&p, f->model.instruction.k, step);
    for (const smma_key *key = NULL; (key = next_movable_key(key));) {
      const int value = value_where_not_given(&p.step[step], key, nodes);
      if (value != SMMA_KEY_REQUIRED && below(state, 2)) set(&p.step[step], key, value, false);
    }
  }
  return smma_fit_start(f, &p);
}

void smma_fit_improve(smma_fit *f, smma_fit_watch watch) {
  uint64_t state = f->looked;
  do {
    smma_fit_descend(f, watch);
  } while (is_near(f) && !has_stopped(watch) && move_at_random(f, watch));
  for (int round = 0; round < ROUNDS_AT_RANDOM && is_near(f) && !has_stopped(watch); round++) {
    const smma_composition model = *composition_of(f);
    const size_t wrong = f->wrong;
    if (forget_at_random(f, &state)) smma_fit_descend(f, watch);
    if (f->wrong > wrong) smma_fit_start(f, &model);
  }
}

/* ---- The simplest of those that agree as well ---- */

static bool agrees_as_well(const smma_fit *f, const smma_composition *p) {
  return smma_fit_allows(f, p) && smma_fit_count(f, p, f->wrong) <= f->wrong;
}

static void fold_offsets(smma_fit *f, int step) {
  smma_composition p = *composition_of(f);
  smma_step *s = &p.step[step];
  const int offset = s->term.offset;
  if (offset == 0 || s->accumulator.offset != offset) return;
  s->term.offset = s->accumulator.offset = 0;
  if (s->term.bits != SMMA_EXACT_ALIGNMENT) s->term.bits -= offset;
  if (s->accumulator.bits != SMMA_EXACT_ALIGNMENT) s->accumulator.bits -= offset;
  if (agrees_as_well(f, &p)) *composition_of(f) = p;
}

/* Whether a key got the value that is not written. */
static bool simplify_step(smma_fit *f, int step) {
  bool changed = false;
  const int nodes = smma_composition_nodes(composition_of(f), f->model.instruction.k, step);
  for (const smma_key *key = NULL; (key = smma_next_step_key(key));) {
    smma_composition p = *composition_of(f);
    const int value = value_where_not_given(&p.step[step], key, nodes);
    if (value == SMMA_KEY_REQUIRED || value == smma_key_of_step(&p.step[step], key)) continue;
    set(&p.step[step], key, value, false);
    if (!agrees_as_well(f, &p)) continue;
    *composition_of(f) = p;
    changed = true;
  }
  return changed;
}

void smma_fit_simplify(smma_fit *f) {
  for (const smma_key *key = NULL; (key = next_whole_key(key));) {
    const smma_composition p = smma_fit_with(f, -1, key, key->otherwise);
    if (agrees_as_well(f, &p)) *composition_of(f) = p;
  }
  for (int step = 0; step < composition_of(f)->steps; step++) {
    fold_offsets(f, step);
    while (simplify_step(f, step)) continue; /* what mattered to another key may not any more */
  }
  put_wrong_first(f);
}

/* ---- Neighbours ---- */

const smma_key *smma_fit_next_key(const smma_fit *f, int step, const smma_key *key) {
  const smma_composition *p = smma_fit_composition(f);
  if (step < 0) {
    while ((key = next_whole_key(key)) && key->member == offsetof(smma_rule, with.composition.limit_joins) &&
           p->product_limit == SMMA_NONE)
      continue;
    return key;
  }
  while ((key = smma_next_step_key(key)) && is_idle(&p->step[step], key)) continue;
  return key;
}

int smma_fit_value(const smma_fit *f, int step, const smma_key *key) {
  return step < 0 ? smma_custom_get(&f->model, key)
                  : smma_key_of_step(&f->model.named.rule.with.composition.step[step], key);
}

smma_composition smma_fit_with(const smma_fit *f, int step, const smma_key *key, int value) {
  smma_custom custom = f->model;
  if (step < 0)
    smma_custom_set(&custom, key, value);
  else
    set(&custom.named.rule.with.composition.step[step], key, value, false);
  return custom.named.rule.with.composition;
}

static bool is_possible(const smma_fit *f, int step, const smma_key *key, int value) {
  const smma_composition p = smma_fit_with(f, step, key, value);
  return smma_key_allows(key, value) && smma_fit_allows(f, &p);
}

static bool is_word(const smma_key *key, int value) {
  return (key->word && value == key->meaning) || (key->other_word && value == key->other_meaning);
}

/* The next number in a direction. */
static int next_number(const smma_fit *f, int step, const smma_key *key, int now, int direction) {
  for (int x = now + direction; x >= key->least && x <= key->most && x != now + 64 * direction; x += direction)
    if (is_possible(f, step, key, x)) return x;
  return now;
}

/* Numbers that stand for all that a word may stand against. */
static int numbers_beside_word(const smma_fit *f, const smma_key *key, int now, int *value, int count) {
  static const int beyond[] = {0, 1, 2, 4, 8, 16, 24};
  const int fraction_bits = smma_encoding_of(f->model.instruction.d).fraction_bits;
  int anchor[8];
  const int anchors = anchors_of(&f->model.instruction, anchor);
  if (key->most - key->least > EVERY_VALUE_OF)
    for (int n = 0; n < anchors; n++) count = add_value(value, count, key, now, anchor[n]);
  else
    for (int n = 0; n < 7; n++) count = add_value(value, count, key, now, fraction_bits + beyond[n]);
  return count;
}

int smma_fit_neighbours(const smma_fit *f, int step, const smma_key *key, int neighbour[SMMA_MOST_NEIGHBOURS]) {
  const int now = smma_fit_value(f, step, key);
  int value[MOST_VALUES], count = 0, kept = 0;
  if (!is_number(key)) {
    for (int x = 0; x < choices_of(key); x++) count = add_value(value, count, key, now, x);
  } else if (is_word(key, now)) {
    count = numbers_beside_word(f, key, now, value, count);
  } else {
    count = add_value(value, count, key, now, next_number(f, step, key, now, -1));
    count = add_value(value, count, key, now, next_number(f, step, key, now, 1));
  }
  count = add_words(value, count, key, now);
  for (int n = 0; n < count && kept < SMMA_MOST_NEIGHBOURS; n++)
    if (is_possible(f, step, key, value[n])) neighbour[kept++] = value[n];
  return kept;
}
