/* GST-FDPA on a device. Groups of FP4 products are summed exactly in binary32 and, with the scale factors'
   significands, stay below 2^24. They are aligned to 64-bit integers and rounded in binary64. Source:
   docs/algorithms/gst-fdpa.md. */
#ifndef SMMA_DEVICE_GST_FDPA_H
#define SMMA_DEVICE_GST_FDPA_H

#include "device/kernels/item.h"

/* Product of the scale factors of row r's group and of the columns' group: its exponent, which exceeds
   SMMA_MOST_EXPONENT if a factor is NaN, and its significand, which is 0 if all products are zero. */
typedef struct {
  smma_ints exponent, significand;
} smma_item_scale;

SMMA_DEVICE smma_item_scale smma_group_scale(const smma_item_operands *x, int k, int r) {
  SMMA_GLOBAL const int *a = x->a_exponent, *b = x->b_exponent;
  const smma_ints nonzero =
      smma_load_ints(b, smma_at_column(x, k + SMMA_GROUP_NONZERO)) & a[smma_at_row(x, k + SMMA_GROUP_NONZERO) + r];
  const smma_ints significand = smma_load_ints(b, smma_at_column(x, k + SMMA_GROUP_SIGNIFICAND)) *
                                a[smma_at_row(x, k + SMMA_GROUP_SIGNIFICAND) + r];
  smma_item_scale s;
  s.exponent =
      smma_load_ints(b, smma_at_column(x, k + SMMA_GROUP_EXPONENT)) + a[smma_at_row(x, k + SMMA_GROUP_EXPONENT) + r];
  s.significand = nonzero == 0 ? smma_ints_of(0) : significand;
  return s;
}

/* Computes one instruction step of the item: updates `d` of `s`, and clears `good` where the result may be wrong. */
SMMA_DEVICE void smma_gst_fdpa_step(const smma_operation *o, smma_item_operands x, int step, smma_item_sums *s) {
  const smma_t_fdpa *p = &o->rule.with.gst_fdpa.fused;
  const int group = o->rule.with.gst_fdpa.group;
  const int bits =
      p->alignment_bits - 2 * smma_encoding_of(o->scale).fraction_bits; /* fraction bits of the groups' unit */
  smma_ints greatest[SMMA_ITEM_ROWS], most[SMMA_ITEM_ROWS];
  smma_longs total[SMMA_ITEM_ROWS];
  int r, t, first;
  SMMA_EACH_ROW(r) {
    most[r] = smma_accumulator_exponent(smma_encoding_of(o->d), s->d[r]);
    greatest[r] = smma_greater(most[r], smma_ints_of(p->zero_exponent));
  }
  for (first = step * o->k; first < (step + 1) * o->k; first += group) SMMA_EACH_ROW(r) {
      const smma_item_scale factor = smma_group_scale(&x, first, r);
      most[r] = smma_greater(most[r], factor.exponent);
      greatest[r] = smma_greater(greatest[r], factor.significand == 0 ? greatest[r] : factor.exponent);
    }
  SMMA_EACH_ROW(r) {
    const smma_ints known = most[r] <= SMMA_MOST_EXPONENT;
    const smma_floats c = known ? s->d[r] : smma_floats_of_bits(smma_ints_of(0));
    s->good[r] = s->good[r] & known;
    greatest[r] = smma_lesser(greatest[r], smma_ints_of(SMMA_MOST_EXPONENT / 2));
    total[r] = smma_truncated_doubles(smma_doubles_of_floats(c) * smma_power(p->alignment_bits - greatest[r]));
  }
  for (first = step * o->k; first < (step + 1) * o->k; first += group) {
    smma_floats sum[SMMA_ITEM_ROWS];
    SMMA_EACH_ROW(r) sum[r] = smma_floats_of_bits(smma_ints_of(0));
    for (t = first; t < first + group; t++) {
      const smma_floats b = smma_load_floats(x.b, smma_at_column(&x, t));
      SMMA_EACH_ROW(r) sum[r] = smma_fused(b, x.a[smma_at_row(&x, t) + r], sum[r]);
    }
    SMMA_EACH_ROW(r) {
      const smma_item_scale factor = smma_group_scale(&x, first, r);
      const smma_ints below = smma_lesser(factor.exponent - greatest[r], smma_ints_of(0));
      const smma_doubles scaled = smma_doubles_of_floats(sum[r] * smma_floats_of_ints(factor.significand));
      total[r] += smma_truncated_doubles(scaled * smma_power(below + bits));
    }
  }
  SMMA_EACH_ROW(r) {
    const smma_doubles exact = smma_doubles_of_longs(total[r]) * smma_power(greatest[r] - p->alignment_bits);
    s->d[r] = smma_positive_zeros(smma_round_lanes(p->output, p->rounding, exact));
  }
}

SMMA_CHAIN_KERNEL(smma_kernel_gst_fdpa, smma_gst_fdpa_step)

#endif
