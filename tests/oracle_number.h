/* Shared by the files of the oracle: formats, and their numbers as exact integers. */
#ifndef SOFTMMA_TESTS_ORACLE_NUMBER_H
#define SOFTMMA_TESTS_ORACLE_NUMBER_H

#include <gmp.h>

#include "core/rule.h"

/* Operands are multiples of 2^-1152 (the smallest is 2^-1074, in f64). */
#define OPERAND_UNIT 1152

/* Marks the case that no product takes part in the maximum. */
#define NO_EXPONENT (-1000000)

typedef enum { FINITE, INFINITE, NOT_A_NUMBER } class_of_value;

typedef struct {
  mpz_t value; /* of a finite number, in units */
  int exponent;
  class_of_value class;
  bool negative; /* also set for zeros and infinities */
} quantity;

/* The encodings that are not finite numbers. */
typedef enum {
  OF_GREATEST_EXPONENT, /* infinity with a fraction of zero, NaN with other fractions */
  ALL_ONES,             /* one magnitude is NaN */
  MINUS_ZERO,           /* the encoding of -0 is NaN */
  OF_P3109,             /* the greatest magnitude is infinity; NaN as MINUS_ZERO, without a sign the last encoding */
  NO_SPECIALS,
  OF_POWERS, /* powers of two, without zero; all ones is NaN */
  OF_INTEGERS /* multiples of a power of two; in two's complement if the format has a sign */
} specials_of_format;

typedef struct {
  int exponent_bits, fraction_bits, low_bits; /* low_bits: stored below the fraction, read as zero */
  bool is_signed;
  int least_exponent; /* of the smallest normal number; for powers, of the smallest power; for integers, of the last
                         bit */
  specials_of_format specials;
} layout;

layout oracle_layout(smma_format format);

/* Reports whether the encoding of -0 is NaN. */
bool oracle_has_no_minus_zero(const layout *f);

/* Decodes an encoding to units of an operand. q->value must be initialised. */
void oracle_decode(quantity *q, smma_format format, uint64_t encoding);

/* Flushes numbers below the smallest normal number of `format`, and -0, to +0 or to zero of their own sign. */
void oracle_flush(quantity *q, smma_format format, smma_subnormal_policy policy);

/* Rounds x to a multiple of 2^bits. */
void oracle_round(mpz_t x, mp_bitcnt_t bits, smma_rounding direction);

/* Return encodings. In a format without infinity, NaN takes its place. In a format without NaN, the largest number
   takes its place, or zero for integers. */
uint64_t oracle_sign_bit(smma_format format, bool negative);
uint64_t oracle_greatest(smma_format format);
uint64_t oracle_infinity(smma_format format, bool negative);
uint64_t oracle_nan(smma_format format, smma_nan_policy policy);
uint64_t oracle_marked_nan(smma_format format);

/* Computes docs/algorithms/composition.md for one operation. */
uint64_t oracle_composition(const smma_operation *o, const uint64_t *a, const uint64_t *b, uint64_t c,
                            const uint64_t *scale_a, const uint64_t *scale_b);

#endif
