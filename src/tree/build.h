/* The tree that explains what pairs of +M and -M leave of ones at one choice of both, to be checked. */
#ifndef SMMA_TREE_BUILD_H
#define SMMA_TREE_BUILD_H

#include "tree/ask.h"
#include "tree/tree.h"

/* Of `tree->summands`. HIDDEN if no tree explains what was asked. */
smma_tree_status smma_build_tree(smma_asker *asker, smma_tree *tree);

#endif
