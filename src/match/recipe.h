/* The space of plans that is searched: recipes, a few numbers each. */
#ifndef SMMA_MATCH_RECIPE_H
#define SMMA_MATCH_RECIPE_H

#include "match/match.h"

/* The outer level. */
typedef enum {
  SMMA_OUTER_NONE,
  SMMA_OUTER_CONTIGUOUS,
  SMMA_OUTER_EVERY,
  SMMA_OUTER_INTERLEAVED,
  SMMA_OUTER_REVERSED /* one part: tiles of `grain` from the last to the first */
} smma_outer;

typedef enum { SMMA_ROUNDED_NOT, SMMA_ROUNDED_PARTS, SMMA_ROUNDED_TOTALS } smma_rounded;

/* A plan of a library where `library` is set, else of the parts that follow. */
typedef struct {
  const char *library;
  int algo, stages, custom, split_k, reduction, fast;
  size_t parts, grain; /* of the outer level */
  size_t lanes, width; /* partitions within: stripes of a width in turn; or 0 */
  size_t promote;      /* every so many products the sum moves to the outer total; or 0 */
  size_t group, tile;  /* products of a call, and the tile that has the residue; or 0 */
  size_t lost_tail;
  smma_outer outer;
  smma_fold fold;
  smma_rounded rounded;
  smma_with with;
  int epilogue; /* number of the way in which alpha, beta, C and so on enter */
} smma_recipe;

/* Tells all recipes for the data, simple ones first, until `take` returns false, which is returned; of libraries' those
   that go with one of the instructions. */
typedef bool smma_recipe_taker(const smma_recipe *recipe, void *context);
bool smma_each_recipe(const smma_match_data *data, const smma_instruction *const *instruction, size_t instructions,
                      smma_recipe_taker *take, void *context);

/* The plan of a recipe around the first of these instructions that it goes with, of which the caller is the owner; NULL
   if there is none, or without memory. */
smma_plan *smma_recipe_plan(const smma_recipe *recipe, const smma_match_data *data,
                            const smma_instruction *const *instruction, size_t instructions);

/* A plan in words, without what happens behind the sum; a recipe of a library as its configuration. */
void smma_recipe_text(const smma_recipe *recipe, char *text, size_t size);

#endif
