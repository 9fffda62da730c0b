/* Writes numbers as readable text. */
#ifndef SMMA_EXPLAIN_DECIMAL_H
#define SMMA_EXPLAIN_DECIMAL_H

#include <stddef.h>

#include "core/wide.h"

/* Writes the shortest decimal that is exactly `value`. If that takes more than `digits` digits, writes a text such as
   "1.25*2^-30" if four significant bits are sufficient, or an integer below 10^9 in full. Otherwise, or if `exact` is
   false, writes "~" and `digits` digits. */
void smma_decimal_text(char *text, size_t size, double value, bool exact, int digits);

/* A number of any size: significand * 2^exponent. The exponent is 0 if a double can hold the number, or its first 53
   bits; otherwise 1 <= |significand| <= 2. */
typedef struct {
  double significand;
  int exponent;
  bool exact; /* whether it is the whole number, and not its first 53 bits */
} smma_quantity;

smma_quantity smma_quantity_of(const smma_wide *sum);
smma_quantity smma_quantity_of_number(smma_number x); /* infinity and NaN as a double has them */
smma_quantity smma_quantity_negated(smma_quantity x);

/* Writes a number as smma_decimal_text does. Outside the range of double, adds a power of two: "~1.2345678*2^1328". */
void smma_quantity_text(char *text, size_t size, smma_quantity value, int digits);

/* Returns the nearest double, which may be infinite. */
double smma_quantity_rounded(smma_quantity value);

/* Writes the shortest decimal that identifies a value of the format. */
void smma_encoding_text(char *text, size_t size, smma_format format, uint64_t encoding);

/* Writes an encoding with all its hexadecimal digits: "0xbf400000". */
void smma_encoding_hex(char *text, size_t size, smma_format format, uint64_t encoding);

/* Returns a number of any kind as a double. It is exact if the number has at most 53 bits, as those of every format and
   all products except f64's have. */
double smma_number_value(smma_number x);

/* Adds a finite number to the sum; with `negated`, its negative. */
void smma_wide_add_number(smma_wide *w, smma_number x, bool negated);

/* Adds a sum; with `negated`, its negative. */
void smma_wide_add_wide(smma_wide *w, const smma_wide *x, bool negated);

#endif
