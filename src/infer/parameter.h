/* Parameters of a composition's steps, without their places in the sum: which there are, and which values are worth
   trying. */
#ifndef SMMA_INFER_PARAMETER_H
#define SMMA_INFER_PARAMETER_H

#include "isa/custom.h"

/* ---- Keys ---- */

/* Behind `previous`, the first one behind NULL; NULL behind the last. Of the whole composition without operands, scale
   factors and NaN. */
const smma_key *smma_parameter_next(const smma_key *previous);
const smma_key *smma_parameter_next_of_whole(const smma_key *previous);

/* The key of accumulators for one of terms; NULL if it has none. */
const smma_key *smma_parameter_of_accumulator(const smma_key *key);
bool smma_parameter_is_of_accumulator(const smma_key *key);

/* Sets a key of a step; of terms that of the accumulator, too, where there is none, or `both`. */
void smma_parameter_set(smma_step *step, const smma_key *key, int value, bool both);

/* Whether a key cannot matter because of others: of how terms are cut that are not, of a width that there is not. */
bool smma_parameter_is_idle(const smma_step *step, const smma_key *key);

/* Its value where it is not given, in a step of so many nodes. */
int smma_parameter_otherwise(const smma_step *step, const smma_key *key, int nodes);

bool smma_parameter_is_number(const smma_key *key);

/* Whether every value that it can have is worth trying. */
bool smma_parameter_has_few(const smma_key *key);

/* How many values one has that is no number. */
int smma_parameter_choices(const smma_key *key);

/* ---- Values ---- */

/* The following add to `count` values and return how many there are then: `x`, or what words mean, but for `now`, what
   is there already and what the key does not allow. */
enum { SMMA_MOST_VALUES = 640 };
int smma_parameter_add_value(int *value, int count, const smma_key *key, int now, int x);
int smma_parameter_add_words(int *value, int count, const smma_key *key, int now);

/* Those worth trying in the place of `now`: all of a few, of many those in steps of powers of two from `now`, or from
   where exponents begin and end. */
int smma_parameter_values(const smma_instruction *instruction, const smma_key *key, int now, int *value);

/* Where exponents of these formats begin and end. */
enum { SMMA_MOST_ANCHORS = 8 };
int smma_parameter_anchors(const smma_instruction *instruction, int *anchor);

#endif
