/* Whether a unit is a function of its operands: the same rows again, in other orders, among other rows, in batches of
   other sizes. */
#ifndef SMMA_UNIT_ALIKE_H
#define SMMA_UNIT_ALIKE_H

#include "rows/rows.h"
#include "unit/unit.h"

/* What a row's second result comes from, as far as more batches tell. */
typedef enum {
  SMMA_UNLIKE_BY_CHANCE,    /* cannot be told: such a batch did not give it again */
  SMMA_UNLIKE_BY_PLACE,     /* among copies of itself the row has both, at both places */
  SMMA_UNLIKE_BY_NEIGHBOUR, /* among copies of itself it has one; with a single other row it has the other */
  SMMA_UNLIKE_BY_SEVERAL    /* the same, but it takes several rows */
} smma_unlike_by;

typedef struct {
  uint64_t asked;        /* results compared with a row's first one */
  uint64_t not_repeated; /* of these, others when the same batch was asked again */
  uint64_t not_alike;    /* others where the row stood elsewhere or beside other rows */
  uint64_t other_nans;   /* NaN as before, with another sign or payload: counted here alone */
  bool at_once;          /* the first that was another was so in the same batch, asked again */
  size_t row, place;     /* which row that was, and where it stood, from 0 */
  size_t batch;          /* of so many rows */
  uint64_t asked_why;    /* results that only tell why */
  smma_unlike_by by;
  size_t neighbour, neighbour_place; /* that row, and where it stands, in a batch as the first or as that one */
} smma_alikeness;

/* The rows' d are the unit's first results. Each row is asked about five times more, and four of them once at every
   place of a batch (of at most 4096) among others. If a row has another result, batches of its copies tell why. False
   with one line if the unit fails. */
bool smma_check_alike(smma_unit *unit, const smma_rows *rows, size_t count, smma_alikeness *alikeness,
                      smma_error *error);

/* What `by` says, in words. */
void smma_tell_unlike(const smma_alikeness *alikeness, char *text, size_t size);

#endif
