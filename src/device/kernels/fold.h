/* Does the tasks of src/gemm/fold.c on a device: additions and roundings of sums between a plan's chains. */
#ifndef SMMA_DEVICE_FOLD_H
#define SMMA_DEVICE_FOLD_H

#include "device/kernels/words.h"

/* Converts x from the format `outer` to `format` and back. */
SMMA_CORE uint64_t smma_round_through(const smma_rule *rule, smma_format outer, smma_format format, uint64_t x) {
  return smma_reformat(format, outer, rule->nan, smma_reformat(outer, format, rule->nan, x));
}

/* Does the task on one element per work item. `to` and `from` may be the same buffer. scale_a holds one factor per row,
   scale_b one per column. */
SMMA_KERNEL smma_kernel_fold(smma_operation argument, smma_extent e, smma_fold_task f, SMMA_GLOBAL void *to,
                             SMMA_GLOBAL const void *from, SMMA_GLOBAL const float *scale_a,
                             SMMA_GLOBAL const float *scale_b) {
  const smma_operation o = smma_operation_here(argument);
  const smma_format outer = (smma_format)f.outer;
  const smma_encoding format = smma_encoding_of(outer);
  const int i = smma_item(1), j = smma_item(0), bytes = smma_code_bytes(outer);
  const uint64_t at = (uint64_t)i * e.columns_apart + j;
  uint64_t x, sum;
  if (i >= e.rows || j >= e.columns) return;
  if (f.clears) {
    smma_write_code(to, bytes, at, 0);
    return;
  }
  x = smma_read_code(from, bytes, at);
  if (f.stored >= 0) x = smma_round_through(&o.rule, outer, (smma_format)f.stored, x);
  sum = x;
  if (f.folds) {
    sum = smma_read_code(to, bytes, at);
    if (f.scaled) {
      const float row = scale_a[i], column = scale_b[j], value = smma_f32_of((uint32_t)x),
                  t = smma_f32_of((uint32_t)sum);
      const float first = f.column_first ? column : row, second = f.column_first ? row : column;
      sum = smma_f32_bits(f.fused ? smma_f32_fma(row * column, value, t) : smma_f32_fma(second, first * value, t));
    } else if (outer == SMMA_S32) {
      sum = smma_integer_encode(smma_integer_overflow_of(&o.rule), (int64_t)(int32_t)sum + (int32_t)x);
    } else {
      sum = smma_ieee_add(format, o.rule.nan, sum, x);
    }
  }
  /* Replaces a NaN from the device's FMA by the rule's NaN. This is only needed with scale factors: the core's addition
     already returns the rule's NaN, and a sum that is only moved retains its NaN. */
  if (f.scaled && smma_decode(format, sum).kind == SMMA_NAN) sum = smma_nan_of(format, o.rule.nan);
  if (f.total >= 0) sum = smma_round_through(&o.rule, outer, (smma_format)f.total, sum);
  smma_write_code(to, bytes, at, sum);
}

#endif
