/* Evaluates plans on a sample of elements. A chain that several plans contain is computed only once; only the folding
   of chains is repeated for each plan. */
#ifndef SMMA_MATCH_EVALUATE_H
#define SMMA_MATCH_EVALUATE_H

#include "match/match.h"

/* Sampled elements of D with their operands. */
typedef struct {
  size_t row[SMMA_MATCH_SAMPLE], column[SMMA_MATCH_SAMPLE];
  void *a, *b; /* the elements' rows of A and columns of B, one after another */
  uint64_t d[SMMA_MATCH_SAMPLE];
} smma_match_elements;

/* Gathers the elements at row[] and column[]. Returns false if memory runs out. */
bool smma_match_gather(const smma_match_data *data, smma_match_elements *elements);
void smma_match_elements_free(smma_match_elements *elements);

/* Identity of a plan's computation for one K: plans with the same key compute the same chains and fold them in the same
   way. Plans that differ only in the signs of zeros have the same key, unless the evaluator has `signed_zeros`. */
typedef struct {
  uint64_t word[2];
} smma_match_key;

bool smma_match_same_key(smma_match_key x, smma_match_key y);

/* Creates an evaluator. The instructions of all classes must have the same K. It evaluates the classes with indices
   first, first + step, and so on. */
typedef struct smma_evaluator smma_evaluator;
smma_evaluator *smma_evaluator_new(const smma_match_data *data, const smma_match_elements *elements,
                                   const smma_match_class *const *class, size_t classes, size_t first, size_t step,
                                   bool signed_zeros);
void smma_evaluator_free(smma_evaluator *evaluator);

/* smma_evaluator_take sets the plan for the following calls. Returns false if the instructions cannot follow the plan
   with this K, or if memory runs out. smma_evaluator_key returns the plan's key. If `step` is not 0, zeros that fill up
   a call do not change the key if they begin at a multiple of `step`. */
bool smma_evaluator_take(smma_evaluator *evaluator, const smma_plan *plan);
smma_match_key smma_evaluator_key(const smma_evaluator *evaluator, size_t step);

/* smma_evaluator_compute computes the chains of the plan that are not yet computed. For classes that only the core can
   compute, it computes only the first few elements; smma_evaluator_complete computes the remaining elements for class
   number `of`. Both return false if memory runs out. */
bool smma_evaluator_compute(smma_evaluator *evaluator);
bool smma_evaluator_complete(smma_evaluator *evaluator, size_t of);

/* Computes the elements of D as the first instruction of class number `of` does; the evaluator must evaluate this
   class. Returns the number of computed elements, at most SMMA_MATCH_SAMPLE. */
size_t smma_evaluator_run(smma_evaluator *evaluator, size_t of, uint64_t d[SMMA_MATCH_SAMPLE]);

/* Returns the number of products of all chains computed so far. */
size_t smma_evaluator_products(const smma_evaluator *evaluator);

#endif
