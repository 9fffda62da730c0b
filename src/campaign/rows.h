/* The vectors of a campaign by number: vector i of a seed is the same on every machine and in every process. */
#ifndef SMMA_CAMPAIGN_ROWS_H
#define SMMA_CAMPAIGN_ROWS_H

#include "coverage/cover.h"
#include "rows/generate.h"

/* SMMA_ROWS_COVER: a kind of vectors that generate.h does not have, which together cause every event
   (coverage/cover.h). SMMA_CAMPAIGN_KINDS: the number of kinds including this one. */
enum { SMMA_ROWS_COVER = SMMA_ROWS_KINDS, SMMA_CAMPAIGN_KINDS };

/* Choice of a campaign's vectors: the first `kinds` kinds in turn or, if that is 0, only `kind`. With `covers`,
   the first few vectors are replaced by vectors that together cause every event. */
typedef struct {
  uint64_t seed;
  bool covers;
  int kinds;
  smma_row_kind kind;
} smma_campaign_recipe;

/* Returns the recipe used when no kind is named. docs/coverage.md compares how many faults this and other recipes
   find. */
static inline smma_campaign_recipe smma_campaign_best(uint64_t seed) {
  return (smma_campaign_recipe){.seed = seed, .covers = true, .kinds = SMMA_ROWS_KINDS};
}

/* An instruction's vectors; all members zero: none yet. */
typedef struct {
  smma_campaign_recipe recipe;
  const smma_instruction *instruction;
  smma_cover cover; /* count 0: not used */
} smma_campaign_rows;

/* Finds the vectors that cover all events, on all cores. If `rows` already holds those of the same instruction and
   recipe, does nothing. Returns false if memory runs out. */
bool smma_campaign_rows_of(const smma_campaign_recipe *recipe, const smma_instruction *instruction,
                           smma_campaign_rows *rows);
void smma_campaign_rows_free(smma_campaign_rows *rows);

/* Fills in vectors `first` to first + count - 1, from index 0 of `out`; d is zero. */
void smma_campaign_rows_fill(const smma_campaign_rows *rows, uint64_t first, size_t count, smma_rows *out);

/* Fills in one vector; d is zero. */
void smma_campaign_rows_get(const smma_campaign_rows *rows, uint64_t number, smma_row *row);

/* Returns SMMA_ROWS_COVER or a value of smma_row_kind. */
int smma_campaign_rows_kind(const smma_campaign_rows *rows, uint64_t number);

/* Returns the selection with which other generators make the campaign's vectors from number `first` on. It is valid
   only for vectors after the first cover.count, which cover events. */
smma_row_selection smma_campaign_rows_selection(const smma_campaign_rows *rows, uint64_t first);

#endif
