/* The text of one stage. */
#ifndef SMMA_EXPLAIN_DRAWING_H
#define SMMA_EXPLAIN_DRAWING_H

#include "explain/explain.h"

/* SMMA_STAGE_ALIGN and SMMA_STAGE_EXACT: rows of bits under an axis, their sum, and what was lost. */
void smma_print_drawing(FILE *stream, const smma_stage *stage, int width);

/* SMMA_STAGE_STEPS: a line for each operation. */
void smma_print_steps(FILE *stream, const smma_stage *stage, int width);

#endif
