/* A summation tree in words, as text and as a graph. */
#ifndef SMMA_TREE_TEXT_H
#define SMMA_TREE_TEXT_H

#include <stdio.h>

#include "tree/tree.h"

/* Describes the tree in `text`: "starting with c, 2 fused sums in a row, each with 8 products". Returns `text`. */
const char *smma_tree_words(const smma_tree *tree, char text[512]);

/* Returns the name of a sum, in `text` or as a constant: "+", or for example "fused sum of 9". The name of a fused sum
   ends with ", exact over 58 bits" if no ones are lost next to M, with ", terms not truncated alike" if the loss of a
   term depends on which other terms are large, and with ", perhaps in stages" if the results hide its stages. The sum
   of a scale block and another term is called "sum". */
const char *smma_sum_name(const smma_tree *tree, int node, char text[48]);

/* Prints the tree, d first, with one line for each sum or group of summands, below the sum that it is a term of. */
void smma_print_tree(FILE *stream, const smma_tree *tree);

/* Writes the tree as a graph for Graphviz, with `title` as its heading. */
void smma_write_tree_graph(FILE *stream, const smma_tree *tree, const char *title);

#endif
