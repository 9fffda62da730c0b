/* Lists parameter values next to those that a fit found. */
#ifndef SMMA_INFER_NEIGHBOURS_H
#define SMMA_INFER_NEIGHBOURS_H

#include "infer/fit.h"

/* Lists the values from which a proof should distinguish the current value. If it is a number, they are the next lower
   and higher possible number and the key's words. If it is a word, they are some numbers. For other kinds of keys they
   are all values. `step` -1 means a key of the whole composition. Returns the number of values. */
enum { SMMA_MOST_NEIGHBOURS = 24 };
int smma_fit_neighbours(const smma_fit *fit, int step, const smma_key *key, int neighbour[SMMA_MOST_NEIGHBOURS]);

/* Returns the next key of a step, or of the whole composition if `step` is -1, whose value vectors can show. Skips
   operand formats and NaN. If `previous` is NULL, returns the first key; returns NULL after the last key. */
const smma_key *smma_fit_next_key(const smma_fit *fit, int step, const smma_key *previous);

#endif
