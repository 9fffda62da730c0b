/* Writes numbers as readable text. */
#ifndef SMMA_EXPLAIN_DECIMAL_H
#define SMMA_EXPLAIN_DECIMAL_H

#include <stddef.h>

#include "core/wide.h"

/* Writes the shortest decimal that is exactly `value`. If that takes more than `digits` digits, writes a text such as
   "1.25*2^-30" if four significant bits are sufficient. Otherwise, or if `exact` is false, writes "~" and `digits`
   digits. */
void smma_decimal_text(char *text, size_t size, double value, bool exact, int digits);

/* Writes a lost amount as smma_decimal_text does. If `lost` is below the normal range of double, it may be far from the
   true amount, so the text is only "less than 2^-1022". */
void smma_lost_text(char *text, size_t size, double lost, bool exact, int digits);

/* Writes the shortest decimal that identifies a value of the format (for f16 its exact value). */
void smma_encoding_text(char *text, size_t size, smma_format format, uint64_t encoding);

/* Writes an encoding with all its hexadecimal digits: "0xbf400000". */
void smma_encoding_hex(char *text, size_t size, smma_format format, uint64_t encoding);

/* Returns a number of any kind as a double. It is exact if the number has at most 53 bits, as those of every format and
   all products except f64's have. */
double smma_number_value(smma_number x);

/* Adds a finite number to the sum; with `negated`, its negative. */
void smma_wide_add_number(smma_wide *w, smma_number x, bool negated);

/* Returns the accumulated sum as the nearest double, which is zero only if the sum is zero. `exact`, unless NULL,
   receives whether the double equals the sum. Afterwards the accumulator holds the sum's magnitude. */
double smma_wide_value(smma_wide *w, bool *exact);

#endif
