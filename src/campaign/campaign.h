/* Differential testing: runs many vectors through two units, counts mismatches, and minimises the first one. */
#ifndef SMMA_CAMPAIGN_CAMPAIGN_H
#define SMMA_CAMPAIGN_CAMPAIGN_H

#include "campaign/rows.h"
#include "campaign/sample.h"
#include "campaign/share.h"
#include "unit/unit.h"

typedef struct {
  smma_unit *unit, *against;
  uint64_t rows; /* number of vectors for each instruction; a recording may have fewer */
  smma_campaign_recipe recipe;
  smma_share share; /* share of each instruction's vectors; count 0: all vectors */
} smma_campaign;

/* Results for one instruction. `rows` is the number of compared vectors of the share; smma_campaign_run continues after
   them. */
typedef struct {
  uint64_t rows, mismatches;
  uint64_t not_repeated; /* vectors of the first batch whose results changed when asked again */
  uint64_t not_alike;    /* results that changed at other places or among other vectors (smma_check_alike) */
  bool checked;          /* the two counters above are set */
  bool has_example;
  uint64_t first;    /* number of the first vector with a mismatch */
  smma_row example;  /* that vector, minimised; d is the unit's result */
  uint64_t expected; /* the other unit's result */
  smma_sample *kept; /* the caller's sample, to which mismatches are added; or NULL */
} smma_campaign_result;

/* Returns the number of vectors in a part of a share. It is the number that units compute in one call. */
uint64_t smma_campaign_part(const smma_campaign *campaign);

/* Called after each batch; returns true to stop the campaign there. */
typedef bool smma_campaign_watcher(const smma_campaign_result *result, void *context);

/* Prepares the instruction's vectors, like smma_campaign_rows_of. A recording has its own vectors, so it needs no
   recipe. */
bool smma_campaign_number(const smma_campaign *campaign, const smma_instruction *instruction,
                          smma_campaign_rows *numbered);

/* Computes the vectors with these numbers again and stores them from index 0 of `rows`, which must have room. d is
   the unit's result, `expected` receives the other unit's. */
bool smma_campaign_again(const smma_campaign *campaign, const smma_campaign_rows *numbered, const uint64_t *number,
                         size_t count, smma_rows *rows, uint64_t *expected, smma_error *error);

/* Compares the vectors of the share from index result->rows on until all are done. The process that has vector 0 also
   computes the first batch again (not_repeated, not_alike). Results are equal as in smma_same_result. `numbered`
   receives the instruction's vectors, as from smma_campaign_number. Sets `*stopped` if the watcher or
   smma_units_stopped ended the campaign. Returns false with a message if a unit fails; in any case `result` is valid up
   to the last complete batch. */
bool smma_campaign_run(const smma_campaign *campaign, const smma_instruction *instruction,
                       smma_campaign_watcher *watcher, void *context, smma_campaign_rows *numbered,
                       smma_campaign_result *result, bool *stopped, smma_error *error);

/* Minimises a vector while the units' results differ: fewest nonzero terms first, then fewest bits in significands,
   exponents near that of 1, positive signs. Fills in row->d and `*expected`. */
bool smma_minimise(smma_unit *unit, smma_unit *against, const smma_instruction *instruction, smma_row *row,
                   uint64_t *expected, smma_error *error);

/* Condition for the vectors that minimisation may accept; row->d is the unit's result. */
typedef struct {
  bool (*takes)(const smma_row *row, uint64_t expected, void *context);
  void *context;
  size_t *asked; /* NULL, or a counter of the vectors that units are asked for */
} smma_row_judge;

/* Returns the number of a vector's terms that are not zero: products with a nonzero factor, and c. */
int smma_row_terms(const smma_instruction *instruction, const smma_row *row);

/* A vector to minimise, and the other unit's result. `judge` may be NULL; it must return true for the vector as it
   is. */
typedef struct {
  smma_row *row;
  uint64_t *expected;
  const smma_row_judge *judge;
} smma_row_to_minimise;

/* Minimises vectors as smma_minimise does, side by side, so that the units are asked in fewer batches. Considers only
   vectors for which `judge` returns true. */
bool smma_minimise_rows(smma_unit *unit, smma_unit *against, const smma_instruction *instruction,
                        const smma_row_to_minimise *list, size_t count, smma_error *error);

#endif
