/* The core as a kernel: it computes any operation on any operands, and continues the elements at which fast kernels
   stopped. */
#ifndef SMMA_DEVICE_CORE_H
#define SMMA_DEVICE_CORE_H

#include "device/kernels/words.h"

/* Decodes `count` elements of a line from index k on, of an operand with `lines` lines. */
SMMA_CORE void smma_decode_line(smma_format format, SMMA_GLOBAL const void *codes, int lines, int line, int k,
                                int count, smma_number *out) {
  smma_encoding f = smma_encoding_of(format);
  int bytes = smma_code_bytes(format), i;
  for (i = 0; i < count; i++) out[i] = smma_decode(f, smma_read_code(codes, bytes, (uint64_t)(k + i) * lines + line));
}

/* Computes one element per work item, starting at the step that `from` holds for that element; `outer` is the format of
   accumulators. An element stops early at a NaN that the further steps do not change. They can change it if the rule
   passes on operands' NaN, or is a composition, whose steps may have formats without NaN. */
SMMA_KERNEL smma_kernel_core(smma_operation argument, smma_extent e, int outer, SMMA_GLOBAL const void *a,
                             SMMA_GLOBAL const void *b, SMMA_GLOBAL const void *scale_a,
                             SMMA_GLOBAL const void *scale_b, SMMA_GLOBAL void *accumulator,
                             SMMA_GLOBAL const int *from) {
  const smma_operation o = smma_operation_here(argument);
  const smma_encoding d_format = smma_encoding_of(o.d);
  const int scales = smma_scale_count(o.k, o.scale_block), bytes = smma_code_bytes((smma_format)outer);
  const int i = smma_item(1), j = smma_item(0);
  const uint64_t at = (uint64_t)i * e.columns_apart + j;
  smma_decoded x;
  uint64_t d;
  int step;
  if (i >= e.rows || j >= e.columns || from[at] >= e.steps) return;
  d = smma_reformat((smma_format)outer, o.d, o.rule.nan, smma_read_code(accumulator, bytes, at));
  for (step = from[at]; step < e.steps; step++) {
    smma_decode_line(o.a, a, e.rows_apart, i, step * o.k, o.k, x.a);
    smma_decode_line(o.b, b, e.columns_apart, j, step * o.k, o.k, x.b);
    smma_decode_line(o.scale, scale_a, e.rows_apart, i, step * scales, scales, x.scale_a);
    smma_decode_line(o.scale, scale_b, e.columns_apart, j, step * scales, scales, x.scale_b);
    d = smma_dot_add(&o, smma_operands_of(&x), d);
    if (smma_algorithm_of(&o.rule) != SMMA_COMPOSITION && smma_has_one_nan(o.rule.nan) &&
        smma_decode(d_format, d).kind == SMMA_NAN)
      break;
  }
  smma_write_code(accumulator, bytes, at, smma_reformat(o.d, (smma_format)outer, o.rule.nan, d));
}

#endif
