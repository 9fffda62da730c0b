/* The summation tree of a unit, found from its results. */
#ifndef SMMA_TREE_FIND_H
#define SMMA_TREE_FIND_H

#include "tree/ask.h"
#include "tree/tree.h"

/* Finds the unit's summation tree. If it returns SMMA_TREE_FOUND, the tree gives the unit's result for every test
   vector that was computed to find and to check it. Otherwise `error` has the reason. */
smma_tree_status smma_find_tree(smma_unit *unit, const smma_instruction *instruction, smma_tree *tree,
                                smma_error *error);

#endif
