/* A row of which two units' results differ, searched among rows that are made for it and random ones, and made small.
 */
#ifndef SMMA_EQUAL_WITNESS_H
#define SMMA_EQUAL_WITNESS_H

#include "unit/unit.h"

typedef struct {
  bool found;
  smma_instruction as; /* whose rows: formats and K of the product */
  int terms;           /* of the row that are not +0 */
  smma_row row;        /* d: the first unit's */
  uint64_t other;      /* the other's */
  uint64_t rows;       /* asked, before the row was made small */
} smma_witness;

/* What is searched. */
typedef struct {
  smma_unit *unit[2];
  const smma_instruction *as;
  const smma_rule *rule[2]; /* whose bits are worth asking at */
  bool without_c;           /* c is +0 in every row */
  uint64_t rows, seed;      /* at most so many rows */
} smma_search;

/* False with one line if a unit fails. */
bool smma_find_witness(const smma_search *search, smma_witness *witness, smma_error *error);

/* Half of the rows that a search asks: few terms, in exponents where alignment and rounding of these rules cut, next to
   each other, about the least results, or at the ends of the formats; zeros of both signs elsewhere. */
void smma_directed_row(const smma_search *search, uint64_t index, smma_row *row);

#endif
