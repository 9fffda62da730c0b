/* The text of one stage. */
#ifndef SMMA_EXPLAIN_DRAWING_H
#define SMMA_EXPLAIN_DRAWING_H

#include "explain/explain.h"

/* What aligned stages that stand one below the other need for their bits to stand under one axis: 2^top is the first
   column, and the columns before the bits are at least so wide. */
typedef struct {
  int top, label_width, factors_width, value_width, exponent_width;
} smma_drawing_frame;

/* Makes room for a stage, of any kind. */
void smma_drawing_widen(smma_drawing_frame *frame, const smma_stage *stage);

/* SMMA_STAGE_ALIGN and SMMA_STAGE_EXACT: rows of bits under an axis, their sum, and what was lost. `frame` may be NULL;
   it is left out of account where lines would be longer than `width`. */
void smma_print_drawing(FILE *stream, const smma_stage *stage, int width, const smma_drawing_frame *frame);

/* SMMA_STAGE_STEPS: a line for each operation. */
void smma_print_steps(FILE *stream, const smma_stage *stage, int width);

#endif
