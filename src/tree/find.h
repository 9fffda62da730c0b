/* The summation tree of a unit, found from its results. */
#ifndef SMMA_TREE_FIND_H
#define SMMA_TREE_FIND_H

#include "tree/ask.h"
#include "tree/tree.h"

/* Finds the tree. It predicts every test vector that was used to find and to check it. */
smma_tree_status smma_find_tree(smma_unit *unit, const smma_instruction *instruction, smma_tree *tree,
                                smma_error *error);

#endif
