/* Explanations of one or two instructions' dot-product-add of a row: as text, as a picture. */
#ifndef SMMA_CLI_EXPLANATION_H
#define SMMA_CLI_EXPLANATION_H

#include "cli/cli.h"
#include "explain/difference.h"
#include "rows/vectors.h"

/* What smma_explained points at. */
typedef struct {
  smma_operation operation;
  smma_explanation explanation;
  smma_explained explained;
} smma_explained_row;

/* `unit` is the name to show. Free with smma_explanation_free(&x->explanation). */
void smma_explain_row_of(smma_explained_row *x, const char *unit, const smma_instruction *instruction,
                         const smma_row *row);

/* Columns of the terminal; 120 where there is none. */
int smma_terminal_width(void);

#endif
