/* A summation tree: which summands a unit adds before which. */
#ifndef SMMA_TREE_TREE_H
#define SMMA_TREE_TREE_H

#include "tree/order.h"

enum { SMMA_MOST_TREE_NODES = 2 * SMMA_MOST_SUMMANDS - 1 };

/* An order of summands (tree/order.h), c among them, and what else is known of its sums. */
typedef struct {
  smma_summands summands;
  int nodes, root;
  int parent[SMMA_MOST_TREE_NODES];  /* of the root: SMMA_NO_PARENT */
  bool exact[SMMA_MOST_TREE_NODES];  /* a fused sum in which ones are not lost beside M */
  bool uneven[SMMA_MOST_TREE_NODES]; /* a fused sum in which what a term loses depends on which others are great */
  bool hidden[SMMA_MOST_TREE_NODES]; /* a fused sum that goes into another, which loses as much: its stages do not show
                                      */
  size_t rows, checks;               /* asked to find the tree, and to check it */
} smma_tree;

/* The order of a tree: a view of its arrays. */
smma_sum_order smma_order_of(smma_tree *tree);

/* The children of a sum: the one with c first, then by their least k. Returns their number. */
int smma_tree_children(const smma_tree *tree, int node, int child[SMMA_MOST_SUMMANDS]);

/* Whether the node is a summand, no sum. */
bool smma_tree_is_leaf(const smma_tree *tree, int node);

/* What a sum is. Whether a scale block's own products are added before, or fused with the other term of a sum of two,
   is not asked. */
typedef enum { SMMA_ADDITION, SMMA_FUSED_SUM, SMMA_SUM_OF_BLOCKS } smma_sum_kind;
smma_sum_kind smma_kind_of_sum(const smma_tree *tree, int node);

/* Summands at or below the node. */
int smma_tree_size(const smma_tree *tree, int node);

/* Whether both have sums of the same summands. */
bool smma_same_order(const smma_tree *x, const smma_tree *y);

#endif
