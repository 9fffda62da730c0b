/* Summation trees derived from an instruction's algorithm and parameters, to compare with trees that are found by
   measurement. */
#ifndef SOFTMMA_TESTS_EXPECTED_TREE_H
#define SOFTMMA_TESTS_EXPECTED_TREE_H

#include "tree/tree.h"

/* Reports whether `got` is the tree of the instruction, which has one sum of two or more summands for each rounding or
   alignment of the algorithm. If not, prints both trees. In each scale block, only product number `product[summand]` is
   nonzero (the first product if `product` is NULL). Terms that are added first, without rounding and below the same
   largest exponent, may be part of one fused sum with the remaining terms; `*stages` is whether they form a separate
   sum. */
bool is_expected_tree(const smma_instruction *instruction, const int *product, const smma_tree *got, bool *stages);

/* Reports whether both trees have sums of the same summands, and whether the same fused sums are exact. */
bool same_trees(const smma_tree *x, const smma_tree *y);

void print_difference(const smma_instruction *instruction, const smma_tree *expected, const smma_tree *got);

#endif
