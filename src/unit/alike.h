/* Checks whether a unit is a function of its operands: runs the same test vectors again, in other orders, among
   other vectors, and in batches of other sizes. */
#ifndef SMMA_UNIT_ALIKE_H
#define SMMA_UNIT_ALIKE_H

#include "rows/rows.h"
#include "unit/unit.h"

/* The cause of a vector's second result, as determined by further batches. */
typedef enum {
  SMMA_UNLIKE_BY_CHANCE,    /* cause unknown: repeating the batch did not repeat the result */
  SMMA_UNLIKE_BY_PLACE,     /* in batches of copies of itself the vector has both results, each at its position */
  SMMA_UNLIKE_BY_NEIGHBOUR, /* in batches of copies of itself the vector has one of the results; one other vector in the
                               batch causes the other result */
  SMMA_UNLIKE_BY_SEVERAL    /* as SMMA_UNLIKE_BY_NEIGHBOUR, but several other vectors together cause the other result */
} smma_unlike_by;

typedef struct {
  uint64_t asked;        /* results compared with a vector's first result */
  uint64_t not_repeated; /* number of different results when the same batch was repeated */
  uint64_t not_alike;    /* number of different results with the vector at another position or among other vectors */
  uint64_t other_nans; /* number of results that are NaN again, but with another sign or payload; these are counted only
                          here */
  bool at_once;        /* the first different result came from repeating the same batch */
  size_t row, place;   /* the vector with the first different result, and its place in the batch, from 0 */
  size_t batch;        /* size of the batch that gave this result */
  uint64_t asked_why;  /* number of further results that were computed only to find the cause */
  uint64_t calls;      /* number of calls of the unit */
  smma_unlike_by by;
  /* For SMMA_UNLIKE_BY_NEIGHBOUR: the other vector, and its position in the batch of the vector's first or second
     result, whichever the neighbour causes. */
  size_t neighbour, neighbour_place;
} smma_alikeness;

/* Checks the unit. `rows` must hold the unit's results for `count` test vectors; these are the first results. Each test
   vector is run about five more times. Four of the vectors are also run once at every place of a batch (of at most 4096
   vectors), among other vectors. If a vector has a different result, batches of its copies show the cause. Returns
   false with a one-line message if the unit fails. */
bool smma_check_alike(smma_unit *unit, const smma_rows *rows, size_t count, smma_alikeness *alikeness,
                      smma_error *error);

/* Returns how many vectors the unit computes in a check of `count` vectors if no result is different. */
uint64_t smma_alike_rows(size_t count);

/* Describes the cause `by` in words. */
void smma_tell_unlike(const smma_alikeness *alikeness, char *text, size_t size);

#endif
