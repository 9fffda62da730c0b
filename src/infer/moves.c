#include "infer/moves.h"

#include <stddef.h>
#include <string.h>

bool smma_fit_is_near(const smma_fit *f) { return f->wrong && f->wrong * 8 < f->selected; }

bool smma_fit_is_stopped(smma_fit_watch watch) { return watch.stop && watch.stop(watch.context); }

/* ---- Changing one parameter or two ---- */

/* Tries all values of a key in one step. Like the other functions move_*, takes the best value if that reduces the
   number of mismatches, and reports whether it does. */
static bool move_one(smma_fit *f, int step, const smma_key *key) {
  const smma_composition p = *smma_fit_composition(f);
  const int now = smma_key_of_step(&p.step[step], key);
  int value[SMMA_MOST_VALUES];
  const int count = smma_parameter_values(&f->model.instruction, key, now, value);
  const bool chain = p.step[step].join == SMMA_JOIN_CHAIN;
  if (smma_parameter_is_idle(&p.step[step], key)) return false;
  smma_fit_clear(f);
  for (int n = 0; n < count; n++)
    for (int both = 0; both <= (chain && smma_parameter_of_accumulator(key)); both++) {
      smma_composition other = p;
      smma_parameter_set(&other.step[step], key, value[n], both);
      smma_fit_propose(f, &other);
    }
  return smma_fit_take_best(f);
}

/* Tries each value of a key in all steps at once. */
static bool move_all(smma_fit *f, const smma_key *key) {
  const smma_composition p = *smma_fit_composition(f);
  int value[SMMA_MOST_VALUES];
  const int count = smma_parameter_values(&f->model.instruction, key, smma_key_of_step(&p.step[0], key), value);
  if (smma_parameter_is_of_accumulator(key) || p.steps == 1) return false;
  smma_fit_clear(f);
  for (int n = 0; n < count; n++) {
    smma_composition other = p;
    for (int step = 0; step < p.steps; step++) smma_parameter_set(&other.step[step], key, value[n], true);
    smma_fit_propose(f, &other);
  }
  return smma_fit_take_best(f);
}

/* Tries changes of two keys of one step at once, with every value of the second key. The first key gets numbers within
   4 of its current value and its words (named values such as "exact"); if it has no numbers, or only powers of two, it
   gets all its values. */
static bool move_two(smma_fit *f, int step, const char *one, const char *other) {
  const smma_key *key[2] = {smma_find_step_key(one, strlen(one)), smma_find_step_key(other, strlen(other))};
  const smma_composition p = *smma_fit_composition(f);
  int value[2][SMMA_MOST_VALUES], count[2];
  const bool chain = p.step[step].join == SMMA_JOIN_CHAIN;
  for (int n = 0; n < 2; n++) {
    const int now = smma_key_of_step(&p.step[step], key[n]);
    const bool near_values = n == 0 && smma_parameter_is_number(key[n]) && !smma_parameter_is_power(key[n]);
    if (smma_parameter_is_of_accumulator(key[n]) && !chain) return false;
    count[n] = near_values ? 0 : smma_parameter_values(&f->model.instruction, key[n], now, value[n]);
    for (int near = -4; near_values && near <= 4; near++)
      count[n] = smma_parameter_add_value(value[n], count[n], key[n], now, now + near);
    if (n == 0) count[n] = smma_parameter_add_words(value[n], count[n], key[n], now);
  }
  smma_fit_clear(f);
  for (int x = 0; x < count[0]; x++)
    for (int y = 0; y < count[1]; y++)
      for (int both = 0; both <= chain; both++) {
        smma_composition next = p;
        smma_parameter_set(&next.step[step], key[0], value[0][x], both);
        smma_parameter_set(&next.step[step], key[1], value[1][y], both);
        smma_fit_propose(f, &next);
      }
  return smma_fit_take_best(f);
}

/* Tries all values of a key of the whole composition. */
static bool move_whole(smma_fit *f, const smma_key *key) {
  int value[SMMA_MOST_VALUES];
  smma_custom custom = f->model;
  const int count = smma_parameter_values(&f->model.instruction, key, smma_custom_get(&custom, key), value);
  smma_fit_clear(f);
  for (int n = 0; n < count; n++) {
    smma_custom_set(&custom, key, value[n]);
    smma_fit_propose(f, &custom.named.rule.with.composition);
  }
  return smma_fit_take_best(f);
}

