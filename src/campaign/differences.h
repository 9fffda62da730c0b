/* Differences of several units, every two of them: how often results differ, and in which features. */
#ifndef SMMA_CAMPAIGN_DIFFERENCES_H
#define SMMA_CAMPAIGN_DIFFERENCES_H

#include "campaign/difference.h"

enum { SMMA_MOST_SIDES = 16 };

/* The request. */
typedef struct {
  const smma_side *side;
  const char *const *on; /* names of the sides in the user's words */
  size_t sides;          /* 2 to SMMA_MOST_SIDES */
  uint64_t rows, seed;   /* test vectors for every two sides, as smma_find_difference_rate describes */
} smma_differences_request;

/* The result. */
typedef struct {
  const smma_differences_request *request;       /* must outlive the result */
  double rate[SMMA_MOST_SIDES][SMMA_MOST_SIDES]; /* of smma_find_difference_rate; 0 on the diagonal */
  bool same;                                     /* no results of any two sides differ */
  smma_examination *examination;                 /* of each side; NULL if the sides are the same, or compute integers */
} smma_differences;

/* Returns false with a message if two sides cannot be compared, or if a unit fails. Release `found` with
   smma_free_differences in any case. */
bool smma_find_differences(const smma_differences_request *request, smma_differences *found, smma_error *error);
void smma_free_differences(smma_differences *found);

/* Reports whether two sides have different findings of a feature. */
bool smma_features_differ(const smma_differences *found, smma_probe_id probe);

/* Prints the outcome as text. */
void smma_print_differences(FILE *stream, const smma_differences *found);

/* Returns the outcome as the record that --json prints. */
smma_datum *smma_differences_datum(const smma_differences *found);

#endif
