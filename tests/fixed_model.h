/* A second oracle, for narrow formats: dot-product-adds in fixed point, after docs/algorithms. Every value
   is a multiple of 2^-FIXED_UNIT in 128 bits, so that exact sums, cuts and roundings are integer operations, and all
   inputs of a small unit take seconds. It shares formats' fields and the codes of NaN and infinity with the oracle of
   any range (oracle.h), descriptions of operations with the core, and nothing else with either. */
#ifndef SOFTMMA_TESTS_FIXED_MODEL_H
#define SOFTMMA_TESTS_FIXED_MODEL_H

#include "core/rule.h"
#include "oracle_number.h"

/* Contract: operands, scale factors and c are multiples of 2^-FIXED_UNIT, products too, and every sum is below 2^38. */
enum { FIXED_UNIT = 88 };
__extension__ typedef __int128 fixed;

typedef struct {
  layout fields;
  fixed greatest, least; /* the greatest finite number, the least normal one */
  uint64_t greatest_code, infinity[2], quiet_nan, nan, marked_nan, sign;
} fixed_format;

/* significand * 2^last; the exponent is that of the encoding. */
typedef struct {
  int64_t significand;
  int last, exponent;
  class_of_value class;
  bool negative; /* also of zeros and infinities */
  uint64_t code;
} fixed_number;

/* What docs/rules.md says of the distance from the exact sum: exact - below <= d <= exact + above, unless a sum
   overflows. The statements add up, block after block. */
typedef struct {
  fixed exact, below, above;
  bool overflows, special; /* some sum does; some is NaN or infinite */
  bool nan;                /* some sum is NaN, also where d's format has none */
} fixed_error;

/* Which of the compositions the operation is that are no algorithm of the core; else FIXED_RULE. */
typedef enum { FIXED_RULE, FIXED_PAIRS, FIXED_CHAINS, FIXED_G_FDPA } fixed_kind;

/* An operation, and what its page writes FP32 (FP16) for where d is another format. */
typedef struct {
  smma_operation o;
  fixed_kind kind;
  bool fused, wide;                 /* of pairs: products are not rounded; pairs have f64's exponents */
  smma_rounding rounding;           /* of pairs */
  smma_subnormal_policy subnormals; /* of pairs: operands and results; of chains: factors */
  smma_g_fdpa g_fdpa;               /* of G-FDPA */
  bool as_f32;                      /* of C-FDPA: d has the place of FP32, else of FP16 */
  fixed_format a, b, c, d, output, scale, f32;
} fixed_model;

/* Fills what follows from the operation: formats. */
void fixed_prepare(fixed_model *m);

fixed_number fixed_decode(const fixed_format *f, uint64_t code);

/* d. Contract: o.k elements, scale factors as o.scale_block says. */
uint64_t fixed_dot_add(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t c,
                       const fixed_number *scale_a, const fixed_number *scale_b, fixed_error *error);

/* The values of a finite number, and of a product of two: 0 if one is not finite. */
fixed fixed_value(const fixed_number *x);
fixed fixed_product(const fixed_number *a, const fixed_number *b);

#endif
