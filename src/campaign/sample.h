/* A sample of mismatches: some of each sort, because there may be too many to store all. */
#ifndef SMMA_CAMPAIGN_SAMPLE_H
#define SMMA_CAMPAIGN_SAMPLE_H

#include <stddef.h>

#include "campaign/rows.h"

enum { SMMA_KEPT_OF_SORT = 32, SMMA_NUMBER_CLASSES = 5, SMMA_DISTANCES = 8 };
enum { SMMA_SORTS = SMMA_CAMPAIGN_KINDS * SMMA_NUMBER_CLASSES * SMMA_NUMBER_CLASSES * 2 * SMMA_DISTANCES };

/* One sort of mismatches: their number, and a sample of their vectors. The sample consists of the vectors whose numbers
   have the smallest hashes. So it is drawn evenly, and does not depend on the order or the parts in which vectors are
   compared. */
typedef struct {
  int sort;
  uint64_t count;
  int kept;
  uint64_t row[SMMA_KEPT_OF_SORT];
} smma_sort;

/* An empty sample is all zero. */
typedef struct {
  smma_sort *sort;
  size_t count, capacity;
  uint16_t place[SMMA_SORTS]; /* for each sort, its index in the list plus 1; 0: not in the list */
} smma_sample;

/* Adds vector number `row`. Its sort consists of the kind of vector (0 if not known), the classes of both results
   (zero, subnormal, normal, infinite, NaN), whether signs differ, and how far apart the results are. Unless `slot` is
   NULL, sets `*slot` to the index at which a caller who stores vectors puts this one. It is below count *
   SMMA_KEPT_OF_SORT, or SIZE_MAX if the vector is not in the sample. Returns false if memory runs out. */
bool smma_sample_add(smma_sample *sample, const smma_operation *operation, int kind, uint64_t row, uint64_t expected,
                     uint64_t got, size_t *slot);

/* Adds a sort whose counts are read from a file. Returns NULL if memory runs out, if the sort is in the list already,
   or if its number is invalid. */
smma_sort *smma_sample_add_sort(smma_sample *sample, int sort);

/* Counts mismatches between two NaNs. smma_sample_mismatches counts all. */
uint64_t smma_sample_nan(const smma_sample *sample);
uint64_t smma_sample_mismatches(const smma_sample *sample);

/* Adds the counts and vectors of another sample, which was drawn from other vectors. Returns false if memory runs
   out. */
bool smma_sample_merge(smma_sample *sample, const smma_sample *other);

/* Orders sorts by number and vectors by hash, so that the sample of the same vectors is the same, in whatever order
   and from whatever samples they came. */
void smma_sample_settle(smma_sample *sample);

void smma_sample_free(smma_sample *sample);

#endif
