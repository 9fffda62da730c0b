/* Rows of +M, -M and ones, as a unit answers them. */
#ifndef SMMA_TREE_ASK_H
#define SMMA_TREE_ASK_H

#include "tree/order.h"
#include "unit/unit.h"

/* A batch holds a row for each summand. */
enum { SMMA_MOST_QUESTIONS = SMMA_MOST_SUMMANDS };

/* Who answers: a unit, with room for the rows of a batch. */
typedef struct {
  smma_unit *unit;
  smma_rows rows;
  size_t asked; /* rows so far */
  smma_error *error;
} smma_asker;

/* Computes one batch; d[i] answers q[i]. FOUND, or FAILED if the unit fails. */
smma_tree_status smma_ask(smma_asker *asker, const smma_summands *summands, const smma_tree_question *q, size_t count,
                          uint64_t *d);

/* HIDDEN: no tree gives what the unit gives for this row. */
smma_tree_status smma_refuse(smma_asker *asker, const smma_summands *summands, const smma_tree_question *q);

#endif
