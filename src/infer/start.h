/* Where the search in a shape begins: the best of some thousand compositions whose steps all cut and round alike. */
#ifndef SMMA_INFER_START_H
#define SMMA_INFER_START_H

#include "infer/fit.h"

typedef struct {
  smma_composition model;
  size_t wrong; /* rows of those that were looked at */
} smma_candidate;

/* Sorts candidates, the best first; those that are as good stay in their order, whatever qsort a C library has. */
void smma_sort_candidates(smma_candidate *candidate, int count);

enum { SMMA_MOST_STARTS = 8 };

/* Of each family of them (terms cut below the exponents that they have, or below that of the leading bit; exact sums,
   rounded once or twice; fixed point) the two that the fewest of the samples looked at disagree with; in shapes of
   several steps each step of the first of these may have bits and a rounding of its own. The best first. Returns their
   number; -1 without memory. */
int smma_fit_starts(const smma_fit *fit, const smma_composition *shape, smma_candidate best[SMMA_MOST_STARTS]);

#endif
