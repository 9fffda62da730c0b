/* Predicts which ones survive +M and -M in an order of additions, and finds an unknown order from such results.

   A query sets one summand to +M, another to -M, and all others to ones. A one that is added after M and -M have
   cancelled reaches d. All other ones vanish, because they are added to M or -M and lost by rounding. M, and the
   algorithm for binary trees and trees of fused sums, are those of MMA-Sim, section III-C, and of FPRev (Xie, Gao,
   Wang, Xue, USENIX ATC 2025). */
#ifndef SMMA_TREE_ORDER_H
#define SMMA_TREE_ORDER_H

#include "tree/summands.h"

enum { SMMA_NO_PARENT = -1, SMMA_ALL_OTHERS = -1 };

typedef enum {
  SMMA_TREE_FOUND,
  SMMA_TREE_HIDDEN, /* the results do not determine an order; the error gives the reason */
  SMMA_TREE_FAILED  /* the unit failed, or memory ran out */
} smma_tree_status;

/* An order of summation as a tree. Nodes are the summands, then the sums. A sum of two terms is an addition. A sum
   of more terms is a fused sum, whose terms have no order. */
typedef struct {
  int count;   /* number of summands; the arrays must have room for 2 count - 1 nodes */
  int nodes;   /* number of summands and sums, so far */
  int root;    /* index of the node whose value is d */
  int *parent; /* for each node, the sum that it is a term of; SMMA_NO_PARENT for the root */
  bool *exact; /* for each node, whether it is a fused sum that adds ones to M without loss */
} smma_sum_order;

/* The source of results for queries about an order. */
typedef struct {
  void *context;
  /* Computes d for `count` queries: +M at `plus`, -M at minus[i], and ones at all remaining summands (or only at
     `one`). left[i] becomes the number of ones that reach d in query i. */
  smma_tree_status (*ask)(void *context, int plus, const int *minus, int count, int one, int *left);
  /* Returns SMMA_TREE_HIDDEN and sets the error: no order explains the result with +M and -M at these two summands. */
  smma_tree_status (*refuse)(void *context, int plus, int minus);
} smma_order_asker;

/* Finds the reduction order of `order->count` summands. The caller has to check it. Summands are paired in the order of
   `rank`, or of their numbers if `rank` is NULL. A chain of K summands needs about 2 K queries, a balanced binary tree
   K/2 log2 K, and a fused sum K^2/2. */
smma_tree_status smma_find_order(const smma_order_asker *asker, const int *rank, smma_sum_order *order);

/* The value of a sum. */
typedef struct {
  int huge; /* multiple of M */
  int ones; /* number of ones; 0 if `huge` is not 0 */
} smma_sum_of_ones;

/* The state of evaluating an order: an array with one entry for each node. */
typedef struct {
  int sequence;         /* of entry i: the node that is evaluated in step i, after its terms */
  int terms;            /* of entry n: number of terms of node n that are not yet in the sequence */
  bool has_huge_term;   /* of entry n: whether any term of node n is a nonzero multiple of M */
  smma_sum_of_ones sum; /* of entry n: value of node n */
} smma_order_entry;

/* Writes the evaluation sequence into `entry`, which has room for all nodes. */
void smma_read_order(const smma_sum_order *order, smma_order_entry *entry);

/* Returns d if the summands have the values `what`. `entry` must have the evaluation sequence. Sets `*greatest` to the
   greatest absolute multiple of M among all nodes. */
smma_sum_of_ones smma_predict(const smma_sum_order *order, smma_order_entry *entry, const smma_summand *what,
                              int *greatest);

#endif
