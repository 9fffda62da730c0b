/* Finds the parts of a fused sum. A part is a set of products that are aligned and truncated separately from the other
   products, such as the even products on CDNA 3. All parts are then aligned to one greatest exponent, so +M and -M in
   one part also remove the ones of all other parts. But if the other parts are rounded in one direction, their ones
   show in the result, and ones truncated within the part do not. */
#ifndef SMMA_TREE_PARTS_H
#define SMMA_TREE_PARTS_H

#include "tree/ask.h"
#include "tree/tree.h"

/* Finds the stages (tree/stages.h) or the parts of each fused sum of the tree, and adds a sum to the tree for each of
   them. Sets `uneven` and `hidden` of the tree. Returns SMMA_TREE_FOUND, or SMMA_TREE_FAILED if the unit fails. */
smma_tree_status smma_find_parts(smma_asker *asker, smma_tree *tree);

#endif
