/* Rows of which two units' results differ, some of each sort: what of too many rows is kept to be looked at. */
#ifndef SMMA_CAMPAIGN_SAMPLE_H
#define SMMA_CAMPAIGN_SAMPLE_H

#include <stddef.h>

#include "campaign/rows.h"

enum { SMMA_KEPT_OF_SORT = 32, SMMA_NUMBER_CLASSES = 5, SMMA_DISTANCES = 8 };
enum { SMMA_SORTS = SMMA_CAMPAIGN_KINDS * SMMA_NUMBER_CLASSES * SMMA_NUMBER_CLASSES * 2 * SMMA_DISTANCES };

/* Mismatches of one sort, counted; and the rows kept of them: those whose numbers have the least hashes, so that these
   are evenly drawn and the same whenever and in which parts rows are compared. */
typedef struct {
  int sort;
  uint64_t count;
  int kept;
  uint64_t row[SMMA_KEPT_OF_SORT];
} smma_sort;

/* All zero: nothing yet. */
typedef struct {
  smma_sort *sort;
  size_t count, capacity;
  uint16_t place[SMMA_SORTS]; /* of a sort in the list, from 1; 0: there is none of it */
} smma_sample;

/* Adds row `row`. Its sort: the kind of row (0 if that is not known), what both results are (zero, subnormal, normal,
   infinite, NaN), whether signs differ, and how far apart they are. `*slot`, unless NULL, says where a caller who keeps
   the row itself puts it, below count * SMMA_KEPT_OF_SORT; SIZE_MAX: nowhere. False without memory. */
bool smma_sample_add(smma_sample *sample, const smma_operation *operation, int kind, uint64_t row, uint64_t expected,
                     uint64_t got, size_t *slot);

/* One more sort, of which a file has numbers; NULL without memory, of a sort that there is, or that there cannot be. */
smma_sort *smma_sample_add_sort(smma_sample *sample, int sort);

/* Counts the rows with another encoding of NaN on both sides. */
uint64_t smma_sample_nan(const smma_sample *sample);

/* Adds what another sample, of other rows, has counted and kept. False without memory. */
bool smma_sample_merge(smma_sample *sample, const smma_sample *other);

/* Sorts in order of their numbers, rows in that of their hashes: the same sample for the same rows, in whichever order
   and from whichever samples they came. */
void smma_sample_settle(smma_sample *sample);

void smma_sample_free(smma_sample *sample);

#endif
