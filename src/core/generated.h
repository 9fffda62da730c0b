/* Generated test vectors ("rows"): their kinds, and the numbers in them. */
#ifndef SMMA_CORE_GENERATED_H
#define SMMA_CORE_GENERATED_H

#include "row.h"

typedef enum {
  SMMA_ROWS_RANDOM,       /* random bits */
  SMMA_ROWS_NORMAL,       /* approximately N(0, 1): sums of twelve uniforms */
  SMMA_ROWS_EDGE,         /* extreme exponents and fractions, infinity, NaN */
  SMMA_ROWS_ZEROS,        /* mostly zeros of both signs, the others random or tiny */
  SMMA_ROWS_TINY,         /* subnormals and the least normals */
  SMMA_ROWS_CANCELLATION, /* terms that cancel in pairs; c may cancel the first */
  SMMA_ROWS_ILL,     /* ill-conditioned sums: condition numbers from 1 to 10^12, limited by the range of the formats */
  SMMA_ROWS_NETWORK, /* as in trained networks: N(0, 1), and one in 64 of N(0, 100) */
  SMMA_ROWS_SCHRYER, /* significands with one run of ones or zeros, exponents within a window */
  SMMA_ROWS_AIMED, /* numbers as in SCHRYER, with few or many nonzero terms and some cancellation; c is near a product,
                      or the sum is near a tie of c's last bit */
  SMMA_ROWS_KINDS
} smma_row_kind;

/* If no kind is requested, the first SMMA_ROWS_IN_TURN kinds alternate. The value is the same in every version. */
enum { SMMA_ROWS_IN_TURN = SMMA_ROWS_SCHRYER };

/* Test vectors of a seed from index `first` on: of the first `kinds` kinds in turn, or all of kind `one` if `kinds`
   is 0. */
typedef struct {
  uint64_t seed, first;
  int32_t kinds, one;
} smma_row_selection;

SMMA_CORE smma_row_kind smma_kind_of_row(const smma_row_selection *x, uint64_t index) {
  return (smma_row_kind)(x->kinds ? (int)(index % (uint64_t)x->kinds) : x->one);
}

/* Formats and sizes of an operation, for making its test vectors. */
typedef struct {
  smma_encoding a, b, c, scale;
  bool takes_product; /* c can be the negated product of the first a and the first b */
  int k, scales;
} smma_row_recipe;

SMMA_CORE smma_row_recipe smma_row_recipe_of(const smma_operation *o) {
  smma_row_recipe r;
  r.a = smma_encoding_of(o->a);
  r.b = smma_encoding_of(o->b);
  r.c = smma_encoding_of(o->c);
  r.scale = smma_encoding_of(o->scale);
  r.takes_product = o->a != SMMA_F64;
  r.k = o->k;
  r.scales = smma_scale_count(o->k, o->scale_block);
  return r;
}

/* ---- Normal numbers: sums of twelve uniforms in units of 2^-32, minus six; mean 0, variance 1 ---- */

enum { SMMA_NORMAL_WORDS = 12 };

SMMA_CORE int64_t smma_normal_mean(void) { return (int64_t)6 << 32; }

/* Returns the exponent of the sums' unit when they are encoded in f. For integers the standard deviation is a quarter
   of the range. */
SMMA_CORE int smma_normal_exponent(smma_encoding f) {
  return f.specials == SMMA_SPECIALS_INTEGER ? f.fraction_bits - 2 - 32 : -32;
}

/* Encodes a normal number, `sum` in its unit, times 2^exponent. */
SMMA_CORE uint64_t smma_encode_normal(smma_encoding f, int exponent, int64_t sum) {
  return smma_encode(f, sum < 0, smma_magnitude(sum), exponent + smma_normal_exponent(f), false,
                     SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
}

/* ---- Encodings ---- */

/* The fields of a format: for each a mask of ones as wide as the field, and its lowest bit position. */
typedef struct {
  uint64_t all, sign, exponent, fraction;
  int sign_at, exponent_at, fraction_at;
} smma_fields;

SMMA_CORE smma_fields smma_fields_of(smma_encoding f) {
  uint64_t ones = ~(uint64_t)0;
  smma_fields x;
  x.all = smma_low_bits(ones, f.bits);
  x.sign = f.sign_bits ? 1 : 0;
  x.exponent = smma_low_bits(ones, f.exponent_bits);
  x.fraction = smma_low_bits(ones, f.fraction_bits);
  x.sign_at = f.exponent_bits + f.fraction_bits + f.ignored_bits;
  x.exponent_at = f.fraction_bits + f.ignored_bits;
  x.fraction_at = f.ignored_bits;
  return x;
}

SMMA_CORE uint64_t smma_assemble(smma_fields f, uint64_t sign, uint64_t exponent, uint64_t fraction) {
  return (sign & f.sign) << f.sign_at | (exponent & f.exponent) << f.exponent_at |
         (fraction & f.fraction) << f.fraction_at;
}

/* Negates an encoding; formats without a sign return it unchanged. */
SMMA_CORE uint64_t smma_negated(smma_encoding f, uint64_t x) {
  uint64_t sign = (uint64_t)1 << (f.exponent_bits + f.fraction_bits + f.ignored_bits);
  bool zero = (x & (sign - 1)) == 0;
  if (!f.sign_bits) return x;
  if (f.specials == SMMA_SPECIALS_INTEGER) return smma_low_bits(0 - x, f.bits);
  return smma_has_nan_for_negative_zero(f) && zero ? x : x ^ sign;
}

#endif
