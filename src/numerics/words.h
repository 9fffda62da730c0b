/* Numbers as sums of words of a narrow format, and the powers of two that scale them: pure functions. The formulas and
   their sources are in docs/numerics.md. */
#ifndef SMMA_NUMERICS_WORDS_H
#define SMMA_NUMERICS_WORDS_H

#include <stdbool.h>
#include <string.h>

#include "core/format.h"
#include "softmma/accurate.h"

/* To the nearest number of `precision` bits, at most 52, ties to even, whatever its exponent. x is zero or normal. */
static inline double smma_round_significand(double x, int precision) {
  const int dropped = 53 - precision;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits += (UINT64_C(1) << (dropped - 1)) - 1 + (bits >> dropped & 1);
  bits &= ~((UINT64_C(1) << dropped) - 1);
  memcpy(&x, &bits, sizeof x);
  return x;
}

typedef struct {
  smma_format format;
  int precision; /* significand bits; the unit roundoff u is 2^-precision */
  smma_encoding encoding;
  double largest; /* f_max: the greatest finite number */
  double normal;  /* f_min: the smallest normal number */
} smma_word_format;

smma_word_format smma_word_format_of(smma_format format);

/* theta = min(f_max, sqrt(F_max / n)): what scaled operands may reach. n = 0 is taken as 1. */
double smma_words_theta(double word_largest, double result_largest, size_t n);

/* The greatest e with 2^e magnitude <= theta; 0 for magnitude 0. Both are finite and theta is positive. */
int smma_words_exponent(double magnitude, double theta);

/* x = sum of 2^(-step i) word i, and a rest: each word is the nearest of the format to what is left, saturating, and
   the rest is multiplied by 2^step for the next. x is finite. `flush`: no subnormal words; of zero and the smallest
   normal number the nearer one is taken, zero from the middle. Fills `words` encodings. */
void smma_words_split(const smma_word_format *f, double x, int step, bool flush, int words, uint64_t *word);

/* The least p from 1 to SMMA_MOST_WORDS with (p + 1) 2^(-precision p) <= accuracy; 0 if there is none. */
int smma_words_needed(int precision, double accuracy);

/* "f64", "f32", "unit", "unit-scaled": of each smma_words_sum in turn, ended by NULL. */
extern const char *const smma_words_sum_names[];

#endif
