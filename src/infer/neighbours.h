/* Lists parameter values next to those that a fit found. */
#ifndef SMMA_INFER_NEIGHBOURS_H
#define SMMA_INFER_NEIGHBOURS_H

#include "infer/fit.h"

/* Lists the values next to the current one that are worth telling from it: for a number, the next lower and higher
   possible number and the key's words; for a word, some numbers; for other kinds, all values. `step` -1: a key of
   the whole composition. Returns their number. */
enum { SMMA_MOST_NEIGHBOURS = 24 };
int smma_fit_neighbours(const smma_fit *fit, int step, const smma_key *key, int neighbour[SMMA_MOST_NEIGHBOURS]);

/* Returns the next key of a step, or of the whole composition (-1), whose value vectors can show; skips operand
   formats and NaN. NULL starts; NULL after the last key. */
const smma_key *smma_fit_next_key(const smma_fit *fit, int step, const smma_key *previous);

#endif