static bool move_flushes(smma_fit *f) {
  smma_fit_clear(f);
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++)
      for (int c = 0; c < 3; c++) {
        smma_composition p = *smma_fit_composition(f);
        p.subnormal_a = (smma_subnormal_policy)a;
        p.subnormal_b = (smma_subnormal_policy)b;
        p.subnormal_c = (smma_subnormal_policy)c;
        smma_fit_propose(f, &p);
      }
  return smma_fit_take_best(f);
}

/* ---- Sweeps ---- */

/* Reports whether only few units need the key. Such keys are tried only after changes of all other keys have failed. */
static bool is_rare(const smma_key *key) {
  static const size_t rare[] = {offsetof(smma_step, term.offset),
                                offsetof(smma_step, accumulator.offset),
                                offsetof(smma_step, term.least),
                                offsetof(smma_step, accumulator.least),
                                offsetof(smma_step, term.drop),
                                offsetof(smma_step, accumulator.drop),
                                offsetof(smma_step, reference_multiple),
                                offsetof(smma_step, width),
                                offsetof(smma_step, width_overflow),
                                offsetof(smma_step, narrow_subnormals),
                                offsetof(smma_step, output),
                                offsetof(smma_step, early_underflow),
                                offsetof(smma_step, cancelled_is_zero)};
  for (size_t n = 0; n < sizeof rare / sizeof rare[0]; n++)
    if (key->member == rare[n]) return true;
  return false;
}

/* Tries the keys of each step, the last step first: rare keys if `rare`, otherwise all others. With `rare`, also tries
   the keys of the whole composition. */
static bool sweep_single(smma_fit *f, bool rare, smma_fit_watch watch) {
  bool better = false;
  for (int step = smma_fit_composition(f)->steps - 1; step >= 0; step--)
    for (const smma_key *key = NULL; f->wrong && (key = smma_parameter_next(key)) && !smma_fit_is_stopped(watch);)
      if (is_rare(key) == rare) better |= move_one(f, step, key);
  for (const smma_key *key = NULL;
       rare && f->wrong && (key = smma_parameter_next_of_whole(key)) && !smma_fit_is_stopped(watch);)
    better |= move_whole(f, key);
  return better;
}

/* Tries subnormal policies, and each key with the same value in all steps. Includes rare keys only if `rare`. */
static bool sweep_all(smma_fit *f, bool rare, smma_fit_watch watch) {
  bool better = move_flushes(f);
  for (const smma_key *key = NULL; f->wrong && (key = smma_parameter_next(key)) && !smma_fit_is_stopped(watch);)
    if (rare || !is_rare(key)) better |= move_all(f, key);
  return better;
}

static bool sweep_together(smma_fit *f, smma_fit_watch watch) {
  static const char *const pairs[][2] = {{"alignment_rounding", "alignment_bits"},
                                         {"accumulator_alignment_rounding", "accumulator_alignment_bits"},
                                         {"narrow_rounding", "narrow_bits"},
                                         {"rounding", "narrow_bits"},
                                         {"rounding", "alignment_bits"},
                                         {"reference", "alignment_bits"},
                                         {"reference_multiple", "alignment_bits"},
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
  bool better = sweep_all(f, true, watch);
  for (int step = smma_fit_composition(f)->steps - 1; step >= 0; step--)
    for (int n = 0; n < PAIRS && f->wrong && !smma_fit_is_stopped(watch); n++)
      better |= move_two(f, step, pairs[n][0], pairs[n][1]);
  return better;
}

bool smma_fit_sweep(smma_fit *f, smma_fit_watch watch) {
  const bool better = sweep_all(f, false, watch);
  return sweep_single(f, false, watch) || better;
}

static void descend(smma_fit *f, smma_fit_watch watch) {
  do {
    do {
      while (f->wrong && sweep_single(f, false, watch)) continue;
    } while (f->wrong && sweep_single(f, true, watch));
  } while (f->wrong && !smma_fit_is_stopped(watch) && sweep_together(f, watch));
}

/* Improves the model by descent. If few mismatches remain, unusual values may compensate for each other: then resets
   values that do not help and descends again, as long as this reduces the mismatches. */
void smma_fit_descend(smma_fit *f, smma_fit_watch watch) {
  size_t before;
  descend(f, watch);
  do {
    before = f->wrong;
    if (!smma_fit_is_near(f) || smma_fit_is_stopped(watch)) return;
    smma_fit_simplify(f);
    descend(f, watch);
  } while (f->wrong < before);
}
