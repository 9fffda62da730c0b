/* Examines A, B and D before the search: which elements distinguish candidates best, and whether additions can
   round. */
#ifndef SMMA_MATCH_SAMPLE_H
#define SMMA_MATCH_SAMPLE_H

#include "match/evaluate.h"

/* Every candidate is tested on the first sample. Candidates that match most of it are also tested on the other
   samples. */
enum { SMMA_MATCH_SAMPLES = 5 };

/* Chooses the samples' elements: those whose exact values are near a tie of D's format, because small errors show
   there. `*samples` is the number of samples for which there are enough elements. Sets distance and factor of `match`.
   Returns false if memory runs out. */
bool smma_match_choose(const smma_match_data *data, smma_match_elements elements[SMMA_MATCH_SAMPLES], size_t *samples,
                       smma_match *match);

/* Reports whether every addition in the product A B is exact, in any order. */
bool smma_match_is_exact(const smma_match_data *data);

/* Reports whether D has a -0, so that signs of zeros carry information. */
bool smma_match_has_negative_zero(const smma_match_data *data);

#endif
