/* Counts the events that a campaign's vectors cause. */
#ifndef SMMA_CAMPAIGN_COVERED_H
#define SMMA_CAMPAIGN_COVERED_H

#include "campaign/campaign.h"
#include "coverage/coverage.h"

/* Counts the events of the campaign's vectors. If the campaign has a unit, the unit computes the same vectors. Its
   results that differ from the model's are counted as mismatches in coverage->totals. `progress` receives the number of
   vectors done. Returns false with a message. */
bool smma_campaign_cover(const smma_campaign *campaign, const smma_instruction *instruction, smma_coverage *coverage,
                         void (*progress)(uint64_t rows, void *context), void *context, smma_error *error);

#endif
