/* A drawing as a table of text: words and numbers on the left, bits under the axis on the right. */
#ifndef SMMA_EXPLAIN_TABLE_H
#define SMMA_EXPLAIN_TABLE_H

#include <stdio.h>

#include "explain/ruler.h"

typedef struct {
  char label[40], factors[72], value[32], exponent[8];
  char sign;
  bool marked; /* ">" is printed before the row */
  char bits[SMMA_RULER_SIZE + 1];
  char rest[40]; /* the bits after the last bar */
  char kept[40]; /* the value after alignment, or a remark */
} smma_table_row;

typedef struct {
  smma_ruler ruler;
  char labels[SMMA_RULER_SIZE + 1], marks[SMMA_RULER_SIZE + 1];
  smma_table_row row[2 * SMMA_MAXIMUM_K + 8];
  int count;
  int terms; /* number of rows above the horizontal line */
  int label_width, factors_width, value_width, exponent_width, rest_width, kept_width;
} smma_table;

/* Returns the greater of a width and the length of a text. */
int smma_longer(int width, const char *text);

/* Appends an empty row. */
smma_table_row *smma_table_add(smma_table *t);

/* Sets the widths of the columns from the rows. */
void smma_table_measure(smma_table *t);

/* Returns the width of the widest line in columns. */
int smma_table_width(const smma_table *t);

/* Prints the table. A drawing without bars that is too wide is split into panels, one below the other. */
void smma_table_print(FILE *stream, const smma_table *t, int width);

#endif
