/* What A, B and D show before a candidate is tried: which elements tell most, and what additions cannot show. */
#ifndef SMMA_MATCH_SAMPLE_H
#define SMMA_MATCH_SAMPLE_H

#include "match/evaluate.h"

/* The first sample is for all candidates, the others for those that have most of it. */
enum { SMMA_MATCH_SAMPLES = 5 };

/* Elements whose exact value lies near a tie of D's format, as there even small errors show; `*samples`: as many as
   there are elements for. Notes in `match` how D relates to A B. False without memory. */
bool smma_match_choose(const smma_match_data *data, smma_match_elements elements[SMMA_MATCH_SAMPLES], size_t *samples,
                       smma_match *match);

/* Whether no addition can round, in any order. */
bool smma_match_is_exact(const smma_match_data *data);

/* Whether D has -0, so that zeros' signs tell something. */
bool smma_match_has_negative_zero(const smma_match_data *data);

#endif
