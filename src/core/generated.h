/* Generated rows: their kinds, and what the numbers in them are made of. */
#ifndef SMMA_CORE_GENERATED_H
#define SMMA_CORE_GENERATED_H

#include "row.h"

typedef enum {
  SMMA_ROWS_RANDOM,       /* random bits */
  SMMA_ROWS_NORMAL,       /* about N(0, 1): sums of twelve uniforms */
  SMMA_ROWS_EDGE,         /* exponents and fractions at their ends, infinity, NaN */
  SMMA_ROWS_ZEROS,        /* mostly zeros of both signs, the rest random or tiny */
  SMMA_ROWS_TINY,         /* subnormals and the least normals */
  SMMA_ROWS_CANCELLATION, /* terms that cancel in pairs, and c against the first */
  SMMA_ROWS_ILL,          /* ill-conditioned sums: condition numbers from 1 to 10^12, as far as the formats reach */
  SMMA_ROWS_NETWORK,      /* as in trained networks: N(0, 1), and one in 64 of N(0, 100) */
  SMMA_ROWS_SCHRYER,      /* significands of one run of ones or of zeros, exponents within a window */
  SMMA_ROWS_AIMED,        /* the same, few terms or many, some cancelled; c around a product, ties */
  SMMA_ROWS_KINDS
} smma_row_kind;

/* Those that whoever asks for no kind gets in turn, in every version. */
enum { SMMA_ROWS_IN_TURN = SMMA_ROWS_SCHRYER };

/* Rows of a seed from `first` on: of the first `kinds` kinds in turn, or all of kind `one` if `kinds` is 0. */
typedef struct {
  uint64_t seed, first;
  int32_t kinds, one;
} smma_row_selection;

SMMA_CORE smma_row_kind smma_kind_of_row(const smma_row_selection *x, uint64_t index) {
  return (smma_row_kind)(x->kinds ? (int)(index % (uint64_t)x->kinds) : x->one);
}

/* What rows of an operation are made of. */
typedef struct {
  smma_encoding a, b, c, scale;
  bool takes_product; /* c can be the negated product of the first a and b */
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

/* ---- Normal numbers: sums of twelve uniforms in units of 2^-32, minus six, so of mean 0 and variance 1 ---- */

enum { SMMA_NORMAL_WORDS = 12 };

SMMA_CORE int64_t smma_normal_mean(void) { return (int64_t)6 << 32; }

/* The exponent of the sums in f. Integers have a quarter of their range as the standard deviation. */
SMMA_CORE int smma_normal_exponent(smma_encoding f) {
  return f.specials == SMMA_SPECIALS_INTEGER ? f.fraction_bits - 2 - 32 : -32;
}

/* sum * 2^exponent of them. */
SMMA_CORE uint64_t smma_encode_normal(smma_encoding f, int exponent, int64_t sum) {
  return smma_encode(f, sum < 0, smma_magnitude(sum), exponent + smma_normal_exponent(f), false,
                     SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
}

/* ---- Encodings ---- */

/* A format's encodings: ones as wide as a field, and where it begins. */
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

/* Without a sign as it is. */
SMMA_CORE uint64_t smma_negated(smma_encoding f, uint64_t x) {
  uint64_t sign = (uint64_t)1 << (f.exponent_bits + f.fraction_bits + f.ignored_bits);
  bool zero = (x & (sign - 1)) == 0;
  if (!f.sign_bits) return x;
  if (f.specials == SMMA_SPECIALS_INTEGER) return smma_low_bits(0 - x, f.bits);
  return f.specials == SMMA_SPECIALS_NAN_FOR_NEGATIVE_ZERO && zero ? x : x ^ sign;
}

#endif
