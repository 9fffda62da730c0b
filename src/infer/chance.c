/* Improves a fit: first by the best single changes, then by random changes of several keys at once, then by resetting
   random keys to their defaults. */
#include "host/draw.h"
#include "infer/moves.h"
#include "isa/compose.h"

/* Number of batches of random changes without success, or of resets, after which the search gives up. */
enum { ROUNDS_AT_RANDOM = 8 };

/* Maximum number of keys changed at once. */
enum { MOST_TOGETHER = 4 };

/* Draws a new value for a key of a step that now has the value `now`: one of the key's words, a value near `now`, a
   value near the same key of a random step, a value near the number of fraction bits of d, or any value worth
   trying. */
static int random_value(const smma_fit *f, const smma_composition *p, const smma_key *key, int now, uint64_t *state) {
  int value[SMMA_MOST_VALUES], words = smma_parameter_add_words(value, 0, key, now);
  const int fraction_bits = smma_encoding_of(f->model.instruction.d).fraction_bits;
  if (!smma_parameter_is_number(key))
    return smma_parameter_choice(key, smma_draw_below(state, smma_parameter_choices(key)));
  if (words && smma_draw_below(state, 4) == 0) return value[smma_draw_below(state, words)];
  switch (smma_draw_below(state, 4)) {
    case 0: return smma_key_of_step(&p->step[smma_draw_below(state, p->steps)], key) + smma_draw_below(state, 3) - 1;
    case 1: return now + smma_draw_below(state, 9) - 4;
    case 2: return fraction_bits + smma_draw_below(state, 12) - 1;
    default: return value[smma_draw_below(state, smma_parameter_values(&f->model.instruction, key, now, value))];
  }
}

static const smma_key *random_step_key(uint64_t *state) {
  const smma_key *key = NULL;
  int count = 0;
  while ((key = smma_parameter_next(key))) count++;
  key = smma_parameter_next(NULL);
  for (int n = smma_draw_below(state, count); n > 0; n--) key = smma_parameter_next(key);
  return key;
}

/* Proposes the model with two to four keys changed, most of them in the same step. */
static void propose_at_random(smma_fit *f, uint64_t *state) {
  smma_composition p = *smma_fit_composition(f);
  int step = smma_draw_below(state, p.steps);
  for (int n = 2 + smma_draw_below(state, MOST_TOGETHER - 1); n > 0; n--) {
    const smma_key *key = random_step_key(state);
    int value;
    if (smma_draw_below(state, 4) == 0) step = smma_draw_below(state, p.steps);
    if (smma_parameter_is_idle(&p.step[step], key)) continue;
    value = random_value(f, &p, key, smma_key_of_step(&p.step[step], key), state);
    if (smma_key_allows(key, value)) smma_parameter_set(&p.step[step], key, value, smma_draw_below(state, 2) == 0);
  }
  smma_fit_propose(f, &p);
}

/* Replaces the model by the best of a batch of random proposals, if that has fewer mismatches; otherwise tries up to
   ROUNDS_AT_RANDOM batches. Reports whether it replaced the model. */
static bool move_at_random(smma_fit *f, smma_fit_watch watch) {
  uint64_t state = f->wrong;
  for (int round = 0; round < ROUNDS_AT_RANDOM && !smma_fit_is_stopped(watch); round++) {
    smma_fit_clear(f);
    while (smma_fit_has_room(f)) propose_at_random(f, &state);
    if (smma_fit_take_best(f)) return true;
  }
  return false;
}

/* ---- Resets to default values, for models in which several wrong values compensate for one another ---- */

/* Resets about half of the keys that have a default, chosen at random. Returns false, without a change, if the formats
   do not allow the composition. */
static bool forget_at_random(smma_fit *f, uint64_t *state) {
  smma_composition p = *smma_fit_composition(f);
  for (int step = 0; step < p.steps; step++) {
    const int nodes = smma_composition_nodes(&p, f->model.instruction.k, step);
    for (const smma_key *key = NULL; (key = smma_parameter_next(key));) {
      const int value = smma_parameter_otherwise(&p.step[step], key, nodes);
      if (value != SMMA_KEY_REQUIRED && smma_draw_below(state, 2)) smma_parameter_set(&p.step[step], key, value, false);
    }
  }
  return smma_fit_start(f, &p);
}

void smma_fit_improve(smma_fit *f, smma_fit_watch watch) {
  uint64_t state = f->selected;
  do {
    smma_fit_descend(f, watch);
  } while (smma_fit_is_near(f) && !smma_fit_is_stopped(watch) && move_at_random(f, watch));
  for (int round = 0; round < ROUNDS_AT_RANDOM && smma_fit_is_near(f) && !smma_fit_is_stopped(watch); round++) {
    const smma_composition model = *smma_fit_composition(f);
    const size_t wrong = f->wrong;
    if (forget_at_random(f, &state)) smma_fit_descend(f, watch);
    if (f->wrong > wrong) smma_fit_start(f, &model);
  }
}
