/* The rows of a campaign, by their numbers: row i of a seed is the same on every machine, whoever asks for it. */
#ifndef SMMA_CAMPAIGN_ROWS_H
#define SMMA_CAMPAIGN_ROWS_H

#include "coverage/cover.h"
#include "rows/generate.h"

/* A row's kind beside those of generated.h: of a search for rows that make every event happen (coverage/cover.h). */
enum { SMMA_ROWS_COVER = SMMA_ROWS_KINDS, SMMA_CAMPAIGN_KINDS };

/* Of the first `kinds` kinds in turn, or all of `kind` if that is 0; with `covers` the first ones, few, are instead
   those that make every event happen. */
typedef struct {
  uint64_t seed;
  bool covers;
  int kinds;
  smma_row_kind kind;
} smma_campaign_recipe;

/* What is asked where no kind is named; docs/coverage.md has how many faults these and others find. */
static inline smma_campaign_recipe smma_campaign_best(uint64_t seed) {
  return (smma_campaign_recipe){.seed = seed, .covers = true, .kinds = SMMA_ROWS_KINDS};
}

/* An instruction's; all zero: none yet. */
typedef struct {
  smma_campaign_recipe recipe;
  const smma_instruction *instruction;
  smma_cover cover; /* count 0 if there is none */
} smma_campaign_rows;

/* Looks for the rows that cover, on all cores; uses again what `rows` has where that is the same. False without
   memory. */
bool smma_campaign_rows_of(const smma_campaign_recipe *recipe, const smma_instruction *instruction,
                           smma_campaign_rows *rows);
void smma_campaign_rows_free(smma_campaign_rows *rows);

/* Rows `first` to first + count - 1, as the first ones of `out`; d is zero. */
void smma_campaign_rows_fill(const smma_campaign_rows *rows, uint64_t first, size_t count, smma_rows *out);

/* One of them; d is zero. */
void smma_campaign_rows_get(const smma_campaign_rows *rows, uint64_t number, smma_row *row);

/* SMMA_ROWS_COVER, or one of smma_row_kind. */
int smma_campaign_rows_kind(const smma_campaign_rows *rows, uint64_t number);

/* Rows from `first` on as others make them: the same as these from number cover.count on. */
smma_row_selection smma_campaign_rows_selection(const smma_campaign_rows *rows, uint64_t first);

#endif
