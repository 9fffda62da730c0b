/* Number formats: what an encoding means. Source: MMA-Sim, appendix A; OCP MX specification; IEEE P3109, interim report
   4.0, section 3. */
#ifndef SMMA_CORE_FORMAT_H
#define SMMA_CORE_FORMAT_H

#include "bits.h"
#include "softmma/number.h"

/* Rows of format.def, counted from 0, and their number. The value of a format's constant, for example SMMA_F16, is not
   always the number of its row. */
enum {
#define SMMA_FORMAT(symbol, ...) SMMA_ROW_OF_##symbol,
#include "format.def"
#undef SMMA_FORMAT
  SMMA_FORMAT_COUNT
};

/* Which encodings are infinity or NaN. */
typedef enum {
  SMMA_SPECIALS_IEEE,                  /* encodings with the greatest exponent field are infinity and NaN */
  SMMA_SPECIALS_ONE_NAN,               /* all ones is NaN; no infinity (the "FN" formats) */
  SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO, /* the code of -0 is the only NaN; no infinity ("FNUZ") */
  SMMA_SPECIALS_FINITE,                /* no infinity, no NaN */
  SMMA_SPECIALS_POWERS_OF_TWO,         /* code c is 2^(c - bias), all ones is NaN; no zero */
  SMMA_SPECIALS_INTEGER, /* integers times a power of two; no infinity, no NaN; negative numbers in two's complement */
  /* IEEE P3109. NaN is the code of -0; without a sign it is the last code. */
  SMMA_SPECIALS_P3109_EXTENDED, /* the code of the greatest magnitude is infinity */
  SMMA_SPECIALS_P3109_FINITE    /* no infinity; used only without fraction bits, for smma_rounds_by_code. With fraction
                                   bits such formats are the FNUZ formats, or the FN formats if they have no sign */
} smma_specials;

typedef struct {
  int bits, ignored_bits, sign_bits, exponent_bits, fraction_bits, bias;
  smma_specials specials;
} smma_encoding;

/* An smma_format from SMMA_SPELLED_FORMATS on consists of the format's parameters, from the lowest bit: fraction bits
   (4 bits), exponent bits (4), sign (1), special encodings (3), bias minus SMMA_LEAST_BIAS (12). E3M4 with bias 3 is
   0x1803134. */
#define SMMA_LEAST_BIAS (-2048)
#define SMMA_SPELLED_FORMAT(sign_bits, exponent_bits, fraction_bits, bias, specials)                     \
  ((smma_format)((int)SMMA_SPELLED_FORMATS | (fraction_bits) | (exponent_bits) << 4 | (sign_bits) << 8 | \
                 (int)(specials) << 9 | ((bias)-SMMA_LEAST_BIAS) << 12))

SMMA_CORE bool smma_is_spelled(smma_format format) { return (unsigned)format >> 24 == 1; }

SMMA_CORE smma_encoding smma_spelled_encoding(smma_format format) {
  const int x = (int)format;
  smma_encoding f;
  f.fraction_bits = x & 15;
  f.exponent_bits = x >> 4 & 15;
  f.sign_bits = x >> 8 & 1;
  f.specials = (smma_specials)(x >> 9 & 7);
  f.bias = (x >> 12 & 4095) + SMMA_LEAST_BIAS;
  f.bits = f.sign_bits + f.exponent_bits + f.fraction_bits;
  f.ignored_bits = 0;
  return f;
}

SMMA_CORE smma_encoding smma_encoding_of(smma_format format) {
  smma_encoding f = {0, 0, 0, 0, 0, 0, SMMA_SPECIALS_IEEE};
  if (smma_is_spelled(format)) return smma_spelled_encoding(format);
  switch (format) {
#define SMMA_FORMAT(symbol, name, stored, ignored, sign, exponent, fraction, exponent_bias, special) \
  case SMMA_##symbol:                                                                                \
    f.bits = stored;                                                                                 \
    f.ignored_bits = ignored;                                                                        \
    f.sign_bits = sign;                                                                              \
    f.exponent_bits = exponent;                                                                      \
    f.fraction_bits = fraction;                                                                      \
    f.bias = exponent_bias;                                                                          \
    f.specials = SMMA_SPECIALS_##special;                                                            \
    break;
#include "format.def"
#undef SMMA_FORMAT
    case SMMA_NO_FORMAT:
    case SMMA_SPELLED_FORMATS: break;
  }
  return f;
}

/* Reports whether a format has no exponent: its numbers are integers times a power of two. */
SMMA_CORE bool smma_is_fixed_point(smma_format format) {
  return smma_encoding_of(format).specials == SMMA_SPECIALS_INTEGER;
}

/* Reports whether all numbers of a format are integers, and its last bit has the value 1. */
SMMA_CORE bool smma_is_integer(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  return f.specials == SMMA_SPECIALS_INTEGER && f.bias == 1 - f.fraction_bits;
}

SMMA_CORE bool smma_is_p3109(smma_encoding f) {
  return f.specials == SMMA_SPECIALS_P3109_EXTENDED || f.specials == SMMA_SPECIALS_P3109_FINITE;
}

SMMA_CORE bool smma_has_infinity(smma_encoding f) {
  return f.specials == SMMA_SPECIALS_IEEE || f.specials == SMMA_SPECIALS_P3109_EXTENDED;
}

