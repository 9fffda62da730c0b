/* The axis of a drawing: one column for each power of two, the highest first. */
#ifndef SMMA_EXPLAIN_RULER_H
#define SMMA_EXPLAIN_RULER_H

#include "explain/decimal.h"

/* Sufficient for the exact sum of products of any format except f64, and for any aligned sum. */
#define SMMA_RULER_SIZE 640

/* A number's sign and bits. */
typedef struct {
  smma_wide magnitude;
  bool negative, zero;
  int top, bottom; /* exponents of the first and the last nonzero bit */
} smma_drawn;

smma_drawn smma_drawn_number(smma_number x);
smma_drawn smma_drawn_sum(int64_t sum, int exponent);
/* Returns the sign and bits of a sum. Takes ownership of the sum. */
smma_drawn smma_drawn_wide(smma_wide *sum);

/* Returns the bit at 2^weight: '0' or '1' from the first to the last nonzero bit, otherwise '.'. */
char smma_drawn_bit(const smma_drawn *x, int weight);

typedef struct {
  int weight; /* of a collapsed run: the highest weight */
  int at;     /* its position in the text */
  bool run;   /* a run of columns in which every number repeats its digit */
} smma_ruler_column;

/* The columns of a drawing. After the columns of the weights in `bar` there is room for a bar: the last retained bits,
   the highest first. */
typedef struct {
  smma_ruler_column column[SMMA_RULER_SIZE];
  int count, length;
  int bar[2], bars;
} smma_ruler;

/* Makes the columns from 2^top down to the lowest exponent in `cut`. */
void smma_ruler_aligned(smma_ruler *r, int top, const int *cut, int cuts);

/* Makes columns for all bits of all numbers, with long runs collapsed. */
void smma_ruler_exact(smma_ruler *r, const smma_drawn *x, int count);

/* Writes two lines of SMMA_RULER_SIZE + 1 bytes: labels of columns, and marks. `emax`, if not NULL, is labelled
   first. */
void smma_ruler_label(const smma_ruler *r, const int *emax, char *labels, char *marks);

/* Writes the number's bits in their columns, with a bar at 2^*cut if `cut` is not NULL. */
void smma_ruler_draw(const smma_ruler *r, const smma_drawn *x, const int *cut, char *text);

/* Writes the bits that lie to the right of the last bar, but at most `most` bits. */
void smma_ruler_draw_rest(const smma_ruler *r, const smma_drawn *x, int most, char *text, size_t size);

#endif
