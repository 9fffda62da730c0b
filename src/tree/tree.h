/* A summation tree: which summands a unit adds before which. */
#ifndef SMMA_TREE_TREE_H
#define SMMA_TREE_TREE_H

#include "tree/order.h"

enum { SMMA_MOST_TREE_NODES = 2 * SMMA_MOST_SUMMANDS - 1 };

/* A summation tree: an order of the summands, including c (tree/order.h), and other facts about its sums. */
typedef struct {
  smma_summands summands;
  int nodes, root;
  int parent[SMMA_MOST_TREE_NODES];  /* SMMA_NO_PARENT for the root */
  bool exact[SMMA_MOST_TREE_NODES];  /* a fused sum that adds ones to M without loss */
  bool uneven[SMMA_MOST_TREE_NODES]; /* a fused sum: the loss of a term depends on which other terms are large */
  bool hidden[SMMA_MOST_TREE_NODES]; /* a fused sum whose stages the results hide, for example because it lies within
                                        another fused sum with the same loss */
  size_t rows, checks;               /* number of test vectors used to find the tree, and to check it */
} smma_tree;

/* Returns the tree's order, which shares the tree's arrays. */
smma_sum_order smma_order_of(smma_tree *tree);

/* Fills `child` with the children of a sum: first the child that contains c, then the others by their least k. Returns
   their number. */
int smma_tree_children(const smma_tree *tree, int node, int child[SMMA_MOST_SUMMANDS]);

/* Reports whether the node is a summand, not a sum. */
bool smma_tree_is_leaf(const smma_tree *tree, int node);

/* The kind of a sum. SMMA_SUM_OF_BLOCKS is the sum of a scale block and another term: the search does not determine
   whether the block's products are added first or fused with the other term. */
typedef enum { SMMA_ADDITION, SMMA_FUSED_SUM, SMMA_SUM_OF_BLOCKS } smma_sum_kind;
smma_sum_kind smma_kind_of_sum(const smma_tree *tree, int node);

/* Returns the number of summands at or below the node. */
int smma_tree_size(const smma_tree *tree, int node);

/* Reports whether both trees have the same sums of the same summands. */
bool smma_same_order(const smma_tree *x, const smma_tree *y);

#endif
