/* FTZ-AddMul and FTZ-FMA on a device, in binary32; where infinity or NaN comes, elements stop. Source:
   docs/algorithms/ftz-addmul.md, ftz-fma.md. */
#ifndef SMMA_DEVICE_FTZ_H
#define SMMA_DEVICE_FTZ_H

#include "device/kernels/item.h"

/* Subnormals as zeros: of their sign, or +0, as -0 is then, too. */
SMMA_DEVICE smma_floats smma_flush_lanes(smma_floats x, bool positive) {
  const smma_ints bits = smma_bits(x), zero = positive ? smma_ints_of(0) : bits & (int)0x80000000;
  return smma_floats_of_bits((bits & 0x7f800000) == 0 ? zero : bits);
}

/* A result of FTZ-AddMul. Products of factors with 5 exponent bits are multiples of 2^-48, as sums of them are, and a
   sum with c is 0 or not below 2^-72: nothing is subnormal. */
SMMA_DEVICE smma_floats smma_ftz_result(const smma_operation *o, smma_floats x) {
  return smma_has_narrow_exponents(o->a) && smma_has_narrow_exponents(o->b) ? x : smma_flush_lanes(x, false);
}

/* The product of element k, of row r. */
SMMA_DEVICE smma_floats smma_ftz_product(const smma_operation *o, const smma_item_operands *x, int k, int r) {
  const smma_floats b = smma_load_floats(x->b, smma_at_column(x, k));
  return smma_ftz_result(o, smma_multiplied(b, x->a[smma_at_row(x, k) + r]));
}

/* A step of the instruction. */
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

/* The same of FTZ-FMA. Of a result of magnitude 2^-126 binary32 does not tell whether it was below when it was rounded
   to 24 bits. */
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
