/* Finds the starting points of the search for a shape's parameters. They are the best of several thousand compositions
   whose steps all truncate and round alike. */
#ifndef SMMA_INFER_START_H
#define SMMA_INFER_START_H

#include "infer/fit.h"

typedef struct {
  smma_composition model;
  size_t wrong; /* number of selected samples with which the model disagrees */
} smma_candidate;

/* Sorts candidates, the best first. Equally good candidates keep their order, with any C library's qsort. */
void smma_sort_candidates(smma_candidate *candidate, int count);

enum { SMMA_MOST_STARTS = 8 };

/* Finds the starts of a shape with the fewest mismatches on the selected samples, the best first. Takes up to
   two compositions from each of five families, at most SMMA_MOST_STARTS in all: terms truncated relative to their nominal exponents; terms truncated
   relative to the exponents of their leading bits; small terms dropped; exact sums rounded once or twice; sums in fixed
   point. The best starts may get separate bits and rounding for each step. Returns the number of starts; -1 if memory
   runs out. */
int smma_fit_starts(const smma_fit *fit, const smma_composition *shape, smma_candidate best[SMMA_MOST_STARTS]);

#endif
