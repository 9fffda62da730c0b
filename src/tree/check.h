/* Predicts from a tree the results for test vectors of +M, -M and ones, and checks that the unit returns them. */
#ifndef SMMA_TREE_CHECK_H
#define SMMA_TREE_CHECK_H

#include "tree/ask.h"
#include "tree/tree.h"

/* Checks what must be true in every order: M alone, -M alone, one one alone, and ones at all summands together reach d.
   Increases the size of the ones if that is necessary. Returns HIDDEN with the reason if the ones would then be too
   close to M. */
smma_tree_status smma_settle_ones(smma_asker *asker, smma_summands *summands);

/* Checks every pair of +M and -M, and random test vectors with up to six of them and with ones. Returns HIDDEN if
   the unit returns anything other than the tree's prediction. */
smma_tree_status smma_check_tree(smma_asker *asker, smma_tree *tree);

#endif
