/* Differential testing: many rows through two units, what differs, and the smallest row that does. */
#ifndef SMMA_CAMPAIGN_CAMPAIGN_H
#define SMMA_CAMPAIGN_CAMPAIGN_H

#include "campaign/rows.h"
#include "campaign/sample.h"
#include "campaign/share.h"
#include "unit/unit.h"

typedef struct {
  smma_unit *unit, *against;
  uint64_t rows; /* of each instruction; of a recording, at most those that it has */
  smma_campaign_recipe recipe;
  smma_share share; /* of each instruction's rows; count 0: all */
} smma_campaign;

/* What is known of one instruction. `rows`, of the share, is also where smma_campaign_run goes on. */
typedef struct {
  uint64_t rows, mismatches;
  uint64_t not_repeated; /* rows of the first batch whose result was another when asked again */
  uint64_t not_alike;    /* results of them that were others elsewhere, or beside other rows: smma_check_alike */
  bool checked;          /* the two above were counted */
  bool has_example;
  uint64_t first;    /* the row that differed first */
  smma_row example;  /* the same, made as simple as it goes; d is the unit's */
  uint64_t expected; /* by the other unit */
  smma_sample *kept; /* the caller's, where rows that differ are added; or NULL */
} smma_campaign_result;

/* Rows of a part in a share of this campaign: as many as its units are asked for at a time. */
uint64_t smma_campaign_part(const smma_campaign *campaign);

/* Told behind each batch; true stops the campaign there. */
typedef bool smma_campaign_watcher(const smma_campaign_result *result, void *context);

/* The instruction's rows, as from smma_campaign_rows_of; a recording has its own, and takes none. */
bool smma_campaign_number(const smma_campaign *campaign, const smma_instruction *instruction,
                          smma_campaign_rows *numbered);

/* Rows by their numbers, as the first ones of `rows`, which has room; d is the unit's, `expected` receives the
   other's. */
bool smma_campaign_again(const smma_campaign *campaign, const smma_campaign_rows *numbered, const uint64_t *number,
                         size_t count, smma_rows *rows, uint64_t *expected, smma_error *error);

/* Compares rows of the share from its row number result->rows on until there are no more. The first batch is checked by
   whoever has row 0. Results equal each other as in smma_same_result. `numbered` receives the instruction's rows, as
   from smma_campaign_number.
   `*stopped` tells whether the watcher ended it, or smma_units_stopped. False with one line if a unit fails; in both
   cases `result` stands as behind the last batch. */
bool smma_campaign_run(const smma_campaign *campaign, const smma_instruction *instruction,
                       smma_campaign_watcher *watcher, void *context, smma_campaign_rows *numbered,
                       smma_campaign_result *result, bool *stopped, smma_error *error);

/* Simplifies a row of which the units' results differ as long as they still do: fewest nonzero terms first, then the
   fewest bits in significands, exponents near one, plus signs. Fills row->d and `*expected`. */
bool smma_minimise(smma_unit *unit, smma_unit *against, const smma_instruction *instruction, smma_row *row,
                   uint64_t *expected, smma_error *error);

/* Which rows that differ a simpler row may be; row->d is the unit's. */
typedef struct {
  bool (*takes)(const smma_row *row, uint64_t expected, void *context);
  void *context;
  size_t *asked; /* NULL, or counts the rows that units are asked for */
} smma_row_judge;

/* The same among rows that the judge takes, who must take the first. */
bool smma_minimise_while(smma_unit *unit, smma_unit *against, const smma_instruction *instruction,
                         const smma_row_judge *judge, smma_row *row, uint64_t *expected, smma_error *error);

#endif
