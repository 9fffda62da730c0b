/* What the tables of targets have in common: their columns, and how errors are written. */
#ifndef SMMA_COMPARE_COLUMNS_H
#define SMMA_COMPARE_COLUMNS_H

#include "compare/target.h"

/* Size of smma_shown_inputs, with its NUL. */
enum { SMMA_SHOWN_INPUTS_SIZE = SMMA_INPUTS_TEXT_SIZE + 560 };

/* Writes the formats of A and B, followed by the plan and the rounding mode of A if the user gave them. */
const char *smma_shown_inputs(const smma_product_target *target, char text[SMMA_SHOWN_INPUTS_SIZE]);

/* Returns the heading of the column of smma_shown_inputs. */
const char *smma_inputs_heading(const smma_product_target *target, size_t targets);

/* Returns the width of a column that holds this text of every target: at least `least`. */
typedef enum { SMMA_COLUMN_LABEL, SMMA_COLUMN_INPUTS, SMMA_COLUMN_INSTRUCTION } smma_target_column;
int smma_column_width(const smma_product_target *target, size_t targets, smma_target_column column, int least);

/* Writes an error of results, or "-" for NaN: there were no finite results to compare. Returns `text`. */
const char *smma_error_text(double error, char text[32]);

#endif
