/* Splits numbers into sums of words of a narrow format, and computes the powers of two that scale them. Pure
   functions. The formulas and their sources are in docs/numerics.md. */
#ifndef SMMA_NUMERICS_WORDS_H
#define SMMA_NUMERICS_WORDS_H

#include <stdbool.h>

#include "core/format.h"
#include "host/bits.h"
#include "softmma/accurate.h"

/* Reports whether words can be numbers of a format. A word is a floating-point number with a sign, because it may be
   the error of the words before it. */
static inline bool smma_is_word_format(smma_format format) {
  return !smma_is_fixed_point(format) && smma_encoding_of(format).sign_bits != 0;
}

/* Rounds x to `precision` bits, at most 52, to nearest, ties to even, for any exponent. x is zero or normal. */
static inline double smma_round_significand(double x, int precision) {
  const int dropped = 53 - precision;
  uint64_t bits = smma_bits_of_f64(x);
  bits += (UINT64_C(1) << (dropped - 1)) - 1 + (bits >> dropped & 1);
  bits &= ~((UINT64_C(1) << dropped) - 1);
  return smma_f64_of_bits(bits);
}

typedef struct {
  smma_format format;
  int precision; /* significand bits; the unit roundoff u is 2^-precision */
  smma_encoding encoding;
  double largest; /* f_max: the greatest finite number */
  double normal;  /* f_min: the smallest normal number */
} smma_word_format;

smma_word_format smma_word_format_of(smma_format format);

/* Returns theta = min(f_max, sqrt(F_max / n)), the largest magnitude of scaled operands. n = 0 is taken as 1. */
double smma_words_theta(double word_largest, double result_largest, size_t n);

/* Returns the greatest e with 2^e magnitude <= theta; 0 for magnitude 0. Both arguments are finite and theta is
   positive. */
int smma_words_exponent(double magnitude, double theta);

/* Splits a finite x into `words` encodings, so that x is the sum of 2^(-step i) word i and a remainder. Each word is
   the number of the format nearest to the remainder, saturating; the new remainder is then multiplied by 2^step. With
   `flush`, words are never subnormal: instead, the word is zero or the smallest normal number, whichever is nearer, and
   zero at the midpoint. */
void smma_words_split(const smma_word_format *f, double x, int step, bool flush, int words, uint64_t *word);

/* Returns the least p from 1 to SMMA_MOST_WORDS with (p + 1) 2^(-precision p) <= accuracy, or 0 if no p is
   sufficient. */
int smma_words_needed(int precision, double accuracy);

/* The names "f64", "f32", "unit", "unit-scaled", "blocks" in the order of smma_words_sum, then NULL. */
extern const char *const smma_words_sum_names[];

#endif
