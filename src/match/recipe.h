/* The space of plans to search, as recipes of a few numbers each. */
#ifndef SMMA_MATCH_RECIPE_H
#define SMMA_MATCH_RECIPE_H

#include "match/match.h"

/* The outer level of a plan. */
typedef enum {
  SMMA_OUTER_NONE,
  SMMA_OUTER_CONTIGUOUS,
  SMMA_OUTER_EVERY,
  SMMA_OUTER_INTERLEAVED,
  SMMA_OUTER_REVERSED /* a single part: tiles of `grain`, from the last to the first */
} smma_outer;

typedef enum { SMMA_ROUNDED_NOT, SMMA_ROUNDED_PARTS, SMMA_ROUNDED_TOTALS } smma_rounded;

/* A plan in short. If `library` is set, it is that library's plan with the options `algo` to `fast`; otherwise it is
   made from the members that follow those. */
typedef struct {
  const char *library;
  int algo, stages, custom, split_k, reduction, fast;
  size_t parts, grain; /* of the outer level: number of parts, and products that their lengths are multiples of */
  size_t lanes, width; /* partitions: stripes of `width` in turn; 0: no partitions */
  size_t promote;      /* number of products after which the sum moves to the outer total; 0: never */
  size_t group, tile;  /* products of a call; tile that has the residue; 0: default */
  size_t lost_tail;
  smma_outer outer;
  smma_fold fold;
  smma_rounded rounded;
  smma_with with;
  int epilogue; /* number of a combination of choices: how alpha, beta, C and bias enter */
} smma_recipe;

/* Passes all recipes for the data to `take`, simple recipes first. Stops and returns false if `take` returns false.
   Includes recipes of libraries if they fit one of the instructions. */
typedef bool smma_recipe_taker(const smma_recipe *recipe, void *context);
bool smma_each_recipe(const smma_match_data *data, const smma_instruction *const *instruction, size_t instructions,
                      smma_recipe_taker *take, void *context);

/* Returns the plan of a recipe for the first instruction that the recipe fits. The caller owns the plan. Returns NULL
   if the recipe fits none of the instructions, or if memory runs out. */
smma_plan *smma_recipe_plan(const smma_recipe *recipe, const smma_match_data *data,
                            const smma_instruction *const *instruction, size_t instructions);

/* Writes a plan in words, without its epilogue; for a library, its configuration. */
void smma_recipe_text(const smma_recipe *recipe, char *text, size_t size);

#endif
