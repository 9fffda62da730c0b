/* A summation tree in words, as text and as a graph. */
#ifndef SMMA_TREE_TEXT_H
#define SMMA_TREE_TEXT_H

#include <stdio.h>

#include "tree/tree.h"

/* "starting with c, 2 fused sums in a row, each with 8 products" */
const char *smma_tree_words(const smma_tree *tree, char text[512]);

/* "+"; "fused sum of 9"; "..., exact over 58 bits" if no one was lost beside M; "..., terms not cut alike"
   if it is uneven; "..., perhaps in stages" if they are hidden; "sum" of a scale block and another. */
const char *smma_sum_name(const smma_tree *tree, int node, char text[48]);

/* One line a sum or group of summands, d first, each below what it goes into. */
void smma_print_tree(FILE *stream, const smma_tree *tree);

/* For Graphviz. */
void smma_write_tree_graph(FILE *stream, const smma_tree *tree, const char *title);

#endif
