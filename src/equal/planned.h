/* Compares products with plans: whether two targets, each an instruction and a plan around it, compute the same
   function; or, for a single target, which k may change places. */
#ifndef SMMA_EQUAL_PLANNED_H
#define SMMA_EQUAL_PLANNED_H

#include "equal/equal.h"
#include "plan/plan.h"

typedef struct {
  const char *label;
  const smma_instruction *instruction;
  const smma_plan *plan; /* NULL: a single chain that starts from C */
} smma_planned;

/* A test vector of a long product. It gives the operands at a few k of the product; the operands at all other k are +0.
 */
typedef struct {
  smma_witness witness; /* the vector has as.k products */
  size_t k;             /* K of the whole product */
  size_t place[SMMA_MAXIMUM_ROUNDED_K];
  char with[200]; /* alpha and other epilogue operands that are not neutral; may be empty */
} smma_planned_witness;

typedef struct {
  smma_answer answer;
  char why[1000];
  size_t k;          /* if proved: the K for which it holds; 0: every K that both plans allow. Otherwise the last K that
                        was searched */
  size_t searched;   /* number of K that were searched */
  char neutral[200]; /* operands that only one target takes and that are set to neutral values, for example "C (+0),
                        alpha (1)"; may be empty */
  smma_planned_witness row;
} smma_planned_equality;

/* Compares two targets for one K. For k = 0, for every K: proves equality, or finds the least K that tells them
   apart. Searches about `rows` vectors. Returns false with a message if the products have different formats, or if
   no plan can be followed. */
bool smma_find_planned_equality(const smma_planned target[2], size_t k, uint64_t rows, uint64_t seed,
                                smma_planned_equality *equality, smma_error *error);

typedef struct {
  size_t k;                    /* K of the product */
  smma_planned_equality order; /* whether another order of k gives the same function */
  size_t exchanged[2];         /* if refuted: the two exchanged k */
  char within[400]; /* k that are proved to be exchangeable with k = 0, for example "1 to 15, 64 to 79"; may be empty */
} smma_planned_freedom;

/* Examines the order of one target's k. For k = 0, chooses the least K for which the plan makes two chains, or two
   calls. */
bool smma_find_planned_freedom(const smma_planned *target, size_t k, uint64_t rows, uint64_t seed,
                               smma_planned_freedom *freedom, smma_error *error);

#endif
