#include "numerics/slices.h"

#include <math.h>

/* Returns the significand of |x|, an integer of 53 bits, and sets `*exponent`: |x| is significand * 2^exponent. */
static uint64_t significand_of(double x, int *exponent) {
  int of_fraction;
  double fraction = frexp(fabs(x), &of_fraction);
  *exponent = of_fraction - 53;
  return (uint64_t)ldexp(fraction, 53);
}

int smma_slice_exponent(double magnitude) {
  int exponent;
  if (magnitude == 0) return 0;
  frexp(magnitude, &exponent);
  return exponent;
}

int smma_slice(double x, int exponent, int bits, int s) {
  int of_significand, shift;
  uint64_t significand = significand_of(x, &of_significand), digit;
  shift = of_significand - exponent + bits * s;
  if (shift >= bits || shift <= -64) return 0;
  digit = (shift >= 0 ? significand << shift : significand >> -shift) & ((UINT64_C(1) << bits) - 1);
  return x < 0 ? -(int)digit : (int)digit;
}

int smma_slices_needed(double x, int exponent, int bits) {
  int last;
  uint64_t significand = significand_of(x, &last);
  if (x == 0) return 0;
  for (; (significand & 1) == 0; significand >>= 1) last++;
  return (exponent - last + bits - 1) / bits;
}

int smma_slices_of_lines(const smma_operand_lines *x, int bits) {
  int most = 0;
  for (size_t line = 0; line < x->count; line++) {
    bool special;
    const int exponent = smma_slice_exponent(smma_line_largest(x, line, &special));
    for (size_t k = 0; k < x->length; k++) {
      const double value = smma_line_element(x, line, k);
      const int needed = isfinite(value) ? smma_slices_needed(value, exponent, bits) : 0;
      if (needed > most) most = needed;
    }
  }
  return most;
}
