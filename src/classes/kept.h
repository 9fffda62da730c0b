/* The classes of what a campaign has kept. */
#ifndef SMMA_CLASSES_KEPT_H
#define SMMA_CLASSES_KEPT_H

#include "campaign/campaign.h"
#include "classes/classes.h"

/* Rows that are sorted, at most; matching rows that they are compared with, if there are so many. */
enum { SMMA_SORTED_ROWS = 512, SMMA_MATCHING_ROWS = 4096 };

/* Where rows of a sample are, those of all sorts in turn: slots as smma_sample_add gives them, at most
   SMMA_SORTED_ROWS, and for how many mismatches each stands. Their number. */
size_t smma_kept_slots(const smma_sample *sample, size_t slot[SMMA_SORTED_ROWS], double weight[SMMA_SORTED_ROWS]);

/* Asks for the rows that a campaign has kept and for others that match, and sorts them. `*gone`: so many of those kept
   did not differ any more; `most_asked` as in smma_class_request. An index is the number of a row from 0. */
bool smma_classify_kept(const smma_campaign *campaign, const smma_instruction *instruction,
                        const smma_campaign_result *result, smma_classes *classes, size_t *gone, size_t most_asked,
                        smma_error *error);

#endif