/* Reports whether the code of -0 is the format's only NaN. */
SMMA_CORE bool smma_has_nan_for_negative_zero(smma_encoding f) {
  return f.specials == SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO || (smma_is_p3109(f) && f.sign_bits);
}

/* Reports whether the last bit of the code, an exponent bit, decides if a number is even. In other formats without
   fraction bits every power of two is odd (IEEE 754-2019, section 4.3.1). Source: P3109, section 4.7.4. */
SMMA_CORE bool smma_rounds_by_code(smma_encoding f) { return smma_is_p3109(f) && f.fraction_bits == 0; }

SMMA_CORE int smma_minimum_exponent(smma_encoding f) {
  return f.specials == SMMA_SPECIALS_POWERS_OF_TWO ? -f.bias : 1 - f.bias;
}

/* Returns the exponent and fraction fields of the greatest finite magnitude; for integers, of the greatest number. */
SMMA_CORE uint64_t smma_largest_fields(smma_encoding f) {
  uint64_t ones = smma_low_bits(~(uint64_t)0, f.exponent_bits + f.fraction_bits);
  switch (f.specials) {
    case SMMA_SPECIALS_IEEE: return ones - ((uint64_t)1 << f.fraction_bits);
    case SMMA_SPECIALS_ONE_NAN:
    case SMMA_SPECIALS_POWERS_OF_TWO: return ones - 1;
    case SMMA_SPECIALS_P3109_EXTENDED: return ones - (f.sign_bits ? 1 : 2);
    case SMMA_SPECIALS_P3109_FINITE: return ones - (f.sign_bits ? 0 : 1);
    default: return ones;
  }
}

/* Reports whether all numbers of a format are multiples of FP32's least subnormal and below 2^128. */
SMMA_CORE bool smma_is_in_range_of_f32(smma_encoding f) {
  int greatest = (int)(smma_largest_fields(f) >> f.fraction_bits) - f.bias;
  return smma_minimum_exponent(f) - f.fraction_bits >= -149 && greatest <= 127;
}

typedef enum { SMMA_ZERO, SMMA_FINITE, SMMA_INFINITE, SMMA_NAN } smma_kind;

/* A decoded number: (-1)^negative * significand * 2^(exponent - fraction_bits). The exponent is that of the encoding
   (the minimum exponent for subnormals and zero). A subnormal therefore has a significand below 2^fraction_bits (the
   least integer has exactly 2^fraction_bits). Products are never normalised: significands are multiplied and
   exponents added. */
typedef struct {
  uint64_t significand;
  int32_t exponent;
  int16_t fraction_bits;
  uint8_t kind;
  uint8_t negative;
} smma_number;

SMMA_CORE smma_number smma_decode(smma_encoding f, uint64_t encoding) {
  uint64_t fields, fraction;
  int exponent_field;
  smma_number x;
  encoding >>= f.ignored_bits;
  fields = smma_low_bits(encoding, f.exponent_bits + f.fraction_bits);
  fraction = smma_low_bits(fields, f.fraction_bits);
  exponent_field = (int)(fields >> f.fraction_bits);
  x.negative = (uint8_t)(f.sign_bits & (encoding >> (f.exponent_bits + f.fraction_bits)));
  x.fraction_bits = (int16_t)f.fraction_bits;
  if (f.specials == SMMA_SPECIALS_POWERS_OF_TWO) {
    x.exponent = exponent_field - f.bias;
    x.significand = 1;
  } else {
    x.exponent = smma_maximum(exponent_field, 1) - f.bias;
    x.significand = fraction | (uint64_t)(exponent_field != 0) << f.fraction_bits;
  }
  if (f.specials == SMMA_SPECIALS_INTEGER && x.negative) x.significand = ((uint64_t)1 << f.fraction_bits) - fraction;
  if (fields > smma_largest_fields(f))
    x.kind = smma_has_infinity(f) && fields == smma_largest_fields(f) + 1 ? SMMA_INFINITE : SMMA_NAN;
  else if (x.significand)
    x.kind = SMMA_FINITE;
  else
    x.kind = x.negative && smma_has_nan_for_negative_zero(f) ? SMMA_NAN : SMMA_ZERO;
  return x;
}

/* Returns the format's NaN: quiet, and positive if the format has a sign for it. A format without NaN gives its
   greatest number, an integer format zero (as CUDA converts NaN to FP6, FP4 and integers). */
SMMA_CORE uint64_t smma_default_nan(smma_encoding f) {
  uint64_t fields;
  switch (f.specials) {
    case SMMA_SPECIALS_IEEE: fields = smma_largest_fields(f) + 1 + ((uint64_t)1 << (f.fraction_bits - 1)); break;
    case SMMA_SPECIALS_FINITE: fields = smma_largest_fields(f); break;
    case SMMA_SPECIALS_INTEGER: fields = 0; break;
    case SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO:
    case SMMA_SPECIALS_P3109_EXTENDED:
    case SMMA_SPECIALS_P3109_FINITE:
      fields = ((uint64_t)1 << (f.exponent_bits + f.fraction_bits)) - (f.sign_bits ? 0 : 1);
      break;
    default: fields = smma_largest_fields(f) + 1; break;
  }
  return fields << f.ignored_bits;
}

SMMA_CORE smma_number smma_zero(void) {
  smma_number x = {0, 0, 0, SMMA_ZERO, 0};
  return x;
}

#endif
