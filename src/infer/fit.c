#include "infer/fit.h"

#include <stdlib.h>

#include "host/thread.h"
#include "infer/moves.h"
#include "infer/parameter.h"
#include "isa/compose.h"
#include "unit/unit.h"

/* Number of mismatches of the current model on which another model is tried before it is abandoned. */
enum { GLANCE = 48 };

/* A prime: evenly spread samples are selected in an order that takes every STRIDE-th of them, unless their number is a
   multiple of STRIDE, because then this order would take some samples repeatedly and leave out the others. */
enum { STRIDE = 7919 };

/* The models proposed since smma_fit_clear. */
struct smma_fit_models {
  smma_composition model[SMMA_MOST_MODELS];
  size_t wrong[SMMA_MOST_MODELS];
  int count;
  uint64_t computed; /* vectors computed by all models */
};

bool smma_fit_open(const smma_samples *samples, const smma_instruction *i, smma_fit *f) {
  *f = (smma_fit){.samples = samples, .model = smma_custom_of(i)};
  f->model.instruction.name = "inferred";
  f->model.named.rule = (smma_rule){.algorithm = SMMA_COMPOSITION, .nan = SMMA_NAN_QUIET};
  f->models = malloc(sizeof *f->models);
  if (f->models) f->models->computed = 0;
  return f->models && smma_fit_select(f, SIZE_MAX);
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

uint64_t smma_fit_computed(const smma_fit *f) { return f->models ? f->models->computed : 0; }

/* Adds to the counter of vectors, which several threads share. */
static void note_computed(const smma_fit *f, size_t count) {
#pragma omp atomic
  f->models->computed += count;
}

/* Returns the number of selected samples with which `p` disagrees, or SIZE_MAX if it is not smaller than the current
   model's number. The current model's mismatches come first in f->order. If `p` disagrees with the first GLANCE of
   them, too, returns SIZE_MAX at once. */
static size_t count_fewer(const smma_fit *f, const smma_composition *p) {
  const smma_operation o = smma_fit_operation(f, p);
  const size_t glance = f->wrong < GLANCE ? f->wrong : GLANCE;
  size_t wrong = 0, i = 0;
  for (; i < f->selected && wrong < f->wrong && !(i == glance && wrong == glance); i++)
    wrong += !smma_sample_agrees(f->samples, &o, f->order[i]);
  note_computed(f, i);
  return i < f->selected || wrong >= f->wrong ? SIZE_MAX : wrong;
}

size_t smma_fit_count(const smma_fit *f, const smma_composition *p, size_t most) {
  const smma_operation o = smma_fit_operation(f, p);
  size_t wrong = 0, i = 0;
  for (; i < f->selected && wrong <= most; i++) wrong += !smma_sample_agrees(f->samples, &o, f->order[i]);
  note_computed(f, i);
  return wrong;
}

bool smma_fit_has_at_most(const smma_fit *f, const smma_composition *p, size_t most, size_t *wrong) {
  const smma_operation o = smma_fit_operation(f, p);
  const size_t some = f->selected < GLANCE * 2 ? f->selected : GLANCE * 2;
  size_t among_some = 0;
  for (size_t i = 0; i < some; i++) among_some += !smma_sample_agrees(f->samples, &o, f->order[i]);
  note_computed(f, some);
  if (among_some * f->selected > 4 * most * some + 2 * f->selected) return false;
  *wrong = smma_fit_count(f, p, most);
  return *wrong <= most;
}

/* Counts the model's mismatches and puts them first in f->order, so that models which do not correct them are abandoned
   early. */
static void put_wrong_first(smma_fit *f) {
  const smma_operation o = smma_fit_operation(f, smma_fit_composition(f));
  size_t wrong = 0;
  for (size_t i = 0; i < f->selected; i++) {
    const size_t at = f->order[i];
    if (smma_sample_agrees(f->samples, &o, at)) continue;
    f->order[i] = f->order[wrong];
    f->order[wrong++] = at;
  }
  note_computed(f, f->selected);
  f->wrong = wrong;
}

bool smma_fit_select(smma_fit *f, size_t count) {
  const size_t samples = f->samples->count;
  size_t *order = f->capacity < samples ? realloc(f->order, samples * sizeof *order) : f->order;
  size_t hard, evenly, stride;
  if (samples && !order) return false;
  if (f->capacity < samples) f->order = order, f->capacity = samples;
  f->selected = count < samples ? count : samples;
  hard = f->selected == samples ? 0 : f->hards < SMMA_MOST_HARD ? f->hards : SMMA_MOST_HARD;
  if (hard > f->selected / 2) hard = f->selected / 2;
  evenly = f->selected - hard;
  stride = evenly % STRIDE ? STRIDE : 1;
  for (size_t i = 0; i < hard; i++) f->order[i] = f->hard[(f->hards - 1 - i) % SMMA_MOST_HARD];
  for (size_t i = 0; i < evenly; i++) f->order[hard + i] = i * stride % evenly * samples / evenly;
  if (smma_fit_composition(f)->steps) put_wrong_first(f);
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

/* ---- Changing one value ---- */

int smma_fit_value(const smma_fit *f, int step, const smma_key *key) {
  return step < 0 ? smma_custom_get(&f->model, key)
                  : smma_key_of_step(&f->model.named.rule.with.composition.step[step], key);
}

smma_composition smma_fit_with(const smma_fit *f, int step, const smma_key *key, int value) {
  smma_custom custom = f->model;
  if (step < 0)
    smma_custom_set(&custom, key, value);
  else
    smma_parameter_set(&custom.named.rule.with.composition.step[step], key, value, false);
  return custom.named.rule.with.composition;
}

/* ---- Models to try ---- */

void smma_fit_clear(smma_fit *f) { f->models->count = 0; }

bool smma_fit_has_room(const smma_fit *f) { return f->models->count < SMMA_MOST_MODELS; }

void smma_fit_propose(smma_fit *f, const smma_composition *p) {
  if (smma_fit_has_room(f)) f->models->model[f->models->count++] = *p;
}

bool smma_fit_take_best(smma_fit *f) {
  struct smma_fit_models *m = f->models;
  size_t *wrong = m->wrong, least = f->wrong;
  int best = -1;
#pragma omp parallel for num_threads(smma_default_threads()) schedule(dynamic, 16) if (m->count >= 64)
  for (int n = 0; n < m->count; n++)
    wrong[n] = !smma_units_stopped() && smma_fit_allows(f, &m->model[n]) ? count_fewer(f, &m->model[n]) : SIZE_MAX;
  f->tries += (uint64_t)m->count;
  for (int n = 0; n < m->count; n++)
    if (wrong[n] < least) least = wrong[n], best = n;
  if (best < 0) return false;
  *composition_of(f) = m->model[best];
  put_wrong_first(f);
  return true;
}

/* ---- Simplifying without losing agreement ---- */

static bool agrees_as_well(const smma_fit *f, const smma_composition *p) {
  return smma_fit_allows(f, p) && smma_fit_count(f, p, f->wrong) <= f->wrong;
}

static void fold_offsets(smma_fit *f, int step) {
  smma_composition p = *smma_fit_composition(f);
  smma_step *s = &p.step[step];
  const int offset = s->term.offset;
  if (offset == 0 || s->accumulator.offset != offset) return;
  s->term.offset = s->accumulator.offset = 0;
  if (s->term.bits != SMMA_EXACT_ALIGNMENT) s->term.bits -= offset;
  if (s->accumulator.bits != SMMA_EXACT_ALIGNMENT) s->accumulator.bits -= offset;
  if (agrees_as_well(f, &p)) *composition_of(f) = p;
}

/* Sets each key of a step to its default if the model then disagrees with no more samples. Returns whether it changed a
   key. */
static bool simplify_step(smma_fit *f, int step) {
  bool changed = false;
  const int nodes = smma_composition_nodes(smma_fit_composition(f), f->model.instruction.k, step);
  for (const smma_key *key = NULL; (key = smma_next_step_key(key));) {
    smma_composition p = *smma_fit_composition(f);
    const int value = smma_parameter_otherwise(&p.step[step], key, nodes);
    if (value == SMMA_KEY_REQUIRED || value == smma_key_of_step(&p.step[step], key)) continue;
    smma_parameter_set(&p.step[step], key, value, false);
    if (!agrees_as_well(f, &p)) continue;
    *composition_of(f) = p;
    changed = true;
  }
  return changed;
}

void smma_fit_simplify(smma_fit *f) {
  for (const smma_key *key = NULL; (key = smma_parameter_next_of_whole(key));) {
    const smma_composition p = smma_fit_with(f, -1, key, key->otherwise);
    if (agrees_as_well(f, &p)) *composition_of(f) = p;
  }
  for (int step = 0; step < smma_fit_composition(f)->steps; step++) {
    fold_offsets(f, step);
    while (simplify_step(f, step)) continue; /* a key that changed may make another key irrelevant */
  }
  put_wrong_first(f);
}
