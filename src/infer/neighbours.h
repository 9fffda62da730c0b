/* Values next to those that a fit found. */
#ifndef SMMA_INFER_NEIGHBOURS_H
#define SMMA_INFER_NEIGHBOURS_H

#include "infer/fit.h"

/* Values next to one that are worth telling from it: of a number the next lower and higher that the composition can
   have, and words; of a word some numbers; of the others all. `step` -1: a key of the whole composition. Returns their
   number. */
enum { SMMA_MOST_NEIGHBOURS = 24 };
int smma_fit_neighbours(const smma_fit *fit, int step, const smma_key *key, int neighbour[SMMA_MOST_NEIGHBOURS]);

/* The keys of a composition that rows can show, without operands' formats and NaN: of a step, or of the whole (-1).
   NULL behind the last. */
const smma_key *smma_fit_next_key(const smma_fit *fit, int step, const smma_key *previous);

#endif
