/* The structures that a search tries: compositions of which only groups, order and what is rounded are said. */
#ifndef SMMA_INFER_SHAPE_H
#define SMMA_INFER_SHAPE_H

#include "isa/compose.h"

enum { SMMA_MOST_SHAPES = 5120 };

typedef struct {
  smma_composition shape[SMMA_MOST_SHAPES];
  int against[SMMA_MOST_SHAPES];    /* how much that is known of a unit speaks against each; likely ones come first */
  bool published[SMMA_MOST_SHAPES]; /* whether a published unit has the structure */
  int count;
} smma_shapes;

/* So much speaks against a shape by chance. */
enum { SMMA_SHAPES_LITTLE = 3 };

/* So much against the likeliest means that rows do not show structures. */
enum { SMMA_SHAPES_MUCH = 12 };

/* The most that speaks against a shape which is still likely: little more than against the likeliest. */
int smma_shapes_likely(const smma_shapes *shapes);

/* How terms are cut and sums rounded where nothing is known yet. */
typedef struct {
  int bits; /* SMMA_EXACT_ALIGNMENT: sums that are rounded are exact */
  smma_rounding alignment, rounding;
} smma_start_values;

/* Lists shapes for K products whose sum is d. First stand those of published units: chains of groups, from c or with c
   behind them; groups that stay unrounded, whole or in two halves; products that are rounded first; trees, near and
   far; several chains, and what adds these. Then follow all shapes of one or two steps that custom units can have,
   simple ones first: with up to three marks, each of which is products dealt in turns, a window, several chains, a
   stride, or descending order; with fewer marks for a K that has too many such shapes. No two shapes are one function.
   Scale factors are on products or on sums of consecutive ones. Nothing speaks against any. False without memory. */
bool smma_make_shapes(int k, int scale_block, smma_format d, smma_shapes *shapes);

/* Returns a hash of the tree of a shape's sums, in which the terms of a sum have no order and product i stands at place
   from[i], or at its own place if `from` is NULL. `strictly`: sums are alike if nothing can tell them apart, whatever
   the parameters are. Otherwise they are alike if some parameters make them so: an accumulator is a term like others
   then, and a term that passes alone through a step is what it was. */
uint64_t smma_shape_hash(const smma_composition *shape, int k, const unsigned char *from, bool strictly);

/* The shape with values in every step. */
smma_composition smma_shape_with(const smma_composition *shape, smma_format d, smma_start_values values);

#endif
