/* Shapes: the structures that a search tries. A shape is a composition in which only the groups, their order and the
   choice of rounded sums are fixed. */
#ifndef SMMA_INFER_SHAPE_H
#define SMMA_INFER_SHAPE_H

#include "isa/compose.h"

enum { SMMA_MOST_SHAPES = 5120 };

typedef struct {
  smma_composition shape[SMMA_MOST_SHAPES];
  int against[SMMA_MOST_SHAPES]; /* evidence against each shape, which is larger for less likely shapes; the list begins
                                    with the likeliest shapes */
  bool published[SMMA_MOST_SHAPES]; /* whether the shape is a structure of published units */
  int count;
} smma_shapes;

/* Up to this much evidence against a shape can be chance. */
enum { SMMA_SHAPES_LITTLE = 3 };

/* If there is this much evidence against the likeliest shape, vectors do not show the structure. */
enum { SMMA_SHAPES_MUCH = 12 };

/* Returns the evidence that a likely shape may have against it: a little more than the likeliest shape has. */
int smma_shapes_likely(const smma_shapes *shapes);

/* Parameters of alignment and rounding from which the search starts. */
typedef struct {
  int bits; /* SMMA_EXACT_ALIGNMENT: rounded sums are exact before they are rounded */
  smma_rounding alignment, rounding;
} smma_start_values;

/* Lists shapes for K products whose sum has format d. The structures of published units come first: chains of groups,
   which start from c or have c added last; groups whose sums stay unrounded; products that are rounded first; trees
   that begin with adjacent or with distant products; several chains, and the ways to add their sums. Then come all
   shapes of one or two steps that custom units can have, simple ones first, with up to three deviations from plain
   steps: products dealt in turns, a window, several chains, a stride, or descending order. If a K has too many such
   shapes, fewer deviations are allowed. No two shapes are the same function. Scale factors apply to products or to sums
   of consecutive products. The evidence against all shapes is 0. Returns false if memory runs out. */
bool smma_make_shapes(int k, int scale_block, smma_format d, smma_shapes *shapes);

/* Returns a hash of the tree of a shape's sums. The terms of a sum have no order. Product i is at k = from[i], or at k
   = i if `from` is NULL. If `strictly`, two trees have the same hash only if they are equal for all parameters.
   Otherwise they have the same hash if they are equal for some parameters: then an accumulator counts as an ordinary
   term, and a step with a single term has no effect. */
uint64_t smma_shape_hash(const smma_composition *shape, int k, const unsigned char *from, bool strictly);

/* Returns the shape with these values in every step. */
smma_composition smma_shape_with(const smma_composition *shape, smma_format d, smma_start_values values);

#endif
