/* The summation tree of a unit, found from its results: which summands are added before which.

   With +M and -M at two summands and ones at all others, the ones that reach d are those that are added after the two
   have met: the others vanish beside M. M, and the algorithm for binary trees and trees of fused sums, are those of
   MMA-Sim, section III-C, and of FPRev (Xie, Gao, Wang, Xue, USENIX ATC 2025). */
#ifndef SMMA_TREE_TREE_H
#define SMMA_TREE_TREE_H

#include "tree/summands.h"
#include "unit/unit.h"

enum { SMMA_MOST_TREE_NODES = 2 * SMMA_MOST_SUMMANDS - 1, SMMA_NO_PARENT = -1 };

/* Nodes are the summands, then the sums. A sum of two is an addition; of more, a fused sum, whose inner order cannot be
   observed. */
typedef struct {
  smma_summands summands;
  int nodes, root;
  int parent[SMMA_MOST_TREE_NODES]; /* of the root: SMMA_NO_PARENT */
  bool exact[SMMA_MOST_TREE_NODES]; /* a fused sum in which ones are not lost beside M */
  size_t rows, checks;              /* asked to find the tree, and to check it */
} smma_tree;

typedef enum {
  SMMA_TREE_FOUND,
  SMMA_TREE_HIDDEN, /* the results do not tell; the error says why */
  SMMA_TREE_FAILED  /* the unit did not compute, or there is no memory */
} smma_tree_status;

/* The tree, which predicts every row that was asked, and others at random. */
smma_tree_status smma_find_tree(smma_unit *unit, const smma_instruction *instruction, smma_tree *tree,
                                smma_error *error);

/* The children of a sum: the one with c first, then by their least k. Returns their number. */
int smma_tree_children(const smma_tree *tree, int node, int child[SMMA_MOST_SUMMANDS]);

/* Whether the node is a summand, no sum. */
bool smma_tree_is_leaf(const smma_tree *tree, int node);

/* Summands at or below the node. */
int smma_tree_size(const smma_tree *tree, int node);

#endif
