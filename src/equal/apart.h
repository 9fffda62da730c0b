/* Finds test vectors that tell several units apart, for example to run these vectors on hardware. */
#ifndef SMMA_EQUAL_APART_H
#define SMMA_EQUAL_APART_H

#include <stdio.h>

#include "unit/unit.h"

enum { SMMA_MOST_APART = 16 };

typedef struct {
  smma_unit *unit[SMMA_MOST_APART];
  int units;
  const smma_instruction *as; /* the vectors' instruction; if its rule leaves NaN payloads open, all NaNs are equal */
  uint64_t rows, seed;        /* rows: greatest number of vectors searched for each pair */
  size_t most;                /* greatest number of vectors returned */
} smma_apart_search;

typedef struct {
  smma_rows rows; /* best first; d is the first unit's result */
  size_t count;
  uint64_t *other; /* result of unit u for vector r, at r * units + u */
  int *distinct;   /* number of different results of each vector */
  bool is_separated[SMMA_MOST_APART]
                   [SMMA_MOST_APART]; /* whether a vector distinguishes a pair of units; the smaller index is first */
  bool is_found[SMMA_MOST_APART][SMMA_MOST_APART]; /* like is_separated, by a searched vector, returned or not */
  bool all_separated;
} smma_apart;

/* Reports whether a unit can take part in the search; if not, returns false with a message. */
bool smma_apart_check(smma_unit *unit, const smma_instruction *as, smma_error *error);

/* Finds few vectors that tell all pairs apart, a single vector if one of those searched does. Adds others up to the limit,
   those with the most different results first. Returns false with a message if a unit fails; free `apart` in both
   cases. */
bool smma_find_apart(const smma_apart_search *search, smma_apart *apart, smma_error *error);
void smma_free_apart(smma_apart *apart);

/* Writes the vectors as a vector file in text, each after a comment with the result of every unit. */
void smma_apart_write(FILE *stream, const smma_apart_search *search, const smma_apart *apart);

/* Returns a record with "arch", "instr", "units", "rows", "not_told_apart" and "need_more_rows". Each row has its
   operands, every unit's "d", and the number of "different" results. "not_told_apart" lists the pairs of units that no
   row distinguishes, and "need_more_rows" those of them that a searched vector beyond the limit distinguishes. */
smma_datum *smma_apart_datum(const smma_apart_search *search, const smma_apart *apart);

#endif
