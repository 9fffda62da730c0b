/* Prints one stage as text. */
#ifndef SMMA_EXPLAIN_DRAWING_H
#define SMMA_EXPLAIN_DRAWING_H

#include "explain/explain.h"

/* A layout that several aligned stages share, so that bits of equal weight are in the same column. The first column of
   bits has the weight 2^top. The widths are the least widths of the text columns to the left of the bits. */
typedef struct {
  int top, label_width, factors_width, value_width, exponent_width;
} smma_drawing_frame;

/* Widens the frame so that it also suits a stage of any kind. */
void smma_drawing_widen(smma_drawing_frame *frame, const smma_stage *stage);

/* Prints SMMA_STAGE_ALIGN and SMMA_STAGE_EXACT: a line of bits for each term under an axis, their sum, and the amount
   that was truncated. `frame` may be NULL; it is ignored if lines would be longer than `width`. */
void smma_print_drawing(FILE *stream, const smma_stage *stage, int width, const smma_drawing_frame *frame);

/* Prints SMMA_STAGE_STEPS: a line for each operation. */
void smma_print_steps(FILE *stream, const smma_stage *stage, int width);

#endif
