#include <stdio.h>
#include <stdlib.h>

#include "equal/equal.h"
#include "infer/parameter.h"
#include "isa/custom.h"
#include "rule_mutants.h"

const char *const smma_mutant_class_names[SMMA_MUTANT_CLASSES] = {"parameters", "lanes", "alignment", "carries",
                                                                  "sticky"};

static smma_mutant *add(smma_mutants *to, smma_mutant_class of) {
  if (to->count == to->capacity) {
    to->capacity = 2 * to->capacity + 64;
    to->list = realloc(to->list, to->capacity * sizeof *to->list);
    if (!to->list) exit(2);
  }
  to->list[to->count] = (smma_mutant){.of = of};
  return &to->list[to->count++];
}

/* ---- Parameters ---- */

static bool is_word(const smma_key *key, int value) {
  return (key->word && value == key->meaning) || (key->other_word && value == key->other_meaning);
}

/* Reports whether another key has already led to the same changed instruction. */
static bool is_there(const smma_mutants *of, const smma_instruction *made) {
  for (size_t n = 0; n < of->count; n++) {
    int multiple;
    if (of->list[n].made && smma_prove_equal(of->list[n].made, made, &multiple) && multiple == 1) return true;
  }
  return false;
}

/* Adds the mutant with one changed parameter. Returns false if no valid unit has this value. */
static bool add_parameter(smma_mutants *to, const smma_change *x) {
  const smma_instruction *made;
  smma_custom custom;
  smma_mutant *m;
  if (!smma_changed_custom(to->instruction, x, 1, &custom)) return false;
  made = smma_custom_make(&custom);
  if (!made) return false;
  if (is_there(to, made)) {
    smma_custom_release(made);
    return true;
  }
  m = add(to, SMMA_MUTANT_PARAMETER);
  m->change = *x;
  m->made = made;
  m->changed.operation = smma_operation_of(made);
  return true;
}

/* Adds mutants of one key from its `count` other values, nearest first. For a number these are the nearest values on
   both sides, without words such as "none"; for a choice all values. */
static void add_steps_of(smma_mutants *to, const smma_change *x, size_t count) {
  const smma_key *key = x->key;
  bool below = false, above = false;
  if (!smma_parameter_is_number(key)) {
    for (size_t n = 0; n < count; n++) add_parameter(to, &x[n]);
    return;
  }
  if (is_word(key, x->was)) return;
  for (size_t n = 0; n < count; n++) {
    bool *side = x[n].value < x->was ? &below : &above;
    if (!*side && !is_word(key, x[n].value)) *side = add_parameter(to, &x[n]);
  }
}

static bool same_key(const smma_change *x, const smma_change *y) {
  return x->sort == y->sort && x->step == y->step && x->key == y->key;
}

/* Adds mutants of the rule's parameters, or of the parameters of all steps if the rule is a composition. */
static void add_parameters(smma_mutants *to, const smma_change *x, size_t count) {
  const bool composed = to->operation.rule.algorithm == SMMA_COMPOSITION;
  for (size_t n = 0, end; n < count; n = end) {
    for (end = n + 1; end < count && same_key(&x[n], &x[end]);) end++;
    if (x[n].sort == (composed ? SMMA_CHANGED_STEP : SMMA_CHANGED_RULE)) add_steps_of(to, &x[n], end - n);
  }
}

/* ---- Lanes ---- */

static bool is_lane(const smma_change *x, size_t n, size_t count) {
  if (x[n].sort != SMMA_CHANGED_NUMBER) return false;
  return x[n].place >= 0 || n + 1 == count || x[n + 1].sort != SMMA_CHANGED_NUMBER || x[n + 1].place < 0;
}

static void add_lanes(smma_mutants *to, const smma_change *x, size_t count, size_t most) {
  size_t all = 0, seen = 0, taken = 0;
  for (size_t n = 0; n < count; n++) all += is_lane(x, n, count);
  for (size_t n = 0; n < count; n++) {
    smma_mutant *m;
    if (!is_lane(x, n, count) || taken == most || seen++ < taken * all / most) continue;
    m = add(to, SMMA_MUTANT_LANE);
    m->change = x[n];
    if (smma_changed_make(to->instruction, &x[n], 1, &m->changed))
      taken++;
    else
      to->count--;
  }
}

/* ---- Events ---- */

/* The events at which mutants fail: those of the first step's terms, which are products, and those of the last step's
   sums. */
