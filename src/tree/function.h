/* The order in which a function sums K products: a library's matrix product, a kernel. Units and functions are asked by
   one search (tree/order.h). A function differs from a unit in three points: K may be thousands, there is no c, and
   each question is a call. Therefore M and ones are settled, and the order is checked, on samples. */
#ifndef SMMA_TREE_FUNCTION_H
#define SMMA_TREE_FUNCTION_H

#include "tree/order.h"

enum { SMMA_MOST_FUNCTION_K = 1 << 20 };

/* A function to be asked. `call` computes d of K elements of A and of B, given as encodings; false: it failed. */
typedef struct {
  int k; /* 1 to SMMA_MOST_FUNCTION_K */
  smma_format a, b, d;
  uint64_t seed;
  bool (*call)(void *context, const uint64_t *a, const uint64_t *b, double *d);
  void *context;
} smma_function;

/* Finds the order, whose arrays have room for 2 K - 1 nodes, and checks it with 64 questions at random. HIDDEN with the
   reason where results do not tell. */
smma_tree_status smma_find_order_of_function(const smma_function *function, smma_sum_order *order, smma_error *error);

#endif
