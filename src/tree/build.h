/* The tree that explains what pairs of +M and -M leave of ones at one choice of both, to be checked.

   With +M and -M at two summands and ones at all others, the ones that reach d are those that are added after the two
   have met: the others vanish beside M. M, and the algorithm for binary trees and trees of fused sums, are those of
   MMA-Sim, section III-C, and of FPRev (Xie, Gao, Wang, Xue, USENIX ATC 2025). */
#ifndef SMMA_TREE_BUILD_H
#define SMMA_TREE_BUILD_H

#include "tree/ask.h"
#include "tree/tree.h"

/* Of `tree->summands`. HIDDEN if no tree explains what was asked. */
smma_tree_status smma_build_tree(smma_asker *asker, smma_tree *tree);

#endif
