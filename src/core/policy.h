/* Parameters that several algorithms share: treatment of subnormals, overflow and zeros, and exact alignment. */
#ifndef SMMA_CORE_POLICY_H
#define SMMA_CORE_POLICY_H

#include "ftz.h"

/* Alignment bits of an exact sum, which truncates no term. */
#define SMMA_EXACT_ALIGNMENT 100000

/* The most alignment bits of a sum that truncates its terms, because such sums are 64-bit integers. */
#define SMMA_MOST_ALIGNMENT_BITS 50

typedef enum {
  SMMA_SUBNORMALS_KEPT,
  SMMA_SUBNORMALS_TO_SIGNED_ZERO,
  SMMA_SUBNORMALS_TO_POSITIVE_ZERO /* subnormals and -0 become +0 */
} smma_subnormal_policy;

/* Treatment of a finite sum that rounds above the greatest finite magnitude. */
typedef enum {
  SMMA_SUM_TO_INFINITY,  /* infinity in every rounding direction; NaN in formats without infinity */
  SMMA_SUM_SATURATES,    /* the sum becomes the greatest finite magnitude, with its sign */
  SMMA_SUM_BY_DIRECTION, /* IEEE 754, section 7.4: saturates if the direction leads away from infinity */
} smma_sum_overflow;

/* The sign of a zero result. */
typedef enum {
  SMMA_ZERO_POSITIVE, /* an exact zero is +0; a negative sum that rounds to zero is -0 */
  SMMA_ZERO_IEEE, /* IEEE 754, section 6.3: a sum of zeros with one sign has this sign; any other zero is +0, or -0 if
                     rounding down */
  SMMA_ZERO_ALWAYS_POSITIVE /* +0, also for a negative sum that rounds to zero */
} smma_zero_sign;

/* Returns `code`, a rounded sum, or +0 if it is -0 and the policy makes every zero positive. */
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

/* Flushes an encoding by the policy, as smma_flush does a number; infinity and NaN stay unchanged. */
SMMA_CORE uint64_t smma_flush_encoding(smma_subnormal_policy policy, smma_encoding f, uint64_t encoding) {
  smma_number x = smma_decode(f, encoding);
  if (policy == SMMA_SUBNORMALS_KEPT || x.kind > SMMA_FINITE) return encoding;
  return smma_encode_number(f, smma_flush(policy, x), SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY);
}

#endif
