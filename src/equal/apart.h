/* Rows on which several units differ: those that are worth asking whoever can ask the real thing. */
#ifndef SMMA_EQUAL_APART_H
#define SMMA_EQUAL_APART_H

#include "unit/unit.h"

enum { SMMA_MOST_APART = 16 };

typedef struct {
  smma_unit *unit[SMMA_MOST_APART];
  int units;
  const smma_instruction *as; /* whose rows; any two NaN are one result where its rule leaves the payload open */
  uint64_t rows, seed;        /* to be searched for each pair, at most */
  size_t wanted;              /* rows at most in the end */
} smma_apart_search;

typedef struct {
  smma_rows rows; /* the best first; d is the first unit's */
  size_t count;
  uint64_t *other;                             /* of row r and unit u at r * units + u */
  int *distinct;                               /* how many different results each row has */
  bool told[SMMA_MOST_APART][SMMA_MOST_APART]; /* pairs, the smaller number first, that one of the rows tells apart */
  bool all_told;
} smma_apart;

/* Reports whether a unit can be one of them; false with one line. */
bool smma_apart_check(smma_unit *unit, const smma_instruction *as, smma_error *error);

/* As few rows as tell every pair apart, one row for all of them if there is such a row; behind them others, those with
   the most different results first. False with one line if a unit fails; free in both cases. */
bool smma_find_apart(const smma_apart_search *search, smma_apart *apart, smma_error *error);
void smma_free_apart(smma_apart *apart);

/* Returns {"arch", "instr", "units", "rows", "not_told_apart"}; a row has its operands, every unit's "d", and how many
   of these are "different". */
smma_datum *smma_apart_datum(const smma_apart_search *search, const smma_apart *apart);

#endif
