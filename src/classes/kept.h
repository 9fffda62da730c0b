/* Classes of the mismatches that a campaign has kept. */
#ifndef SMMA_CLASSES_KEPT_H
#define SMMA_CLASSES_KEPT_H

#include "campaign/campaign.h"
#include "classes/classes.h"

/* SMMA_SORTED_ROWS: greatest number of mismatches to sort. SMMA_MATCHING_ROWS: greatest number of matching vectors with
   which changes are checked. */
enum { SMMA_SORTED_ROWS = 512, SMMA_MATCHING_ROWS = 4096 };

/* Lists slots of a sample (see smma_sample_add), at most SMMA_SORTED_ROWS: the first vector of each sort, then the
   second of each sort, and so on. weight[i] is the number of mismatches that slot[i] represents. Returns the number of
   slots. */
size_t smma_kept_slots(const smma_sample *sample, size_t slot[SMMA_SORTED_ROWS], double weight[SMMA_SORTED_ROWS]);

/* Computes the vectors of a campaign's sample again, and some matching vectors, and sorts them into classes. Sets
   `*agreeing_again` to the number of sampled vectors that no longer differ. `most_asked` and
   `watcher`, which may be NULL, are as in smma_class_request.
   Vectors are numbered from 0. */
bool smma_classify_kept(const smma_campaign *campaign, const smma_instruction *instruction,
                        const smma_campaign_result *result, smma_classes *classes, size_t *agreeing_again,
                        size_t most_asked, const smma_class_watcher *watcher, smma_error *error);

#endif
