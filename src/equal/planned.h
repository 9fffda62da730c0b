/* Products with plans: whether two targets, each an instruction and a plan around it, compute the same function; and of
   one, which k may change places. */
#ifndef SMMA_EQUAL_PLANNED_H
#define SMMA_EQUAL_PLANNED_H

#include "equal/equal.h"
#include "plan/plan.h"

typedef struct {
  const char *label;
  const smma_instruction *instruction;
  const smma_plan *plan; /* NULL: one chain, which C begins */
} smma_planned;

/* A row of a longer product: of few of its k, all others being +0. */
typedef struct {
  smma_witness witness; /* as.k products */
  size_t k;             /* K of the product */
  size_t place[SMMA_MAXIMUM_ROUNDED_K];
  char with[200]; /* alpha and other operands of both epilogues, where they are not neutral; or empty */
} smma_planned_witness;

typedef struct {
  smma_answer answer;
  char why[1000];
  size_t k;          /* proved for this K; 0: for every K that both can follow */
  char neutral[200]; /* what only one of them takes and is neutral: "C (+0), alpha (1)"; or empty */
  smma_planned_witness row;
} smma_planned_equality;

/* K of 0: whether it is so for every K, or which is the least that tells. At most `rows` rows are searched. False with
   one line where the products are not of the same formats, or no plan can be followed. */
bool smma_find_planned_equality(const smma_planned target[2], size_t k, uint64_t rows, uint64_t seed,
                                smma_planned_equality *equality, smma_error *error);

typedef struct {
  size_t k;                    /* the product's */
  smma_planned_equality order; /* with its k in another order it computes the same function */
  size_t exchanged[2];         /* refuted: these two k have changed places */
  char within[400];            /* which k may change places with k = 0, proved: "1 to 15, 64 to 79"; or empty */
} smma_planned_freedom;

/* K of 0: the least of which the plan makes more than one chain, or two calls. */
bool smma_find_planned_freedom(const smma_planned *target, size_t k, uint64_t rows, uint64_t seed,
                               smma_planned_freedom *freedom, smma_error *error);

#endif
