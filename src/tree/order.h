/* An order of additions, what it leaves of ones beside +M and -M, and how it is found from that.

   With +M and -M at two summands and ones at all others, the ones that reach d are those that are added after the two
   have met: the others vanish beside M. M, and the algorithm for binary trees and trees of fused sums, are those of
   MMA-Sim, section III-C, and of FPRev (Xie, Gao, Wang, Xue, USENIX ATC 2025). */
#ifndef SMMA_TREE_ORDER_H
#define SMMA_TREE_ORDER_H

#include "tree/summands.h"

enum { SMMA_NO_PARENT = -1, SMMA_ALL_OTHERS = -1 };

typedef enum {
  SMMA_TREE_FOUND,
  SMMA_TREE_HIDDEN, /* the results do not tell; the error says why */
  SMMA_TREE_FAILED  /* the unit did not compute, or there is no memory */
} smma_tree_status;

/* Nodes are the summands, then the sums. A sum of two is an addition; of more, a fused sum, in which no order shows. */
typedef struct {
  int count;       /* of summands; the arrays have room for 2 count - 1 nodes */
  int nodes, root; /* nodes: so far */
  int *parent;     /* of the root: SMMA_NO_PARENT */
  bool *exact;     /* a fused sum in which ones are not lost beside M */
} smma_sum_order;

/* Who answers questions about an order. */
typedef struct {
  void *context;
  /* Sets +M at `plus` against -M at each of `count` others in turn, with ones at all remaining summands, or at `one`
     alone. left[i] becomes the number of ones that come through beside minus[i]. */
  smma_tree_status (*ask)(void *context, int plus, const int *minus, int count, int one, int *left);
  /* HIDDEN, with the reason: no order explains what M at two summands leaves. */
  smma_tree_status (*refuse)(void *context, int plus, int minus);
} smma_order_asker;

/* Finds the order of `order->count` summands. The caller has to check it. `rank` says in which turn each summand is set
   against others; NULL: by number. A chain takes about 2 K questions, pairs of pairs K/2 log2 K, a fused sum K^2/2. */
smma_tree_status smma_find_order(const smma_order_asker *asker, const int *rank, smma_sum_order *order);

/* The value of a sum: a multiple of M, or, if that multiple is zero, a number of ones. */
typedef struct {
  int huge, ones;
} smma_sum_of_ones;

/* An order as it is evaluated: one entry for each node. */
typedef struct {
  int sequence; /* the nodes, each after those below it */
  int terms;    /* that the node still waits for */
  bool beside;  /* whether any of its terms is a multiple of M */
  smma_sum_of_ones sum;
} smma_order_entry;

/* Writes the sequence into `entry`, which has room for all nodes. */
void smma_read_order(const smma_sum_order *order, smma_order_entry *entry);

/* Returns d for summands that are `what`. `*greatest`: the greatest multiple of M that any sum is. */
smma_sum_of_ones smma_predict(const smma_sum_order *order, smma_order_entry *entry, const smma_summand *what,
                              int *greatest);

#endif
