/* Numbers as people read them. */
#ifndef SMMA_EXPLAIN_DECIMAL_H
#define SMMA_EXPLAIN_DECIMAL_H

#include <stddef.h>

#include "core/wide.h"

/* The shortest decimal that is exactly `value`; if that takes more than `digits` digits, "1.25*2^-30" where four
   significant bits are enough; else, and if `exact` is false, that many digits behind "~". */
void smma_decimal_text(char *text, size_t size, double value, bool exact, int digits);

/* What was lost, as smma_decimal_text with `exact`; below the normal range of double, where the value given is no
   longer near the true one, only that. */
void smma_lost_text(char *text, size_t size, double lost, bool exact, int digits);

/* The shortest decimal that identifies a value of the format (f16: that is its exact value). */
void smma_encoding_text(char *text, size_t size, smma_format format, uint64_t encoding);

/* All hexadecimal digits: "0xbf400000". */
void smma_encoding_hex(char *text, size_t size, smma_format format, uint64_t encoding);

/* A number of any kind; exact below 2^53 (every format and every product but f64's). */
double smma_number_value(smma_number x);

/* Adds a finite number, or its negative. */
void smma_wide_add_number(smma_wide *w, smma_number x, bool negated);

/* The accumulated sum to nearest as a double, zero only if it is zero; `exact`, unless NULL, receives whether the
   double is the sum itself. The accumulator is left holding the sum's magnitude. */
double smma_wide_value(smma_wide *w, bool *exact);

#endif
