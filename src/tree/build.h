/* Builds the tree that explains which ones survive pairs of +M and -M, for one size of M and one size of ones. The
   caller has to check the tree. */
#ifndef SMMA_TREE_BUILD_H
#define SMMA_TREE_BUILD_H

#include "tree/ask.h"
#include "tree/tree.h"

/* Builds the tree of tree->summands, with the sizes of M and ones that these have. Returns SMMA_TREE_HIDDEN if no tree
   explains the unit's results. */
smma_tree_status smma_build_tree(smma_asker *asker, smma_tree *tree);

#endif
