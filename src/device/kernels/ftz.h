/* FTZ-AddMul and FTZ-FMA on a device, in binary32. Elements stop at infinity or NaN. Source:
   docs/algorithms/ftz-addmul.md, ftz-fma.md. */
#ifndef SMMA_DEVICE_FTZ_H
#define SMMA_DEVICE_FTZ_H

#include "device/kernels/item.h"

/* Flushes subnormals to zeros of the same sign; if `positive`, flushes subnormals and zeros to +0. */
SMMA_DEVICE smma_floats smma_flush_lanes(smma_floats x, bool positive) {
  const smma_ints bits = smma_bits(x), zero = positive ? smma_ints_of(0) : bits & (int)0x80000000;
  return smma_floats_of_bits((bits & 0x7f800000) == 0 ? zero : bits);
}

/* Returns a result of FTZ-AddMul, flushed if necessary. With factors of 5 exponent bits, products and their sums are
   multiples of 2^-48, and a sum with c is 0 or at least 2^-72: nothing is subnormal. */
SMMA_DEVICE smma_floats smma_ftz_result(const smma_operation *o, smma_floats x) {
  return smma_has_narrow_exponents(o->a) && smma_has_narrow_exponents(o->b) ? x : smma_flush_lanes(x, false);
}

/* Returns the product of element k of row r. */
SMMA_DEVICE smma_floats smma_ftz_product(const smma_operation *o, const smma_item_operands *x, int k, int r) {
  const smma_floats b = smma_load_floats(x->b, smma_at_column(x, k));
  return smma_ftz_result(o, smma_multiplied(b, x->a[smma_at_row(x, k) + r]));
}

/* Computes one instruction step of FTZ-AddMul: updates `d` of `s`, and clears `good` where the result may be wrong. */
SMMA_DEVICE void smma_ftz_addmul_step(const smma_operation *o, smma_item_operands x, int step, smma_item_sums *s) {
  const int pairwise = o->rule.with.ftz_addmul.pairwise;
  int r, k;
  SMMA_EACH_ROW(r) s->d[r] = smma_flush_lanes(s->d[r], true);
  for (k = step * o->k; k < (step + 1) * o->k; k += pairwise) SMMA_EACH_ROW(r) {
      smma_floats sum = smma_ftz_result(o, smma_ftz_product(o, &x, k, r) + smma_ftz_product(o, &x, k + 1, r));
      if (pairwise == 4)
        sum = smma_ftz_result(
            o, sum + smma_ftz_result(o, smma_ftz_product(o, &x, k + 2, r) + smma_ftz_product(o, &x, k + 3, r)));
      s->d[r] = smma_ftz_result(o, s->d[r] + sum);
    }
  SMMA_EACH_ROW(r) s->good[r] = s->good[r] & smma_is_finite(s->d[r]);
}

/* Computes one instruction step of FTZ-FMA. An element stops at a result of magnitude 2^-126: binary32 does not show
   whether it was smaller when rounded to 24 bits. */
SMMA_DEVICE void smma_ftz_fma_step(const smma_operation *o, smma_item_operands x, int step, smma_item_sums *s) {
  int r, k;
  SMMA_EACH_ROW(r) s->d[r] = smma_flush_lanes(s->d[r], false);
  for (k = (step + 1) * o->k - 1; k >= step * o->k; k--) {
    const smma_floats b = smma_load_floats(x.b, smma_at_column(&x, k));
    SMMA_EACH_ROW(r) {
      const smma_floats d = smma_fused(b, x.a[smma_at_row(&x, k) + r], s->d[r]);
      s->good[r] = s->good[r] & ((smma_bits(d) & 0x7fffffff) != 0x00800000);
      s->d[r] = smma_flush_lanes(d, false);
    }
  }
  SMMA_EACH_ROW(r) s->good[r] = s->good[r] & smma_is_finite(s->d[r]);
}

SMMA_CHAIN_KERNEL(smma_kernel_ftz_addmul, smma_ftz_addmul_step)
SMMA_CHAIN_KERNEL(smma_kernel_ftz_fma, smma_ftz_fma_step)

#endif
