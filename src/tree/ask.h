/* Rows with +M and -M at two summands and ones at some others. */
#ifndef SMMA_TREE_ASK_H
#define SMMA_TREE_ASK_H

#include "tree/summands.h"
#include "unit/unit.h"

/* A batch holds all partners of a summand. */
enum { SMMA_MOST_QUESTIONS = SMMA_MOST_SUMMANDS - 1 };

typedef struct {
  int plus, minus;
  bool one[SMMA_MOST_SUMMANDS];
} smma_tree_question;

/* Who answers: a unit, with room for the rows of a batch. */
typedef struct {
  smma_unit *unit;
  smma_rows rows;
  smma_error *error;
} smma_asker;

/* Computes one batch; d[i] answers q[i]. False if the unit fails. */
bool smma_ask(smma_asker *asker, const smma_summands *summands, const smma_tree_question *q, size_t count, uint64_t *d);

#endif
