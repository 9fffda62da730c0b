#include "explain/decimal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/bits.h"
#include "isa/key.h"

static bool special_text(char *text, size_t size, double value) {
  if (isfinite(value)) return false;
  snprintf(text, size, "%s", isnan(value) ? "NaN" : value < 0 ? "-infinity" : "+infinity");
  return true;
}

/* Writes a number of at most four significant bits as "2^-23" or "-1.25*2^30". Returns false for other numbers. */
static bool power_text(char *text, size_t size, double value) {
  int exponent;
  double significand = 2 * frexp(value, &exponent);
  if (significand * 8 != floor(significand * 8)) return false;
  if (fabs(significand) == 1)
    snprintf(text, size, "%s2^%d", value < 0 ? "-" : "", exponent - 1);
  else
    snprintf(text, size, "%g*2^%d", significand, exponent - 1);
  return true;
}

/* Reports whether the decimal, which has `digits` significant digits, is exactly the value: it reads back as the value,
   and the value's full decimal, which has at most 767 significant digits, has only zeros after these digits. */
static bool is_value(const char *decimal, double value, int digits) {
  char all[800];
  if (strtod(decimal, NULL) != value) return false;
  snprintf(all, sizeof all, "%.766e", fabs(value));
  const char *behind = digits == 1 ? all + 2 : all + 1 + digits;
  return strspn(behind, "0") == strcspn(behind, "e");
}

/* Reports whether the decimal is easy to read: has no exponent (8192, not 8e+03), unless the value is very large or
   small. */
static bool is_plain(const char *text, double value) {
  return !strchr(text, 'e') || fabs(value) >= 1e9 || fabs(value) < 1e-4;
}

void smma_decimal_text(char *text, size_t size, double value, bool exact, int digits) {
  if (special_text(text, size, value)) return;
  for (int n = 1; exact && n <= digits; n++) {
    snprintf(text, size, "%.*g", n, value);
    if (is_plain(text, value) && is_value(text, value, n)) return;
  }
  if (exact && power_text(text, size, value)) return;
  if (exact && fabs(value) < 1e9 && value == floor(value)) {
    snprintf(text, size, "%.0f", value);
    return;
  }
  snprintf(text, size, "~%.*g", digits, value);
}

/* Returns the number of bits from the first 1 to the last 1. */
static int significant_bits(uint64_t x) { return x ? smma_bit_length(x) - (smma_bit_length(x & (0 - x)) - 1) : 0; }

static smma_quantity quantity_of_leading(smma_leading x) {
  const double magnitude = (double)x.significand, whole = ldexp(magnitude, x.exponent);
  smma_quantity v = {.significand = whole, .exact = !x.sticky && significant_bits(x.significand) <= DBL_MANT_DIG};
  const bool is_lossy = !v.exact || ldexp(whole, -x.exponent) != magnitude;
  if (x.significand && (!isfinite(whole) || (whole < DBL_MIN && is_lossy))) {
    const int shift = smma_bit_length(x.significand) - 1;
    v.significand = ldexp(magnitude, -shift);
    v.exponent = x.exponent + shift;
  }
  return x.negative ? smma_quantity_negated(v) : v;
}

smma_quantity smma_quantity_of(const smma_wide *sum) {
  smma_wide copy = *sum;
  return quantity_of_leading(smma_wide_leading(&copy));
}

smma_quantity smma_quantity_of_number(smma_number x) {
  if (x.kind != SMMA_FINITE) return (smma_quantity){.significand = smma_number_value(x), .exact = true};
  return quantity_of_leading(
      (smma_leading){.significand = x.significand, .exponent = x.exponent - x.fraction_bits, .negative = x.negative});
}

smma_quantity smma_quantity_negated(smma_quantity x) {
  x.significand = -x.significand;
  return x;
}

void smma_quantity_text(char *text, size_t size, smma_quantity value, int digits) {
  if (value.exponent && value.exact && fabs(value.significand) == 1) {
    snprintf(text, size, "%s2^%d", value.significand < 0 ? "-" : "", value.exponent);
    return;
  }
  smma_decimal_text(text, size, value.significand, value.exact, digits);
  if (value.exponent) smma_append_text(text, size, "*2^%d", value.exponent);
}

double smma_quantity_rounded(smma_quantity value) { return ldexp(value.significand, value.exponent); }

void smma_encoding_text(char *text, size_t size, smma_format format, uint64_t encoding) {
  double value = smma_number_value(smma_decode(smma_encoding_of(format), encoding));
  int most = format == SMMA_F32 || format == SMMA_E8M13 ? 9 : 17;
  if (special_text(text, size, value)) return;
  for (int n = 1; n <= most; n++) {
    double back;
    snprintf(text, size, "%.*g", n, value);
    back = most == 9 ? (double)strtof(text, NULL) : strtod(text, NULL);
    if (back == value && is_plain(text, value)) return;
  }
}

void smma_encoding_hex(char *text, size_t size, smma_format format, uint64_t encoding) {
  snprintf(text, size, "0x%0*llx", (smma_encoding_of(format).bits + 3) / 4, (unsigned long long)encoding);
}

double smma_number_value(smma_number x) {
  double magnitude;
  switch (x.kind) {
    case SMMA_NAN: return NAN;
    case SMMA_INFINITE: magnitude = INFINITY; break;
    case SMMA_ZERO: magnitude = 0; break;
    default: magnitude = ldexp((double)x.significand, x.exponent - x.fraction_bits); break;
  }
  return x.negative ? -magnitude : magnitude;
}

void smma_wide_add_number(smma_wide *w, smma_number x, bool negated) {
  if (x.kind == SMMA_FINITE)
    smma_wide_add(w, (x.negative != 0) != negated, x.significand, x.exponent - x.fraction_bits);
}

void smma_wide_add_wide(smma_wide *w, const smma_wide *x, bool negated) {
  if (x->last < x->first) return;
  smma_wide_use(w, x->first, x->last);
  for (int i = x->first; i <= x->last; i++) w->limb[i] += negated ? -x->limb[i] : x->limb[i];
}
