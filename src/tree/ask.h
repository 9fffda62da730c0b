/* Runs test vectors of +M, -M and ones on a unit. */
#ifndef SMMA_TREE_ASK_H
#define SMMA_TREE_ASK_H

#include "tree/order.h"
#include "unit/unit.h"

/* Maximum number of test vectors in a batch: one for each summand. */
enum { SMMA_MOST_QUESTIONS = SMMA_MOST_SUMMANDS };

/* The unit that is queried, with room for the test vectors of a batch. */
typedef struct {
  smma_unit *unit;
  smma_rows rows;
  size_t asked; /* test vectors computed so far */
  size_t calls; /* calls of the unit so far */
  smma_error *error;
} smma_asker;

/* Lets the unit compute one batch; d[i] receives the result of q[i]. Returns SMMA_TREE_FOUND, or SMMA_TREE_FAILED if
   the unit fails. */
smma_tree_status smma_ask(smma_asker *asker, const smma_summands *summands, const smma_tree_question *q, size_t count,
                          uint64_t *d);

/* Returns SMMA_TREE_HIDDEN, with the error that no tree gives the unit's result for this test vector. */
smma_tree_status smma_refuse(smma_asker *asker, const smma_summands *summands, const smma_tree_question *q);

#endif
