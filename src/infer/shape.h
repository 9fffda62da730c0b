/* The structures that a search tries: compositions of which only groups, order and what is rounded are said. */
#ifndef SMMA_INFER_SHAPE_H
#define SMMA_INFER_SHAPE_H

#include "isa/compose.h"

enum { SMMA_MOST_SHAPES = 1024 };

typedef struct {
  smma_composition shape[SMMA_MOST_SHAPES];
  int against[SMMA_MOST_SHAPES]; /* how much that is known of a unit speaks against each; likely ones come first */
  int count;
} smma_shapes;

/* So much speaks against a shape by chance. */
enum { SMMA_SHAPES_LITTLE = 3 };

/* The most that speaks against a shape which is still likely: little more than against the likeliest. */
int smma_shapes_likely(const smma_shapes *shapes);

/* How terms are cut and sums rounded where nothing is known yet. */
typedef struct {
  int bits; /* SMMA_EXACT_ALIGNMENT: sums that are rounded are exact */
  smma_rounding alignment, rounding;
} smma_start_values;

/* Shapes for K products whose sum is d: chains of groups, from c or with c behind them; groups that stay unrounded,
   whole or in two halves; products that are rounded first; trees, near and far; several chains, and what adds these.
   Simple ones first. With scale factors on products or on sums of consecutive ones. Nothing speaks against any. */
void smma_make_shapes(int k, int scale_block, smma_format d, smma_shapes *shapes);

/* The shape with values in every step. */
smma_composition smma_shape_with(const smma_composition *shape, smma_format d, smma_start_values values);

#endif
