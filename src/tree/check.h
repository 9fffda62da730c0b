/* Predicts from a tree the results for test vectors of +M, -M and ones, and checks that the unit returns them. */
#ifndef SMMA_TREE_CHECK_H
#define SMMA_TREE_CHECK_H

#include "tree/ask.h"
#include "tree/tree.h"

/* Checks what must be true in every order: M alone, -M alone, a single one alone, and ones at all summands together
   reach d. Increases the size of the ones in `summands` if that is necessary. Returns SMMA_TREE_HIDDEN with the reason
   if the ones would then be too close to M. */
smma_tree_status smma_settle_ones(smma_asker *asker, smma_summands *summands);

/* Checks the tree's prediction for +M and -M at every pair of summands, and for random test vectors with up to three
   +M, three -M and ones. Returns SMMA_TREE_HIDDEN if a result of the unit differs from the prediction. */
smma_tree_status smma_check_tree(smma_asker *asker, smma_tree *tree);

#endif
