#include "campaign/covered.h"

#include <stdlib.h>

enum { BATCH = 16384 }; /* number of vectors generated at a time */

/* A batch of vectors, and the model's results. */
typedef struct {
  smma_rows rows;
  smma_campaign_rows numbered;
  uint64_t d[BATCH];
} covered_batch;

static bool cover_batch(const smma_campaign *campaign, const smma_instruction *i, smma_coverage *coverage,
                        covered_batch *r, uint64_t first, size_t count, smma_error *error) {
  const smma_operation o = smma_operation_of(i);
  smma_campaign_rows_fill(&r->numbered, first, count, &r->rows);
  if (campaign->unit && !smma_unit_ask(campaign->unit, &r->rows, 0, count, NULL, error)) return false;
  if (!smma_coverage_count(coverage, i, &r->rows, count, r->d, error)) return false;
  for (size_t n = 0; campaign->unit && n < count; n++)
    coverage->totals.mismatches += !smma_same_result(&o, r->d[n], smma_rows_result(&r->rows, n));
  return true;
}

bool smma_campaign_cover(const smma_campaign *campaign, const smma_instruction *i, smma_coverage *coverage,
                         void (*progress)(uint64_t rows, void *context), void *context, smma_error *error) {
  covered_batch *r = calloc(1, sizeof *r);
  bool done = r && smma_rows_allocate(i, BATCH, &r->rows);
  if (!done) return free(r), smma_no_memory(error);
  done = smma_campaign_rows_of(&campaign->recipe, i, &r->numbered) || smma_no_memory(error);
  for (uint64_t first = 0, count; done && first < campaign->rows; first += count) {
    count = campaign->rows - first < BATCH ? campaign->rows - first : BATCH;
    done = cover_batch(campaign, i, coverage, r, first, (size_t)count, error);
    if (done && progress) progress(first + count, context);
  }
  smma_campaign_rows_free(&r->numbered);
  smma_rows_free(&r->rows);
  free(r);
  return done;
}
