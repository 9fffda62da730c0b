/* Summation trees derived from an instruction's algorithm and parameters, to compare with trees that are found by
   measurement. */
#ifndef SOFTMMA_TESTS_EXPECTED_TREE_H
#define SOFTMMA_TESTS_EXPECTED_TREE_H

#include "tree/tree.h"

/* Reports whether `got` is the tree of the instruction: one sum of two or more summands for each rounding or alignment
   of the algorithm. Otherwise prints both trees. In each scale block, product number `product[summand]` is summed, or
   the first if `product` is NULL. Terms that are added first, without rounding and below the same largest exponent, may
   be in one fused sum with the rest; `*stages` receives whether they form a sum of their own. */
bool is_expected_tree(const smma_instruction *instruction, const int *product, const smma_tree *got, bool *stages);

/* Reports whether both trees have sums of the same summands, and whether the same fused sums are exact. */
bool same_trees(const smma_tree *x, const smma_tree *y);

void print_difference(const smma_instruction *instruction, const smma_tree *expected, const smma_tree *got);

#endif
