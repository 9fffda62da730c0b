/* FMA on a device: chains of native binary32 or binary64 FMA on the operands' encodings. Elements stop at infinity
   or NaN. Source: docs/algorithms/fma.md. */
#ifndef SMMA_DEVICE_FMA_H
#define SMMA_DEVICE_FMA_H

#include "device/kernels/item.h"

/* Computes one instruction step of the item: updates `d` of `s`, and clears `good` where the result may be wrong. */
SMMA_DEVICE void smma_fma_step(const smma_operation *o, smma_item_operands x, int step, smma_item_sums *s) {
  SMMA_GLOBAL const float *a = (SMMA_GLOBAL const float *)x.a_codes, *b = (SMMA_GLOBAL const float *)x.b_codes;
  int r, k;
  for (k = step * o->k; k < (step + 1) * o->k; k++) {
    const smma_floats y = smma_load_floats(b, smma_at_column(&x, k));
    SMMA_EACH_ROW(r) s->d[r] = smma_fused(y, a[smma_at_row(&x, k) + r], s->d[r]);
  }
  SMMA_EACH_ROW(r) s->good[r] = s->good[r] & smma_is_finite(s->d[r]);
}

SMMA_CHAIN_KERNEL(smma_kernel_fma_f32, smma_fma_step)

SMMA_FAST_KERNEL(smma_kernel_fma_f64) {
  const smma_operation o = smma_operation_here(argument);
  const smma_item_operands x = SMMA_ITEM_HERE;
  SMMA_GLOBAL const double *of_a = (SMMA_GLOBAL const double *)a_codes, *of_b = (SMMA_GLOBAL const double *)b_codes;
  SMMA_GLOBAL double *sums = (SMMA_GLOBAL double *)accumulator;
  smma_doubles d[SMMA_ITEM_ROWS], next[SMMA_ITEM_ROWS];
  smma_ints stopped[SMMA_ITEM_ROWS];
  int r, step, k;
  SMMA_EACH_ROW(r) {
    d[r] = smma_load_doubles(sums, smma_at_sums(&x, r));
    stopped[r] = smma_ints_of(e.steps);
  }
  for (step = 0; step < e.steps; step++) {
    SMMA_EACH_ROW(r) next[r] = d[r];
    for (k = step * o.k; k < (step + 1) * o.k; k++) {
      const smma_doubles y = smma_load_doubles(of_b, smma_at_column(&x, k));
      SMMA_EACH_ROW(r) next[r] = smma_fused_doubles(y, of_a[smma_at_row(&x, k) + r], next[r]);
    }
    SMMA_EACH_ROW(r) {
      const smma_ints good = (stopped[r] == e.steps) & (smma_exponent(next[r]) <= 1023);
      d[r] = smma_doubles_where(good, next[r], d[r]);
      stopped[r] = good ? stopped[r] : smma_lesser(stopped[r], smma_ints_of(step));
    }
  }
  SMMA_EACH_ROW(r) {
    smma_store_doubles(sums, smma_at_sums(&x, r), d[r]);
    smma_store_ints(from, smma_at_sums(&x, r), stopped[r]);
  }
}

#endif
