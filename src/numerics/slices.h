/* Splits numbers into slices: integers of a few bits that share an exponent (block fixed point). Pure functions. The
   formulas and their sources are in docs/numerics.md. */
#ifndef SMMA_NUMERICS_SLICES_H
#define SMMA_NUMERICS_SLICES_H

#include "numerics/lines.h"

/* Returns the least e with magnitude < 2^e; 0 for magnitude 0. The magnitude is finite. */
int smma_slice_exponent(double magnitude);

/* Returns slice s = 1, 2, ... of a finite x with |x| < 2^exponent: digit s of |x| / 2^exponent in base 2^bits, with
   the sign of x. x is the sum of 2^(exponent - bits s) times slice s. bits: 1 to 31. */
int smma_slice(double x, int exponent, int bits, int s);

/* Returns the least number of slices whose weighted sum is x; 0 for x = 0. */
int smma_slices_needed(double x, int exponent, int bits);

/* Returns the least number of slices that represents all finite elements of the lines; each line has its exponent. */
int smma_slices_of_lines(const smma_operand_lines *lines, int bits);

#endif
