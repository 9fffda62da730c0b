/* What the files of the oracle share: formats, and their numbers as exact integers. */
#ifndef SOFTMMA_TESTS_ORACLE_NUMBER_H
#define SOFTMMA_TESTS_ORACLE_NUMBER_H

#include <gmp.h>

#include "core/rule.h"

/* Operands are multiples of 2^-1152 (the least is 2^-1074, of f64). */
#define OPERAND_UNIT 1152

/* No product takes part in the maximum. */
#define NO_EXPONENT (-1000000)

typedef enum { FINITE, INFINITE, NOT_A_NUMBER } class_of_value;

typedef struct {
  mpz_t value; /* of a finite one, in units */
  int exponent;
  class_of_value class;
  bool negative; /* also of zeros and infinities */
} quantity;

/* Which encodings are no finite numbers. */
typedef enum {
  OF_GREATEST_EXPONENT, /* infinity with a fraction of zero, NaN with any other */
  ALL_ONES,             /* one magnitude is NaN */
  MINUS_ZERO,           /* the code of -0 is NaN */
  NO_SPECIALS,
  OF_POWERS, /* powers of two, without zero; all ones is NaN */
  OF_INTEGERS
} specials_of_format;

typedef struct {
  int exponent_bits, fraction_bits, low_bits; /* low_bits: stored below the fraction, read as zero */
  bool is_signed;
  int least_exponent; /* of the least normal number; of powers, of the least */
  specials_of_format specials;
} layout;

layout oracle_layout(smma_format format);

/* q->value must be initialised; it is in units of an operand. */
void oracle_decode(quantity *q, smma_format format, uint64_t encoding);

/* Numbers below the least normal one of `format`, -0 among them, become zero: +0 or of their own sign. */
void oracle_flush(quantity *q, smma_format format, smma_subnormal_policy policy);

/* x becomes a multiple of 2^bits. */
void oracle_round(mpz_t x, mp_bitcnt_t bits, smma_rounding direction);

/* Codes. Where a format has no infinity: NaN; where it has no NaN: the greatest number, or zero of integers. */
uint64_t oracle_sign_bit(smma_format format, bool negative);
uint64_t oracle_greatest(smma_format format);
uint64_t oracle_infinity(smma_format format, bool negative);
uint64_t oracle_nan(smma_format format, smma_nan_policy policy);
uint64_t oracle_marked_nan(smma_format format);

/* docs/algorithms/composition.md, of decoded operands. */
uint64_t oracle_composition(const smma_operation *o, const uint64_t *a, const uint64_t *b, uint64_t c,
                            const uint64_t *scale_a, const uint64_t *scale_b);

#endif
