/* Lists the parameters of a composition's steps, except those that define the shape, and the values worth trying for
   each parameter. */
#ifndef SMMA_INFER_PARAMETER_H
#define SMMA_INFER_PARAMETER_H

#include "isa/custom.h"

/* ---- Keys ---- */

/* Return the key after `previous`, the first key for NULL, and NULL after the last. smma_parameter_next lists the keys
   of a step, except those of the shape and those that only one published unit uses. smma_parameter_next_of_whole lists
   the keys of the whole composition, except those of operands, scale factors, slices and NaN. */
const smma_key *smma_parameter_next(const smma_key *previous);
const smma_key *smma_parameter_next_of_whole(const smma_key *previous);

/* Returns the key of the accumulator that corresponds to a key of the terms, or NULL if the accumulator has no such
   key. */
const smma_key *smma_parameter_of_accumulator(const smma_key *key);
bool smma_parameter_is_of_accumulator(const smma_key *key);

/* Sets a key of a step. For a key of terms, also sets the accumulator's key if the step is not a chain, or if
   `both`. */
void smma_parameter_set(smma_step *step, const smma_key *key, int value, bool both);

/* Reports whether a key has no effect because of other keys, for example rounding of an alignment that is exact. */
bool smma_parameter_is_idle(const smma_step *step, const smma_key *key);

/* Returns the default of a key in a step over `nodes` nodes (products or sums), or SMMA_KEY_REQUIRED if the key has no
   default. */
int smma_parameter_otherwise(const smma_step *step, const smma_key *key, int nodes);

bool smma_parameter_is_number(const smma_key *key);

/* Reports whether the values of a key are powers of two. */
bool smma_parameter_is_power(const smma_key *key);

/* Reports whether the key has so few values that all are worth trying. */
bool smma_parameter_has_few(const smma_key *key);

/* Return the number of values of a key that takes no numbers, and the value with index `n`. */
int smma_parameter_choices(const smma_key *key);
int smma_parameter_choice(const smma_key *key, int n);

/* ---- Values ---- */

/* Maximum number of values in a list of values of a key. */
enum { SMMA_MOST_VALUES = 640 };

/* Append to a list of `count` values, and return its new length. smma_parameter_add_value appends `x`,
   smma_parameter_add_choices appends all values of a key that takes no numbers, and smma_parameter_add_words appends
   the numbers that the key's words stand for. They skip `now`, values in the list, and values that the key does not
   allow. */
int smma_parameter_add_value(int *value, int count, const smma_key *key, int now, int x);
int smma_parameter_add_choices(int *value, int count, const smma_key *key, int now);
int smma_parameter_add_words(int *value, int count, const smma_key *key, int now);

/* Lists values worth trying instead of `now`, and returns their number. If the key has few values, lists all of them.
   Otherwise lists `now` plus and minus powers of two, values near the limits of the exponents, and the key's words. */
int smma_parameter_values(const smma_instruction *instruction, const smma_key *key, int now, int *value);

/* Maximum number of exponents that smma_parameter_anchors lists. */
enum { SMMA_MOST_ANCHORS = 8 };

/* Lists exponents of interest: 0, and the limits of the exponents of products and of d. Returns their number. */
int smma_parameter_anchors(const smma_instruction *instruction, int *anchor);

#endif
