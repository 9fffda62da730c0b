/* The axis of a drawing: one column for each power of two, the highest first. */
#ifndef SMMA_EXPLAIN_RULER_H
#define SMMA_EXPLAIN_RULER_H

#include "explain/decimal.h"

/* Sufficient for the exact sum of products of any format except f64, and for any aligned sum. */
#define SMMA_RULER_SIZE 640

/* The most bars of a drawing. */
#define SMMA_RULER_BARS 2

/* A number's sign and bits. */
typedef struct {
  smma_wide magnitude;
  bool negative, zero;
  int top, bottom; /* exponents of the first and the last nonzero bit */
} smma_drawn;

/* Return the sign and bits of a number, and of sum * 2^exponent. */
smma_drawn smma_drawn_number(smma_number x);
smma_drawn smma_drawn_sum(int64_t sum, int exponent);
/* Returns the sign and bits of a sum. Changes `*sum` to the sum's magnitude. */
smma_drawn smma_drawn_wide(smma_wide *sum);

smma_quantity smma_drawn_quantity(const smma_drawn *x);

/* Reports whether two numbers are equal. */
bool smma_same_drawn(const smma_drawn *x, const smma_drawn *y);

/* Returns the bit of x at 2^weight: '0' or '1' from the first to the last nonzero bit, otherwise '.'. */
char smma_drawn_bit(const smma_drawn *x, int weight);

typedef struct {
  int weight; /* exponent of the column's power of two; of a collapsed run, the highest one */
  int at;     /* position in the text */
  bool run;   /* whether it stands for a run of weights at which every number repeats its digit */
} smma_ruler_column;

/* The columns of a drawing. After the columns of the weights in `bar`, which are the weights of last retained bits, the
   highest first, there is room for a bar. */
typedef struct {
  smma_ruler_column column[SMMA_RULER_SIZE];
  int count, length;              /* number of columns; length of the text */
  int bar[SMMA_RULER_BARS], bars; /* weights with a bar; their number */
} smma_ruler;

/* Makes the columns from 2^top down to the lowest exponent in `cut`. */
void smma_ruler_aligned(smma_ruler *r, int top, const int *cut, int cuts);

/* Makes columns for all bits of all numbers, with long runs collapsed. */
void smma_ruler_exact(smma_ruler *r, const smma_drawn *x, int count);

/* Writes two lines of SMMA_RULER_SIZE + 1 bytes each: the labels of columns, and the marks. If `emax` is not NULL,
   writes the label of weight *emax first, so that there is room for it. */
void smma_ruler_label(const smma_ruler *r, const int *emax, char *labels, char *marks);

/* Writes the number's bits in their columns; if `cut` is not NULL, with a bar after weight *cut. */
void smma_ruler_draw(const smma_ruler *r, const smma_drawn *x, const int *cut, char *text);

/* Writes the bits to the right of the last bar, at most `most` of them. */
void smma_ruler_draw_rest(const smma_ruler *r, const smma_drawn *x, int most, char *text, size_t size);

#endif
