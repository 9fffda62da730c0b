/* Summation trees as an instruction's algorithm and parameters say, to compare with those that are found. */
#ifndef SOFTMMA_TESTS_EXPECTED_TREE_H
#define SOFTMMA_TESTS_EXPECTED_TREE_H

#include "tree/tree.h"

/* The tree of the summands: a sum of two or more of them for each rounding or alignment of the algorithm. Of a scale
   block it is number `product[summand]` that is summed; the first of each if `product` is NULL. */
void expect_tree(const smma_instruction *instruction, const smma_summands *summands, const int *product,
                 smma_tree *tree);

/* Whether both have sums of the same summands, and the same fused ones are exact. */
bool same_trees(const smma_tree *x, const smma_tree *y);

void print_difference(const smma_instruction *instruction, const smma_tree *expected, const smma_tree *got);

#endif
