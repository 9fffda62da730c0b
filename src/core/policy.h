/* What units do with subnormals, overflow and zeros, and how exact sums align: parameters of several algorithms. */
#ifndef SMMA_CORE_POLICY_H
#define SMMA_CORE_POLICY_H

#include "ftz.h"

/* An alignment that cuts nothing: the sum is exact. */
#define SMMA_EXACT_ALIGNMENT 100000

/* The most bits of any other alignment of the truncating algorithms, whose sums are 64-bit integers. */
#define SMMA_MOST_ALIGNMENT_BITS 50

typedef enum {
  SMMA_SUBNORMALS_KEPT,
  SMMA_SUBNORMALS_TO_SIGNED_ZERO,
  SMMA_SUBNORMALS_TO_POSITIVE_ZERO /* and -0, too */
} smma_subnormal_policy;

/* What becomes of a finite sum that rounds above the greatest finite magnitude. */
typedef enum {
  SMMA_SUM_TO_INFINITY,  /* in every direction; NaN in formats without infinity */
  SMMA_SUM_SATURATES,    /* the greatest finite magnitude */
  SMMA_SUM_BY_DIRECTION, /* IEEE 754, section 7.4: saturates where the direction leads away from infinity */
} smma_sum_overflow;

/* The sign of a result that is zero. */
typedef enum {
  SMMA_ZERO_POSITIVE,       /* of a sum that is zero +; a negative sum that rounds to zero stays negative */
  SMMA_ZERO_IEEE,           /* IEEE 754, section 6.3: that of zeros of one sign; else +, rounding toward negative - */
  SMMA_ZERO_ALWAYS_POSITIVE /* +, also of a negative sum that rounds to zero */
} smma_zero_sign;

/* A rounded sum with the sign that its zero has. */
SMMA_CORE uint64_t smma_with_zero_sign(smma_zero_sign zero_sign, smma_encoding f, uint64_t code) {
  return zero_sign == SMMA_ZERO_ALWAYS_POSITIVE && code == smma_sign_and_fields(f, true, 0) ? 0 : code;
}

SMMA_CORE smma_number smma_flush(smma_subnormal_policy policy, smma_number x) {
  switch (policy) {
    case SMMA_SUBNORMALS_TO_SIGNED_ZERO: return smma_flush_signed(x);
    case SMMA_SUBNORMALS_TO_POSITIVE_ZERO: return smma_flush_positive(x);
    default: return x;
  }
}

/* An encoding with the same done to it; infinity and NaN stay as they are. */
SMMA_CORE uint64_t smma_flush_encoding(smma_subnormal_policy policy, smma_encoding f, uint64_t encoding) {
  smma_number x = smma_decode(f, encoding);
  if (policy == SMMA_SUBNORMALS_KEPT || x.kind > SMMA_FINITE) return encoding;
  return smma_encode_number(f, smma_flush(policy, x), SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

#endif
