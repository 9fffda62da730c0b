/* INTEGER: an exact dot-product-add of integers, then wrapped or clamped to 32 bits. Source:
   docs/algorithms/integer.md; PTX ISA, mma: .satfinite. */
#ifndef SMMA_CORE_INTEGER_H
#define SMMA_CORE_INTEGER_H

#include "term.h"

/* Treatment of a sum outside [-2^31, 2^31 - 1]. */
typedef enum {
  SMMA_INTEGER_WRAPS,    /* the sum is taken modulo 2^32 */
  SMMA_INTEGER_SATURATES /* the sum becomes the nearer end of the range */
} smma_integer_overflow;

typedef struct {
  smma_integer_overflow overflow;
  int two_stages; /* 1 (RDNA 4): the sum is wrapped or clamped after the even groups of eight k and again after the odd
                     groups; 0: only once, after all products */
  smma_product_kind product;
} smma_integer;

/* Converts an integer to s32. */
SMMA_CORE uint64_t smma_integer_encode(smma_integer_overflow overflow, int64_t sum) {
  if (overflow == SMMA_INTEGER_WRAPS) return smma_low_bits((uint64_t)sum, 32);
  return smma_encode_sum(smma_encoding_of(SMMA_S32), sum, 0, SMMA_ROUND_TOWARD_ZERO);
}

/* Adds all products of a stage, and c. Bound: a product of two 8-bit integers is at most 255^2 < 2^16 in magnitude,
   so 256 products are below 2^24, and with c below 2^32. */
SMMA_CORE uint64_t smma_integer_sum(const smma_integer *p, const smma_number *term, int count) {
  int64_t sum = 0;
  int i;
  for (i = 0; i < count; i++) sum += smma_align(term[i], 0, 0);
  return smma_integer_encode(p->overflow, sum);
}

#endif
