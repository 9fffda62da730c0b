/* Parts of a fused sum: products that are aligned and cut off together, apart from the rest, as even and odd products
   on CDNA 3. Parts meet below one greatest exponent, so that +M and -M in one of them take the ones of all others with
   them; but where the rest is rounded, in one direction, what is cut off within a part is not. */
#ifndef SMMA_TREE_PARTS_H
#define SMMA_TREE_PARTS_H

#include "tree/ask.h"
#include "tree/tree.h"

/* Makes sums of the parts of each fused sum, where there are any. FOUND, or FAILED if the unit fails. */
smma_tree_status smma_find_parts(smma_asker *asker, smma_tree *tree);

#endif
