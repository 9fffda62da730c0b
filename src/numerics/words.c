#include "numerics/words.h"

#include <float.h>
#include <math.h>

#include "core/format.h"

smma_word_format smma_word_format_of(smma_format format) {
  smma_encoding f = smma_encoding_of((smma_format_id)format);
  smma_word_format w = {.format = format, .precision = f.fraction_bits + 1};
  w.largest = smma_value(format, smma_round(format, DBL_MAX, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE));
  w.normal = ldexp(1, smma_minimum_exponent(f));
  return w;
}

double smma_words_theta(double word_largest, double result_largest, size_t n) {
  double bound = sqrt(result_largest / (n ? (double)n : 1));
  return word_largest < bound ? word_largest : bound;
}

int smma_words_exponent(double magnitude, double theta) {
  int of_magnitude, of_theta;
  double m, t;
  if (magnitude == 0) return 0;
  m = frexp(magnitude, &of_magnitude);
  t = frexp(theta, &of_theta);
  return of_theta - of_magnitude - (m > t);
}

static uint64_t nearest_word(const smma_word_format *f, double x, bool flush) {
  if (flush && fabs(x) < f->normal) x = copysign(fabs(x) > f->normal / 2 ? f->normal : 0, x);
  return smma_round(f->format, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
}

void smma_words_split(const smma_word_format *f, double x, int step, bool flush, int words, uint64_t *word) {
  for (int i = 0; i < words; i++) {
    word[i] = nearest_word(f, x, flush);
    x -= smma_value(f->format, word[i]); /* exact, unless the word saturated */
    if (step) x = ldexp(x, step);
  }
}

int smma_words_needed(int precision, double accuracy) {
  for (int p = 1; p <= SMMA_MOST_WORDS; p++)
    if (ldexp(p + 1, -precision * p) <= accuracy) return p;
  return 0;
}
