#include "infer/neighbours.h"

#include <stddef.h>

#include "infer/parameter.h"

const smma_key *smma_fit_next_key(const smma_fit *f, int step, const smma_key *key) {
  const smma_composition *p = smma_fit_composition(f);
  if (step < 0) {
    while ((key = smma_parameter_next_of_whole(key)) &&
           key->member == offsetof(smma_rule, with.composition.limit_joins) && p->product_limit == SMMA_NONE)
      continue;
    return key;
  }
  while ((key = smma_next_step_key(key)) && smma_parameter_is_idle(&p->step[step], key)) continue;
  return key;
}

static bool is_possible(const smma_fit *f, int step, const smma_key *key, int value) {
  const smma_composition p = smma_fit_with(f, step, key, value);
  return smma_key_allows(key, value) && smma_fit_allows(f, &p);
}

static bool is_word(const smma_key *key, int value) {
  return (key->word && value == key->meaning) || (key->other_word && value == key->other_meaning);
}

/* Returns the first possible number after `now` in a direction (1 or -1), or `now` if the next 63 are not possible. */
static int next_number(const smma_fit *f, int step, const smma_key *key, int now, int direction) {
  for (int x = now + direction; x >= key->least && x <= key->most && x != now + 64 * direction; x += direction)
    if (is_possible(f, step, key, x)) return x;
  return now;
}

/* Appends typical numbers, as alternatives to the key's current value, which is a word. Returns the new length of the
   list. */
static int numbers_beside_word(const smma_fit *f, const smma_key *key, int now, int *value, int count) {
  static const int beyond[] = {0, 1, 2, 4, 8, 16, 24};
  const int fraction_bits = smma_encoding_of(f->model.instruction.d).fraction_bits;
  int anchor[SMMA_MOST_ANCHORS];
  const int anchors = smma_parameter_anchors(&f->model.instruction, anchor);
  if (!smma_parameter_has_few(key))
    for (int n = 0; n < anchors; n++) count = smma_parameter_add_value(value, count, key, now, anchor[n]);
  else
    for (int n = 0; n < 7; n++) count = smma_parameter_add_value(value, count, key, now, fraction_bits + beyond[n]);
  return count;
}

int smma_fit_neighbours(const smma_fit *f, int step, const smma_key *key, int neighbour[SMMA_MOST_NEIGHBOURS]) {
  const int now = smma_fit_value(f, step, key);
  int value[SMMA_MOST_VALUES], count = 0, kept = 0;
  if (!smma_parameter_is_number(key)) {
    count = smma_parameter_add_choices(value, count, key, now);
  } else if (is_word(key, now)) {
    count = numbers_beside_word(f, key, now, value, count);
  } else {
    count = smma_parameter_add_value(value, count, key, now, next_number(f, step, key, now, -1));
    count = smma_parameter_add_value(value, count, key, now, next_number(f, step, key, now, 1));
  }
  count = smma_parameter_add_words(value, count, key, now);
  for (int n = 0; n < count && kept < SMMA_MOST_NEIGHBOURS; n++)
    if (is_possible(f, step, key, value[n])) neighbour[kept++] = value[n];
  return kept;
}
