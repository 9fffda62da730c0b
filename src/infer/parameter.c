#include "infer/parameter.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* If the range of a key's numbers is at most this large, its numbers up to MOST_BITS are all tried. */
enum { EVERY_VALUE_OF = 200, MOST_BITS = 64 };

/* ---- Keys ---- */

/* Reports whether a key of a step is searched. Keys that only one published unit uses are not. */
static bool is_searched(const smma_key *key) {
  static const size_t left_out[] = {offsetof(smma_step, least_reference), offsetof(smma_step, minus_one_shift),
                                    offsetof(smma_step, term.again), offsetof(smma_step, accumulator.again)};
  for (size_t n = 0; n < sizeof left_out / sizeof left_out[0]; n++)
    if (key->member == left_out[n]) return false;
  return true;
}

const smma_key *smma_parameter_next(const smma_key *key) {
  while ((key = smma_next_step_key(key)) && (key->member < offsetof(smma_step, reference) || !is_searched(key)))
    continue;
  return key;
}

/* Reports whether a key concerns slices of significands or blocks of factors. Such keys are not searched. */
static bool is_of_slices(const smma_key *key) {
  return key->member >= offsetof(smma_rule, with.composition.slice_a) &&
         key->member <= offsetof(smma_rule, with.composition.zero_product);
}

const smma_key *smma_parameter_next_of_whole(const smma_key *key) {
  while ((key = smma_next_key(SMMA_COMPOSITION, key)))
    if (key->of_rule && strcmp(key->key, "nan") != 0 && !is_of_slices(key)) break;
  return key;
}

const smma_key *smma_parameter_of_accumulator(const smma_key *key) {
  char name[64];
  if (key->member < offsetof(smma_step, term) || key->member >= offsetof(smma_step, accumulator)) return NULL;
  snprintf(name, sizeof name, "accumulator_%s", key->key);
  return smma_find_step_key(name, strlen(name));
}

bool smma_parameter_is_of_accumulator(const smma_key *key) {
  return key->member >= offsetof(smma_step, accumulator) &&
         key->member < offsetof(smma_step, accumulator) + sizeof(smma_cut);
}

void smma_parameter_set(smma_step *s, const smma_key *key, int value, bool both) {
  const smma_key *other = smma_parameter_of_accumulator(key);
  smma_set_key_of_step(s, key, value);
  if (other && (both || s->join != SMMA_JOIN_CHAIN)) smma_set_key_of_step(s, other, value);
}

bool smma_parameter_is_idle(const smma_step *s, const smma_key *key) {
  static const size_t of_narrow[] = {offsetof(smma_step, narrow_rounding), offsetof(smma_step, narrow_subnormals)};
  const bool of_accumulator = smma_parameter_is_of_accumulator(key);
  const smma_cut *cut = of_accumulator ? &s->accumulator : &s->term;
  if ((of_accumulator && s->join != SMMA_JOIN_CHAIN) || !is_searched(key)) return true;
  if (key->member == of_narrow[0] || key->member == of_narrow[1]) return s->narrow_bits == SMMA_NONE;
  if (key->member == offsetof(smma_step, reference_multiple))
    return s->reference != SMMA_NONE || s->term.bits == SMMA_EXACT_ALIGNMENT ||
           s->accumulator.bits == SMMA_EXACT_ALIGNMENT;
  if (key->member == offsetof(smma_step, cancelled_is_zero)) return s->output != SMMA_NO_FORMAT;
  if (key->member == offsetof(smma_step, width_overflow)) return s->width == SMMA_NONE;
  if (key->member == offsetof(smma_step, early_underflow)) return s->subnormal_outputs == SMMA_SUBNORMALS_KEPT;
  if (!of_accumulator && !smma_parameter_of_accumulator(key)) return false;
  if (strstr(key->key, "alignment_bits") || strstr(key->key, "drop")) return false;
  if (strstr(key->key, "alignment_rounding")) return cut->bits == SMMA_EXACT_ALIGNMENT;
  return s->term.bits == SMMA_EXACT_ALIGNMENT && s->accumulator.bits == SMMA_EXACT_ALIGNMENT &&
         s->term.drop == SMMA_NONE && s->accumulator.drop == SMMA_NONE;
}

int smma_parameter_otherwise(const smma_step *s, const smma_key *key, int nodes) {
  if (key->member == offsetof(smma_step, window)) return nodes;
  if (key->like) return smma_key_of_step(s, smma_find_step_key(key->like, strlen(key->like)));
  return key->otherwise;
}

/* ---- Values ---- */

int smma_parameter_add_value(int *value, int count, const smma_key *key, int now, int x) {
  if (count == SMMA_MOST_VALUES || x == now || !smma_key_allows(key, x)) return count;
  for (int i = 0; i < count; i++)
    if (value[i] == x) return count;
  value[count] = x;
  return count + 1;
}

bool smma_parameter_is_number(const smma_key *key) { return key->kind == SMMA_KEY_INTEGER; }

bool smma_parameter_is_power(const smma_key *key) {
  return key->member == offsetof(smma_step, reference_multiple) &&
         smma_find_step_key(key->key, strlen(key->key)) == key;
}

bool smma_parameter_has_few(const smma_key *key) {
  return !smma_parameter_is_number(key) || key->most - key->least <= EVERY_VALUE_OF;
}

int smma_parameter_choices(const smma_key *key) {
  int count = 0;
  if (key->kind == SMMA_KEY_FLAG) return 2;
  if (key->kind == SMMA_KEY_FORMAT) return SMMA_FORMAT_COUNT;
  while (key->choices[count]) count++;
  return count;
}

int smma_parameter_choice(const smma_key *key, int n) {
  return key->kind == SMMA_KEY_FORMAT ? (int)smma_format_at(n) : n;
}

int smma_parameter_add_choices(int *value, int count, const smma_key *key, int now) {
  for (int n = 0; n < smma_parameter_choices(key); n++)
    count = smma_parameter_add_value(value, count, key, now, smma_parameter_choice(key, n));
  return count;
}

int smma_parameter_add_words(int *value, int count, const smma_key *key, int now) {
  if (key->word) count = smma_parameter_add_value(value, count, key, now, key->meaning);
  if (key->other_word) count = smma_parameter_add_value(value, count, key, now, key->other_meaning);
  return count;
}

int smma_parameter_anchors(const smma_instruction *i, int *anchor) {
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

int smma_parameter_values(const smma_instruction *i, const smma_key *key, int now, int *value) {
  const bool few = smma_parameter_has_few(key);
  int anchor[SMMA_MOST_ANCHORS], anchors = smma_parameter_anchors(i, anchor), count = 0;
  count = smma_parameter_add_words(value, count, key, now);
  if (!smma_parameter_is_number(key))
    count = smma_parameter_add_choices(value, count, key, now);
  else if (few)
    for (int x = key->least; x <= key->most && x <= MOST_BITS; x = smma_parameter_is_power(key) ? 2 * x : x + 1)
      count = smma_parameter_add_value(value, count, key, now, x);
  if (few) return count;
  for (int step = 1; step <= 512; step *= 2) {
    count = smma_parameter_add_value(value, count, key, now, now - step);
    count = smma_parameter_add_value(value, count, key, now, now + step);
  }
  for (int n = 0; n < anchors; n++)
    for (int step = -12; step <= 12; step++) count = smma_parameter_add_value(value, count, key, now, anchor[n] + step);
  return count;
}
