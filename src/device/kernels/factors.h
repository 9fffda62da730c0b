/* What kernels read of A and B: for each element its value and its exponent, apart. */
#ifndef SMMA_DEVICE_FACTORS_H
#define SMMA_DEVICE_FACTORS_H

#include "device/kernels/words.h"

/* Exponents that say what a factor is. With another factor's, zero or not, the sum stays below -SMMA_MOST_EXPONENT or
   above SMMA_MOST_EXPONENT; special and zero are special. */
enum { SMMA_ZERO_FACTOR = -10000, SMMA_SPECIAL_FACTOR = 25000, SMMA_MOST_EXPONENT = 1000 };

/* Whether products of a format's numbers, and what alignment scales them to, are in binary32's range as they are; else
   the values of factors are significands alone, below 2. */
SMMA_CORE bool smma_has_narrow_exponents(smma_format format) { return smma_encoding_of(format).exponent_bits <= 5; }

/* 2^n for -126 <= n <= 127. */
SMMA_CORE float smma_f32_power(int n) { return smma_f32_of((uint32_t)(n + 127) << 23); }

/* An item is element item(1) along K of line item(0). Zero, infinity and NaN have the value 0. */
SMMA_KERNEL smma_kernel_factors(smma_operation argument, int of_a, int lines, SMMA_GLOBAL const void *codes,
                                SMMA_GLOBAL float *value, SMMA_GLOBAL int *exponent) {
  const smma_operation o = smma_operation_here(argument);
  const smma_format format = of_a ? o.a : o.b;
  const uint64_t at = (uint64_t)smma_item(1) * lines + smma_item(0);
  smma_number x = smma_decode(smma_encoding_of(format), smma_read_code(codes, smma_code_bytes(format), at));
  float magnitude;
  int power;
  if (o.rule.algorithm == SMMA_FP8_BY_FP16) x = smma_widen_to_f16(x);
  if (x.kind != SMMA_FINITE) {
    value[at] = 0;
    exponent[at] = x.kind == SMMA_ZERO ? SMMA_ZERO_FACTOR : SMMA_SPECIAL_FACTOR;
    return;
  }
  power = (smma_has_narrow_exponents(format) ? x.exponent : 0) - x.fraction_bits;
  magnitude = (float)(int32_t)x.significand * smma_f32_power(power);
  value[at] = x.negative ? -magnitude : magnitude;
  exponent[at] = x.exponent;
}

/* What a fast kernel is called with: codes, values and exponents of A and B, codes of scale factors, accumulators in
   the outer format, and where elements stopped. A macro, as OpenCL's kernels take no pointers in structs. */
#define SMMA_FAST_KERNEL(name)                                                                                     \
  SMMA_KERNEL name(smma_operation argument, smma_extent e, SMMA_GLOBAL const void *a_codes,                        \
                   SMMA_GLOBAL const void *b_codes, SMMA_GLOBAL const float *a, SMMA_GLOBAL const int *a_exponent, \
                   SMMA_GLOBAL const float *b, SMMA_GLOBAL const int *b_exponent, SMMA_GLOBAL const void *scale_a, \
                   SMMA_GLOBAL const void *scale_b, SMMA_GLOBAL void *accumulator, SMMA_GLOBAL int *from)

#endif
