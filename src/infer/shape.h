/* The structures that a search tries: compositions of which only groups, order and what is rounded are said. */
#ifndef SMMA_INFER_SHAPE_H
#define SMMA_INFER_SHAPE_H

#include "isa/compose.h"

enum { SMMA_MOST_SHAPES = 1024 };

/* How terms are cut and sums rounded where nothing is known yet. */
typedef struct {
  int bits; /* SMMA_EXACT_ALIGNMENT: sums that are rounded are exact */
  smma_rounding alignment, rounding;
} smma_start_values;

/* Shapes for K products whose sum is d: chains of groups, from c or with c behind them; groups that stay unrounded,
   whole or in two halves; products that are rounded first; trees, near and far; several chains, and what adds these.
   Simple ones first. With scale factors on products or on sums of consecutive ones. Returns their number. */
int smma_make_shapes(int k, int scale_block, smma_format d, smma_composition shape[SMMA_MOST_SHAPES]);

/* The shape with values in every step. */
smma_composition smma_shape_with(const smma_composition *shape, smma_format d, smma_start_values values);

#endif
