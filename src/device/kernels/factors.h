/* Factors: the value and the exponent of each element of A and B, in separate arrays. */
#ifndef SMMA_DEVICE_FACTORS_H
#define SMMA_DEVICE_FACTORS_H

#include "device/kernels/words.h"

/* Exponents that mark zero and special factors. Added to the exponent of any factor, SMMA_ZERO_FACTOR stays below
   -SMMA_MOST_EXPONENT and SMMA_SPECIAL_FACTOR above SMMA_MOST_EXPONENT; a special factor plus a zero counts as
   special. */
enum { SMMA_ZERO_FACTOR = -10000, SMMA_SPECIAL_FACTOR = 25000, SMMA_MOST_EXPONENT = 1000 };

/* Reports whether products of a format's numbers stay in binary32's range, also when scaled to the alignment unit. For
   other formats, factor values are only significands, below 2. */
SMMA_CORE bool smma_has_narrow_exponents(smma_format format) { return smma_encoding_of(format).exponent_bits <= 5; }

/* Returns 2^n for -126 <= n <= 127. */
SMMA_CORE float smma_f32_power(int n) { return smma_f32_of((uint32_t)(n + 127) << 23); }

/* In GST-FDPA, these words replace the exponents of a group's first three elements: a mask of the group's nonzero
   elements; the exponent of its scale factor, or SMMA_SPECIAL_FACTOR; the scale factor's significand as an integer. */
enum { SMMA_GROUP_NONZERO, SMMA_GROUP_EXPONENT, SMMA_GROUP_SIGNIFICAND, SMMA_GROUP_WORDS };

/* Returns one of these words for the group that begins at index k. A code is a zero if its exponent and fraction fields
   are 0; this is correct for formats without special values. */
SMMA_CORE int smma_group_word(const smma_operation *o, int word, smma_format format, int lines, int line, int k,
                              SMMA_GLOBAL const void *codes, SMMA_GLOBAL const void *scales) {
  const smma_encoding f = smma_encoding_of(format);
  int bits = 0, i;
  smma_number x;
  if (word != SMMA_GROUP_NONZERO) {
    x = smma_decode(smma_encoding_of(o->scale),
                    smma_read_code(scales, 1, (uint64_t)(k / o->scale_block) * lines + line));
    if (word == SMMA_GROUP_SIGNIFICAND) return (int)x.significand;
    return x.kind == SMMA_NAN ? SMMA_SPECIAL_FACTOR : x.exponent;
  }
  for (i = 0; i < o->rule.with.gst_fdpa.group; i++) {
    const uint64_t code = smma_read_code(codes, 1, (uint64_t)(k + i) * lines + line);
    bits |= (smma_low_bits(code, f.exponent_bits + f.fraction_bits) != 0) << i;
  }
  return bits;
}

/* Reports whether the factor values of an operation are the operands' values, including subnormals and specials. */
SMMA_CORE bool smma_has_whole_values(const smma_operation *o) {
  return o->rule.algorithm == SMMA_E_FDPA || o->rule.algorithm == SMMA_FTZ_ADDMUL || o->rule.algorithm == SMMA_FTZ_FMA;
}

SMMA_CORE float smma_factor_value(const smma_operation *o, smma_format format, smma_number x) {
  const bool whole = smma_has_whole_values(o);
  float magnitude = 0;
  if (o->rule.algorithm == SMMA_FTZ_ADDMUL) x = smma_flush_positive(x);
  if (o->rule.algorithm == SMMA_FTZ_FMA) x = smma_flush_signed(x);
  if (x.kind <= SMMA_FINITE)
    magnitude = (float)(int32_t)x.significand * smma_f32_power(-x.fraction_bits) *
                smma_f32_power(whole || smma_has_narrow_exponents(format) ? x.exponent : 0);
  else if (whole)
    magnitude = smma_f32_of(x.kind == SMMA_INFINITE ? 0x7f800000 : 0x7fc00000);
  return x.negative ? -magnitude : magnitude;
}

/* Converts one element per work item to a factor: element smma_item(1) along K of line smma_item(0). */
SMMA_KERNEL smma_kernel_factors(smma_operation argument, int of_a, int lines, SMMA_GLOBAL const void *codes,
                                SMMA_GLOBAL const void *scales, SMMA_GLOBAL float *value, SMMA_GLOBAL int *exponent) {
  const smma_operation o = smma_operation_here(argument);
  const smma_format format = of_a ? o.a : o.b;
  const int line = smma_item(0), k = smma_item(1);
  const int word = o.rule.algorithm == SMMA_GST_FDPA ? k % o.rule.with.gst_fdpa.group : SMMA_GROUP_WORDS;
  const uint64_t at = (uint64_t)k * lines + line;
  smma_number x = smma_decode(smma_encoding_of(format), smma_read_code(codes, smma_code_bytes(format), at));
  if (o.rule.algorithm == SMMA_FP8_BY_FP16) x = smma_widen_to_f16(x);
  value[at] = smma_factor_value(&o, format, x);
  if (word < SMMA_GROUP_WORDS)
    exponent[at] = smma_group_word(&o, word, format, lines, line, k - word, codes, scales);
  else if (x.kind == SMMA_FINITE)
    exponent[at] = x.exponent;
  else
    exponent[at] = x.kind == SMMA_ZERO ? SMMA_ZERO_FACTOR : SMMA_SPECIAL_FACTOR;
}

/* Declares a fast kernel: its arguments are codes, values and exponents of A and B, codes of scale factors,
   accumulators in the outer format, and the steps at which elements stopped. It is a macro because OpenCL kernels
   accept no pointers in structs. */
#define SMMA_FAST_KERNEL(name)                                                                                     \
  SMMA_KERNEL name(smma_operation argument, smma_extent e, SMMA_GLOBAL const void *a_codes,                        \
                   SMMA_GLOBAL const void *b_codes, SMMA_GLOBAL const float *a, SMMA_GLOBAL const int *a_exponent, \
                   SMMA_GLOBAL const float *b, SMMA_GLOBAL const int *b_exponent, SMMA_GLOBAL const void *scale_a, \
                   SMMA_GLOBAL const void *scale_b, SMMA_GLOBAL void *accumulator, SMMA_GLOBAL int *from)

#endif
