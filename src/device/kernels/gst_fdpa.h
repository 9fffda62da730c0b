/* GST-FDPA on a device: groups of FP4 products summed exactly in binary32, with scale factors' significands below 2^24;
   aligned, added and rounded in binary64. Source: docs/algorithms/gst-fdpa.md. */
#ifndef SMMA_DEVICE_GST_FDPA_H
#define SMMA_DEVICE_GST_FDPA_H

#include "device/kernels/scales.h"

/* The scale factors of the group that begins at k; with significand 0 if all its products are zero. */
SMMA_DEVICE smma_item_scale smma_group_scale(const smma_operation *o, const smma_item_operands *x, int k, int r) {
  const smma_ints nonzero = smma_load_ints(x->b_exponent, smma_at_column(x, k));
  smma_item_scale factor = smma_scale_lanes(o, x, k, r);
  factor.significand = (nonzero & x->a_exponent[smma_at_row(x, k) + r]) == 0 ? smma_ints_of(0) : factor.significand;
  return factor;
}

/* A step of the instruction. */
SMMA_DEVICE void smma_gst_fdpa_step(const smma_operation *o, smma_item_operands x, int step, smma_item_sums *s) {
  const smma_t_fdpa *p = &o->rule.with.gst_fdpa.fused;
  const int F = p->alignment_bits, group = o->rule.with.gst_fdpa.group;
  const int fraction_bits = 2 * smma_encoding_of(o->scale).fraction_bits; /* of two factors */
  smma_ints greatest[SMMA_ITEM_ROWS];
  smma_doubles total[SMMA_ITEM_ROWS];
  int r, t, first;
  SMMA_EACH_ROW(r) {
    const smma_ints own = smma_accumulator_exponent(smma_encoding_of(o->d), s->d[r]);
    s->good[r] = s->good[r] & (own <= SMMA_MOST_EXPONENT);
    greatest[r] = smma_greater(smma_lesser(own, smma_ints_of(127)), smma_ints_of(p->zero_exponent));
    for (first = 0; first < o->k; first += group) {
      const smma_item_scale factor = smma_group_scale(o, &x, step * o->k + first, r);
      s->good[r] = s->good[r] & (factor.special == 0);
      greatest[r] = smma_greater(greatest[r], factor.significand == 0 ? greatest[r] : factor.exponent);
    }
    total[r] = smma_trunc(smma_doubles_of_floats(s->d[r]) * smma_power(F - greatest[r]));
  }
  for (first = 0; first < o->k; first += group) {
    smma_floats sum[SMMA_ITEM_ROWS];
    SMMA_EACH_ROW(r) sum[r] = smma_floats_of_bits(smma_ints_of(0));
    for (t = first; t < first + group; t++) {
      const int k = step * o->k + t;
      const smma_floats b = smma_load_floats(x.b, smma_at_column(&x, k));
      SMMA_EACH_ROW(r) sum[r] = smma_fused(b, x.a[smma_at_row(&x, k) + r], sum[r]);
    }
    SMMA_EACH_ROW(r) {
      const smma_item_scale factor = smma_group_scale(o, &x, step * o->k + first, r);
      const smma_doubles scaled = smma_doubles_of_floats(sum[r]) * smma_doubles_of(factor.significand);
      total[r] += smma_trunc(scaled * smma_power(factor.exponent - fraction_bits + F - greatest[r]));
    }
  }
  SMMA_EACH_ROW(r)
  s->d[r] = smma_round_lanes(p->output, p->rounding, total[r] * smma_power(greatest[r] - F));
}

SMMA_CHAIN_KERNEL(smma_kernel_gst_fdpa, smma_gst_fdpa_step)

#endif
