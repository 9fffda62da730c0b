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

/* Which elements of a group of GST-FDPA, the first at `at`, are not zero: a bit each. */
SMMA_CORE int smma_nonzero_elements(smma_format format, int group, SMMA_GLOBAL const void *codes, int lines,
                                    uint64_t at) {
  const smma_encoding f = smma_encoding_of(format);
  const int bytes = smma_code_bytes(format);
  int bits = 0, i;
  for (i = 0; i < group; i++)
    bits |= (smma_decode(f, smma_read_code(codes, bytes, at + (uint64_t)i * lines)).kind != SMMA_ZERO) << i;
  return bits;
}

/* Whether the values of an operation's factors are those of the operands, subnormal and special ones, too. */
SMMA_CORE bool smma_has_whole_values(const smma_operation *o) {
  return o->rule.algorithm == SMMA_E_FDPA || o->rule.algorithm == SMMA_FTZ_ADDMUL || o->rule.algorithm == SMMA_FTZ_FMA;
}

SMMA_CORE float smma_factor_value(const smma_operation *o, smma_format format, smma_number x) {
  const int power = (smma_has_narrow_exponents(format) ? x.exponent : 0) - x.fraction_bits;
  float magnitude;
  if (o->rule.algorithm == SMMA_FTZ_ADDMUL) x = smma_flush_positive(x);
  if (o->rule.algorithm == SMMA_FTZ_FMA) x = smma_flush_signed(x);
  if (smma_has_whole_values(o))
    return smma_f32_of(
        (uint32_t)smma_encode_number(smma_encoding_of(SMMA_F32), x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_INFINITY));
  if (x.kind != SMMA_FINITE) return 0;
  magnitude = (float)(int32_t)x.significand * smma_f32_power(power);
  return x.negative ? -magnitude : magnitude;
}

/* An item is element item(1) along K of line item(0). Of GST-FDPA's groups the first exponent is
   smma_nonzero_elements. */
SMMA_KERNEL smma_kernel_factors(smma_operation argument, int of_a, int lines, SMMA_GLOBAL const void *codes,
                                SMMA_GLOBAL float *value, SMMA_GLOBAL int *exponent) {
  const smma_operation o = smma_operation_here(argument);
  const smma_format format = of_a ? o.a : o.b;
  const int group = o.rule.algorithm == SMMA_GST_FDPA ? o.rule.with.gst_fdpa.group : 0;
  const uint64_t at = (uint64_t)smma_item(1) * lines + smma_item(0);
  smma_number x = smma_decode(smma_encoding_of(format), smma_read_code(codes, smma_code_bytes(format), at));
  if (o.rule.algorithm == SMMA_FP8_BY_FP16) x = smma_widen_to_f16(x);
  value[at] = smma_factor_value(&o, format, x);
  if (group && smma_item(1) % group == 0)
    exponent[at] = smma_nonzero_elements(format, group, codes, lines, at);
  else if (x.kind == SMMA_FINITE)
    exponent[at] = x.exponent;
  else
    exponent[at] = x.kind == SMMA_ZERO ? SMMA_ZERO_FACTOR : SMMA_SPECIAL_FACTOR;
}

/* What a fast kernel is called with: codes, values and exponents of A and B, codes of scale factors, accumulators in
   the outer format, and where elements stopped. A macro, as OpenCL's kernels take no pointers in structs. */
#define SMMA_FAST_KERNEL(name)                                                                                     \
  SMMA_KERNEL name(smma_operation argument, smma_extent e, SMMA_GLOBAL const void *a_codes,                        \
                   SMMA_GLOBAL const void *b_codes, SMMA_GLOBAL const float *a, SMMA_GLOBAL const int *a_exponent, \
                   SMMA_GLOBAL const float *b, SMMA_GLOBAL const int *b_exponent, SMMA_GLOBAL const void *scale_a, \
                   SMMA_GLOBAL const void *scale_b, SMMA_GLOBAL void *accumulator, SMMA_GLOBAL int *from)

#endif
