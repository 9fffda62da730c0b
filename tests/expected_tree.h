/* Summation trees as an instruction's algorithm and parameters say, to compare with those that are found. */
#ifndef SOFTMMA_TESTS_EXPECTED_TREE_H
#define SOFTMMA_TESTS_EXPECTED_TREE_H

#include "tree/tree.h"

/* Whether a tree is that of the instruction: a sum of two or more summands for each rounding or alignment of the
   algorithm. Of a scale block it is number `product[summand]` that is summed; the first of each if `product` is NULL.
   Terms that are added first, with no rounding and below the same greatest exponent, may be in one fused sum with the
   rest; `*stages`: they are not. Prints both trees if it is not. */
bool is_expected_tree(const smma_instruction *instruction, const int *product, const smma_tree *got, bool *stages);

/* Whether both have sums of the same summands, and the same fused ones are exact. */
bool same_trees(const smma_tree *x, const smma_tree *y);

void print_difference(const smma_instruction *instruction, const smma_tree *expected, const smma_tree *got);

#endif
