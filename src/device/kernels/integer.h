/* INTEGER on a device. Products of integers of at most 8 bits, and their sums over a step, are below 2^24 and
   computed in binary32; a xor b of single bits is a + (1 - 2 a) b. Accumulators are integers. Source:
   docs/algorithms/integer.md. */
#ifndef SMMA_DEVICE_INTEGER_H
#define SMMA_DEVICE_INTEGER_H

#include "device/kernels/item.h"

/* Computes one instruction step of the item: updates `d` of `s`. Every result is correct, so `good` stays. */
SMMA_DEVICE void smma_integer_step(const smma_operation *o, smma_item_operands x, int step, smma_item_sums *s) {
  const bool wraps = o->rule.with.integer.overflow == SMMA_INTEGER_WRAPS;
  const bool is_xor = o->rule.with.integer.product == SMMA_PRODUCT_XOR;
  smma_floats sum[SMMA_ITEM_ROWS];
  int r, t;
  SMMA_EACH_ROW(r) sum[r] = smma_floats_of_bits(smma_ints_of(0));
  for (t = 0; t < o->k; t++) {
    const int k = step * o->k + t;
    const smma_floats b = smma_load_floats(x.b, smma_at_column(&x, k));
    SMMA_EACH_ROW(r) {
      const float a = x.a[smma_at_row(&x, k) + r];
      sum[r] = is_xor ? smma_fused(b, 1 - 2 * a, sum[r]) + a : smma_fused(b, a, sum[r]);
    }
  }
  SMMA_EACH_ROW(r) {
    const smma_ints c = smma_bits(s->d[r]), products = smma_truncated(sum[r]);
    s->d[r] = smma_floats_of_bits(wraps ? smma_wrapped_sum(c, products) : smma_clamped_sum(c, products));
  }
}

SMMA_CHAIN_KERNEL(smma_kernel_integer, smma_integer_step)

#endif
