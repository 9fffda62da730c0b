/* Explanation of one instruction's dot-product-add, for text or a picture. */
#ifndef SMMA_CLI_EXPLANATION_H
#define SMMA_CLI_EXPLANATION_H

#include "cli/cli.h"
#include "explain/difference.h"
#include "rows/vectors.h"

/* An explanation with the data that its smma_explained points at. */
typedef struct {
  smma_operation operation;
  smma_explanation explanation;
  smma_explained explained;
} smma_explained_row;

/* Explains the test vector `row`. `unit` is the name to show. Free with smma_explanation_free(&x->explanation). */
void smma_explain_row_of(smma_explained_row *x, const char *unit, const smma_instruction *instruction,
                         const smma_row *row);

/* Returns the columns of the terminal, or 120 if there is no terminal. */
int smma_terminal_width(void);

#endif
