/* The events that a campaign's rows make happen. */
#ifndef SMMA_CAMPAIGN_COVERED_H
#define SMMA_CAMPAIGN_COVERED_H

#include "campaign/campaign.h"
#include "coverage/coverage.h"

/* Counts the events of the campaign's rows. If it has a unit, this is asked for the same rows, and results that are not
   the model's are counted as mismatches of the coverage's totals. `progress` is told how many rows there were. Returns
   false with one line. */
bool smma_campaign_cover(const smma_campaign *campaign, const smma_instruction *instruction, smma_coverage *coverage,
                         void (*progress)(uint64_t rows, void *context), void *context, smma_error *error);

#endif
