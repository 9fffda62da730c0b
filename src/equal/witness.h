/* Searches directed and random vectors for one on which two units differ, and minimises it. */
#ifndef SMMA_EQUAL_WITNESS_H
#define SMMA_EQUAL_WITNESS_H

#include "campaign/common.h"
#include "unit/unit.h"

typedef struct {
  bool found;
  smma_instruction as; /* formats and K of the vector */
  int terms;           /* terms of the vector that are not +0 */
  smma_row row;        /* d is the first unit's result */
  uint64_t other;      /* the second unit's result */
  uint64_t rows;       /* vectors asked before minimisation */
  bool is_common;      /* operands are numbers that both targets' formats represent */
} smma_witness;

/* A search for a witness. */
typedef struct {
  smma_unit *unit[2];
  const smma_instruction *as;
  const smma_rule *rule[2];           /* the rules whose retained bits the directed vectors target */
  bool without_c;                     /* c is +0 in every vector */
  const smma_common_operands *common; /* the operands that the units compute; NULL: any */
  uint64_t rows, seed;                /* limit of vectors; seed */
} smma_search;

/* Runs a search. Returns false with a message if a unit fails. */
bool smma_find_witness(const smma_search *search, smma_witness *witness, smma_error *error);

/* Makes a directed vector; half of the vectors of a search are directed. Has few terms, whose exponents are where
   these rules align and round, adjacent, near the least results, or at the limits of the formats. All other products
   are zeros of either sign. */
void smma_directed_row(const smma_search *search, uint64_t index, smma_row *row);

#endif
