/* What a tree says that rows of +M, -M and ones give, and whether a unit gives it. */
#ifndef SMMA_TREE_CHECK_H
#define SMMA_TREE_CHECK_H

#include "tree/ask.h"
#include "tree/tree.h"

/* What all orders have in common: M, -M, and a one come through alone, and so do ones at all summands at once. Makes
   ones as much larger as that takes; HIDDEN with the reason where they come too near to M. */
smma_tree_status smma_settle_ones(smma_asker *asker, smma_summands *summands);

/* Every pair of +M and -M, and rows of up to six of them, with ones at random. HIDDEN, if the unit gives anything else
   than the tree says. */
smma_tree_status smma_check_tree(smma_asker *asker, smma_tree *tree);

#endif
