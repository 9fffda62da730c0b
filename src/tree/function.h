/* Finds the order in which a function, such as a library's matrix product or a kernel, sums K products. Uses the search
   for units (tree/order.h). A function differs from a unit in three points: K may be thousands, there is no c, and each
   query is a separate call. Therefore only samples of queries are used to choose M and the ones, and to check the
   order. */
#ifndef SMMA_TREE_FUNCTION_H
#define SMMA_TREE_FUNCTION_H

#include "tree/order.h"

enum { SMMA_MOST_FUNCTION_K = 1 << 20 };

/* The function under test. `call` computes d from K elements of A and K of B, given as encodings; it returns false on
   failure. */
typedef struct {
  int k; /* 1 to SMMA_MOST_FUNCTION_K */
  smma_format a, b, d;
  uint64_t seed;
  bool (*call)(void *context, const uint64_t *a, const uint64_t *b, double *d);
  void *context;
} smma_function;

/* Finds the order and checks it with 64 random queries. The arrays of `order` must have room for 2 K - 1 nodes. Returns
   SMMA_TREE_HIDDEN with the reason if the results do not determine an order. */
smma_tree_status smma_find_order_of_function(const smma_function *function, smma_sum_order *order, smma_error *error);

#endif
