/* A second oracle, for narrow formats: dot-product-adds in fixed point, written from docs/algorithms. Every value is a
   multiple of 2^-FIXED_UNIT in 128 bits. Exact sums, truncations and roundings are therefore integer operations, and
   all inputs of a small unit take seconds. The code shares the fields of formats and the encodings of NaN and infinity
   with the oracle of unlimited range (oracle.h), and the descriptions of operations with the core, but nothing else
   with either. */
#ifndef SOFTMMA_TESTS_FIXED_MODEL_H
#define SOFTMMA_TESTS_FIXED_MODEL_H

#include "core/rule.h"
#include "oracle_number.h"

/* Contract: operands, scale factors, c and products are multiples of 2^-FIXED_UNIT, and every sum is below 2^38. */
enum { FIXED_UNIT = 88 };
__extension__ typedef __int128 fixed;

typedef struct {
  layout fields;
  fixed greatest, least; /* the largest finite number and the smallest normal number */
  uint64_t greatest_code, infinity[2], quiet_nan, nan, marked_nan, sign;
} fixed_format;

/* A number: significand * 2^last. `exponent` is that of the encoding. */
typedef struct {
  int64_t significand;
  int last, exponent;
  class_of_value class;
  bool negative; /* also set for zeros and infinities */
  uint64_t code;
} fixed_number;

/* The error bound that docs/rules.md states: exact - below <= d <= exact + above, unless a sum overflows. The bounds of
   the blocks are added. */
typedef struct {
  fixed exact, below, above;
  bool overflows, special; /* some sum overflows; some sum is NaN or infinite */
  bool nan;                /* some sum is NaN, even if d's format has no NaN */
} fixed_error;

/* The kind of composition, for operations that are not an algorithm of the core; otherwise FIXED_RULE. */
typedef enum { FIXED_RULE, FIXED_PAIRS, FIXED_CHAINS, FIXED_G_FDPA } fixed_kind;

/* An operation and its formats. If d has another format than FP32 (or FP16), d's format takes the place of FP32 (or
   FP16) on the algorithm's page. */
typedef struct {
  smma_operation o;
  fixed_kind kind;
  bool fused, wide;                 /* sums of pairs: products are not rounded; pairs have the exponent range of f64 */
  smma_rounding rounding;           /* sums of pairs */
  smma_subnormal_policy subnormals; /* sums of pairs: of operands and results; sums in two chains: of factors */
  smma_g_fdpa g_fdpa;               /* of G-FDPA */
  bool as_f32;                      /* C-FDPA: d takes the role of FP32, otherwise of FP16 */
  fixed_format a, b, c, d, output, scale, f32;
} fixed_model;

/* Sets the formats of a model from its operation. */
void fixed_prepare(fixed_model *m);

fixed_number fixed_decode(const fixed_format *f, uint64_t code);

/* Returns d. Contract: o.k elements; scale factors if o.scale_block is not 0. */
uint64_t fixed_dot_add(const fixed_model *m, const fixed_number *a, const fixed_number *b, uint64_t c,
                       const fixed_number *scale_a, const fixed_number *scale_b, fixed_error *error);

/* Return the value of a finite number, and of a product of two; 0 if an operand is not finite. */
fixed fixed_value(const fixed_number *x);
fixed fixed_product(const fixed_number *a, const fixed_number *b);

#endif
