/* The parts of a comparison of products with plans (equal/planned.h): two targets, their schedules for one K, proofs
   that their sums are the same function, and the search for a test vector that tells them apart. */
#ifndef SMMA_EQUAL_PLANNED_PARTS_H
#define SMMA_EQUAL_PLANNED_PARTS_H

#include "equal/planned_unit.h"

/* Two targets, and everything about them that does not depend on K. */
typedef struct {
  const smma_planned *target;
  const smma_plan *plan[2];
  smma_operation operation[2];
  bool takes_c;                    /* both take C */
  smma_planned_factors factors[2]; /* [0]: neutral factors; [1]: other values for the operands that both targets take */
  smma_planned_equality *result;
  smma_error *error;
} smma_planned_pair;

/* The schedules of both targets for one K. */
typedef struct {
  size_t k;
  smma_schedule schedule[2];
} smma_planned_schedules;

/* ---- Proof ---- */

/* Reports whether both plans have the same steps after the sum. */
bool smma_same_epilogue(const smma_plan *x, const smma_plan *y);

/* Reports whether the rules of both instructions are the same function, NaN included. */
bool smma_planned_same_rules(const smma_planned_pair *x);

/* Reports whether every sum on the way is exact in both schedules. */
bool smma_planned_are_exact(const smma_planned_pair *x, const smma_planned_schedules *s);

/* Reports whether an operation adds integers modulo 2^32. */
bool smma_wraps(const smma_operation *operation);

/* Why the sums of both targets are proved to be the same. */
typedef enum { SMMA_SUMS_UNPROVED, SMMA_SUMS_SAME, SMMA_SUMS_EXACT, SMMA_SUMS_NO_MEMORY } smma_planned_proof;

/* Attempts a proof for one K. */
smma_planned_proof smma_planned_prove(const smma_planned_pair *x, const smma_planned_schedules *s);

/* Attempts a proof for every K; writes the reason into the result. */
bool smma_planned_prove_for_all(const smma_planned_pair *x);

/* ---- Search ---- */

/* The comparison to make: of the first target with the second or, if `exchanged`, with itself after two k are
   exchanged. */
typedef struct {
  bool exchanged;
  size_t k[2];
} smma_planned_exchange;

/* Searches about `rows` test vectors, with neutral factors and with others, for products at several choices of k. The
   result receives the vector found, and the number of vectors searched. Returns false with an error if a unit fails. */
bool smma_planned_search(const smma_planned_pair *x, const smma_planned_schedules *s, const smma_planned_exchange *e,
                         uint64_t rows, uint64_t seed);

#endif
