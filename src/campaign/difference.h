/* Whether two units compute the same, and what tells them apart: features, the smallest row, how often. */
#ifndef SMMA_CAMPAIGN_DIFFERENCE_H
#define SMMA_CAMPAIGN_DIFFERENCE_H

#include "campaign/campaign.h"
#include "probe/probe.h"

/* What computes: an instruction on a unit. */
typedef struct {
  const char *label; /* for messages */
  smma_unit *unit;
  const smma_instruction *instruction;
} smma_side;

typedef struct {
  const smma_instruction *as; /* whose rows both computed: the one with the greater K */
  smma_examination *examination[2];
  bool found;
  int terms;                        /* of the smallest row, not zero */
  smma_row row;                     /* d: the first one's */
  uint64_t expected;                /* the other's */
  smma_campaign_result normal, all; /* rows of that kind, and of all kinds in turn */
} smma_unit_difference;

/* Asks both for rows that show a feature of one, then for `rows` random ones of each sort. An instruction with a
   smaller K goes on with its result. False with one line if they cannot be compared or a unit fails. Release it with
   smma_free_unit_difference, also then. */
bool smma_find_unit_difference(const smma_side side[2], uint64_t rows, uint64_t seed, smma_unit_difference *difference,
                               smma_error *error);
void smma_free_unit_difference(smma_unit_difference *difference);

/* Returns what was found as a record: what --json prints. `on` names the sides as the user does. */
smma_datum *smma_unit_difference_datum(const smma_side side[2], const char *const on[2],
                                       const smma_unit_difference *difference);

/* Whether both have this feature, each another. */
bool smma_feature_differs(const smma_unit_difference *difference, smma_probe_id probe);

/* The share of `rows` results that differ on normal data; -1 if none does, and none of `rows` of all kinds. */
bool smma_find_difference_rate(const smma_side side[2], uint64_t rows, uint64_t seed, double *rate, smma_error *error);

#endif
