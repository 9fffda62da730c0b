/* Evaluates plans on a sample of elements. Each chain is computed once, however many plans contain it; only the
   folding of chains is repeated for each plan. */
#ifndef SMMA_MATCH_EVALUATE_H
#define SMMA_MATCH_EVALUATE_H

#include "match/match.h"

/* Sampled elements of D with their operands. */
typedef struct {
  size_t row[SMMA_MATCH_SAMPLE], column[SMMA_MATCH_SAMPLE];
  void *a, *b; /* the elements' rows of A and columns of B, one after another */
  uint64_t d[SMMA_MATCH_SAMPLE];
} smma_match_elements;

/* Gathers the elements at row[] and column[]; false if memory runs out. */
bool smma_match_gather(const smma_match_data *data, smma_match_elements *elements);
void smma_match_elements_free(smma_match_elements *elements);

/* Identity of a plan's computation for one K: plans with the same key compute the same chains and fold them in the same
   way. Differences in the signs of zeros count only with signed_zeros. */
typedef struct {
  uint64_t word[2];
} smma_match_key;

/* Creates an evaluator for classes whose instructions have the same K. It evaluates classes first, first + step, and
   so on. */
typedef struct smma_evaluator smma_evaluator;
smma_evaluator *smma_evaluator_new(const smma_match_data *data, const smma_match_elements *elements,
                                   const smma_match_class *const *class, size_t classes, size_t first, size_t step,
                                   bool signed_zeros);
void smma_evaluator_free(smma_evaluator *evaluator);

/* smma_evaluator_take sets the plan for the following calls; false if these instructions cannot follow it with this K,
   or if memory runs out. smma_evaluator_key returns the plan's key; with `step`, zeros that fill up calls do not change
   the key as long as the zeros begin at multiples of `step`. */
bool smma_evaluator_take(smma_evaluator *evaluator, const smma_plan *plan);
smma_match_key smma_evaluator_key(const smma_evaluator *evaluator, size_t step);

/* Computes chains that are new; false if memory runs out. For classes that only the core computes, these are the
   first few elements; smma_evaluator_complete computes the others, too, for class number `of`. */
bool smma_evaluator_compute(smma_evaluator *evaluator);
bool smma_evaluator_complete(smma_evaluator *evaluator, size_t of);

/* Computes the elements, in D's format, as the first instruction of class number `of` does; it must be one of the
   evaluated classes. Returns the number of elements: SMMA_MATCH_SAMPLE, or those that are computed. */
size_t smma_evaluator_run(smma_evaluator *evaluator, size_t of, uint64_t d[SMMA_MATCH_SAMPLE]);

/* Returns the number of products of all chains computed so far. */
size_t smma_evaluator_products(const smma_evaluator *evaluator);

#endif
