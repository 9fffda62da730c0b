#include "numerics/words.h"

#include <float.h>
#include <math.h>

#include "core/format.h"

smma_word_format smma_word_format_of(smma_format format) {
  smma_encoding f = smma_encoding_of(format);
  smma_word_format w = {.format = format, .precision = f.fraction_bits + 1, .encoding = f};
  w.largest =
      smma_format_decode(format, smma_format_encode(format, DBL_MAX, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE));
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

/* Rounds x to a format with at most 52 significand bits, and sets `*word` to the encoding that smma_format_encode
   returns, but faster. The magnitude of x is at most the greatest finite number. Rounds the FP64 encoding of x and
   changes its bias; subnormal results are rounded to multiples of the smallest subnormal. */
static double round_narrow(const smma_word_format *f, double x, uint64_t *word) {
  const smma_encoding e = f->encoding;
  uint64_t fields, negative = signbit(x) != 0;
  if (fabs(x) >= f->normal) {
    x = smma_round_significand(x, f->precision);
    fields = (smma_bits_of_f64(fabs(x)) >> (52 - e.fraction_bits)) - ((uint64_t)(1023 - e.bias) << e.fraction_bits);
  } else {
    const double least = f->normal / (double)(1 << e.fraction_bits), ulp_of_least = 0x1p52 * least;
    fields = smma_bits_of_f64(fabs(x) + ulp_of_least) - smma_bits_of_f64(ulp_of_least);
    x = copysign((double)fields * least, x);
    if (!fields && smma_has_nan_for_negative_zero(e)) negative = 0;
  }
  *word = (negative << (e.exponent_bits + e.fraction_bits) | fields) << e.ignored_bits;
  return x;
}

/* Returns x rounded to the format, and sets `*word` to its encoding. With `flush`, the result is not subnormal. */
static double nearest_word(const smma_word_format *f, double x, bool flush, uint64_t *word) {
  if (flush && fabs(x) < f->normal) x = copysign(fabs(x) > f->normal / 2 ? f->normal : 0, x);
  if (fabs(x) <= f->largest && f->precision < 53 && !smma_rounds_by_code(f->encoding)) return round_narrow(f, x, word);
  *word = smma_format_encode(f->format, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
  return smma_format_decode(f->format, *word);
}

void smma_words_split(const smma_word_format *f, double x, int step, bool flush, int words, uint64_t *word) {
  const double factor = ldexp(1, step);
  for (int i = 0; i < words; i++) {
    x -= nearest_word(f, x, flush, &word[i]); /* exact, unless the word saturated */
    x *= factor;
  }
}

int smma_words_needed(int precision, double accuracy) {
  for (int p = 1; p <= SMMA_MOST_WORDS; p++)
    if (ldexp(p + 1, -precision * p) <= accuracy) return p;
  return 0;
}

const char *const smma_words_sum_names[] = {[SMMA_SUM_F64] = "f64",       [SMMA_SUM_F32] = "f32",
                                            [SMMA_SUM_UNIT] = "unit",     [SMMA_SUM_UNIT_SCALED] = "unit-scaled",
                                            [SMMA_SUM_BLOCKS] = "blocks", NULL};