static const struct {
  smma_mutant_class of;
  smma_event_kind kind;
  smma_event_owner owner;
} faults[] = {{SMMA_MUTANT_ALIGNMENT, SMMA_EVENT_GAP, SMMA_OWNER_TERMS},
              {SMMA_MUTANT_CARRY, SMMA_EVENT_SHIFT, SMMA_OWNER_SUMS},
              {SMMA_MUTANT_STICKY, SMMA_EVENT_ROUND, SMMA_OWNER_SUMS}};

static void add_events(smma_mutants *to, size_t fault, size_t most) {
  const smma_event_space *space = &to->space;
  const int step = faults[fault].owner == SMMA_OWNER_TERMS ? 0 : space->operation.rule.with.composition.steps - 1;
  const int at = space->of[faults[fault].kind][step][faults[fault].owner - SMMA_OWNER_TERMS];
  const smma_event_block *block = at < 0 ? NULL : &space->block[at];
  const size_t events = block ? (size_t)block->places * (size_t)block->values : 0;
  size_t all = 0, seen = 0, taken = 0;
  for (size_t e = 0; e < events; e++) all += !smma_event_excluded(space, block->first + e);
  for (size_t e = 0; e < events && taken < most; e++) {
    if (smma_event_excluded(space, block->first + e) || seen++ < taken * all / most) continue;
    add(to, faults[fault].of)->event = block->first + e;
    taken++;
  }
}

/* ---- All of them ---- */

bool smma_mutants_make(const smma_instruction *i, size_t of_each, smma_mutants *mutants) {
  size_t count;
  smma_change *changes = smma_changes_of(i, &count);
  *mutants = (smma_mutants){.instruction = i, .operation = smma_operation_of(i)};
  if (!changes) return false;
  mutants->has_events = smma_event_space_make(i, &mutants->space);
  add_parameters(mutants, changes, count);
  add_lanes(mutants, changes, count, of_each);
  for (size_t f = 0; mutants->has_events && f < sizeof faults / sizeof faults[0]; f++) add_events(mutants, f, of_each);
  free(changes);
  return true;
}

void smma_mutants_free(smma_mutants *m) {
  for (size_t n = 0; n < m->count; n++)
    if (m->list[n].made) smma_custom_release(m->list[n].made);
  free(m->list);
}

typedef struct {
  size_t event;
  bool happened;
} seen;

static void see(void *context, size_t event) {
  seen *s = context;
  s->happened = s->happened || event == s->event;
}

/* Returns a finite result with a wrong last bit or a wrong exponent. */
static uint64_t spoiled(smma_mutant_class of, smma_format format, uint64_t d) {
  const smma_encoding f = smma_encoding_of(format);
  const uint64_t last = UINT64_C(1) << f.ignored_bits, binade = last << f.fraction_bits;
  if (smma_decode(f, d).kind > SMMA_FINITE) return d;
  return of == SMMA_MUTANT_STICKY || !f.exponent_bits || !(d & (binade * ((UINT64_C(1) << f.exponent_bits) - 1)))
             ? d ^ last
             : d - binade;
}

uint64_t smma_mutant_row(const smma_mutants *of, const smma_mutant *m, const smma_row *row) {
  seen s = {.event = m->event};
  uint64_t d;
  if (m->of == SMMA_MUTANT_PARAMETER || m->of == SMMA_MUTANT_LANE) return smma_changed_row(&m->changed, row);
  d = smma_watch_row(&of->space, row, &(smma_event_watcher){see, &s});
  if (!s.happened) return d;
  if (m->of == SMMA_MUTANT_ALIGNMENT) {
    const int k = smma_event_at(&of->space, m->event).place;
    smma_row without = *row;
    without.a[k] = without.b[k] = 0;
    return smma_row_compute(&of->operation, &without);
  }
  return spoiled(m->of, of->instruction->d, d);
}

const char *smma_mutant_words(const smma_mutants *of, const smma_mutant *m, char *text, size_t size) {
  static const char *const wrong[SMMA_MUTANT_CLASSES] = {[SMMA_MUTANT_ALIGNMENT] = "the product is lost where ",
                                                         [SMMA_MUTANT_CARRY] = "the result is halved where ",
                                                         [SMMA_MUTANT_STICKY] = "the last bit is wrong where "};
  char event[200];
  if (m->of == SMMA_MUTANT_PARAMETER || m->of == SMMA_MUTANT_LANE) return smma_change_words(&m->change, text, size);
  snprintf(text, size, "%s%s", wrong[m->of], smma_event_words(&of->space, m->event, event, sizeof event));
  return text;
}
