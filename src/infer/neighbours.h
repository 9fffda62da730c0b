/* Lists parameter values next to those that a fit found. */
#ifndef SMMA_INFER_NEIGHBOURS_H
#define SMMA_INFER_NEIGHBOURS_H

#include "infer/fit.h"

/* Maximum number of values that smma_fit_neighbours lists. */
enum { SMMA_MOST_NEIGHBOURS = 24 };
/* Lists the values from which a proof should distinguish the key's current value, and returns their number. For a
   number, lists the next lower and the next higher possible number and the key's words (named values such as "exact").
   For a word, lists some typical numbers and the key's other word. For a key that takes no numbers, lists all other
   values. `step` -1 means a key of the whole composition. */
int smma_fit_neighbours(const smma_fit *fit, int step, const smma_key *key, int neighbour[SMMA_MOST_NEIGHBOURS]);

/* Returns the key after `previous` in a step, or in the whole composition if `step` is -1. Skips keys without effect on
   the model's results; in the whole composition also those of operands, scale factors and NaN. If `previous` is NULL,
   returns the first key. Returns NULL after the last key. */
const smma_key *smma_fit_next_key(const smma_fit *fit, int step, const smma_key *previous);

#endif
