/* Plans on a sample of elements: chains are computed once, whichever plans they belong to, and what plans do with their
   sums many times. */
#ifndef SMMA_MATCH_EVALUATE_H
#define SMMA_MATCH_EVALUATE_H

#include "match/match.h"

/* Elements of D with their operands. */
typedef struct {
  size_t row[SMMA_MATCH_SAMPLE], column[SMMA_MATCH_SAMPLE];
  void *a, *b; /* their rows of A and columns of B, one behind another */
  uint64_t d[SMMA_MATCH_SAMPLE];
} smma_match_elements;

/* Takes the elements at row[] and column[]; false without memory. */
bool smma_match_gather(const smma_match_data *data, smma_match_elements *elements);
void smma_match_elements_free(smma_match_elements *elements);

/* What a plan does for one K: plans with the same key are the same chains, folded in the same way. Unless
   zeros' signs count, ways that differ in them alone are the same. */
typedef struct {
  uint64_t word[2];
} smma_match_key;

/* Evaluates for classes whose instructions have the same K: for those numbered first, first + step and so on. */
typedef struct smma_evaluator smma_evaluator;
smma_evaluator *smma_evaluator_new(const smma_match_data *data, const smma_match_elements *elements,
                                   const smma_match_class *const *class, size_t classes, size_t first, size_t step,
                                   bool signed_zeros);
void smma_evaluator_free(smma_evaluator *evaluator);

/* Makes a plan the one that the following ask for; false where these instructions cannot follow it with this K, or
   memory runs out. Its key: with `step`, chains are the same however their calls are filled up with zeros, as long as
   these begin at multiples of it. */
bool smma_evaluator_take(smma_evaluator *evaluator, const smma_plan *plan);
smma_match_key smma_evaluator_key(const smma_evaluator *evaluator, size_t step);

/* Computes the chains that are new; false without memory. */
bool smma_evaluator_compute(smma_evaluator *evaluator);

/* The elements, in D's format, as the first instruction of a class, one of those evaluated for, computes them. */
void smma_evaluator_run(smma_evaluator *evaluator, size_t of, uint64_t d[SMMA_MATCH_SAMPLE]);

/* K of all chains computed so far. */
size_t smma_evaluator_products(const smma_evaluator *evaluator);

#endif
