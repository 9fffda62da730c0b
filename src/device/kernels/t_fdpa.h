/* T-FDPA, ST-FDPA and FP8 by FP16 on a device. Products are computed in binary32, scaled to the alignment unit and
   truncated to integers. Sums, rounding and everything between blocks are exact in binary64. Source:
   docs/algorithms/t-fdpa.md, st-fdpa.md. */
#ifndef SMMA_DEVICE_T_FDPA_H
#define SMMA_DEVICE_T_FDPA_H

#include "device/kernels/item.h"

/* Returns how many of `count` products can be added in a 32-bit integer: each is below 2^(F + 2). */
SMMA_CORE int smma_products_in_word(const smma_t_fdpa *p, int count) {
  int most = p->alignment_bits < 29 ? 1 << (29 - p->alignment_bits) : 1;
  return count < most ? count : most;
}

/* Returns the sum of the exponents of the UE8M0 scale factors of row r and of the columns at index k;
   SMMA_SPECIAL_FACTOR if one is NaN. */
SMMA_DEVICE smma_ints smma_scale_exponent(const smma_operation *o, const smma_item_operands *x, int k, int r) {
  const int a = ((SMMA_GLOBAL const uint8_t *)x->scale_a)[smma_at_row(x, k / o->scale_block) + r];
  const smma_ints b = smma_load_bytes((SMMA_GLOBAL const uint8_t *)x->scale_b, smma_at_column(x, k / o->scale_block));
  return smma_greater(b, smma_ints_of(a)) == 255 ? smma_ints_of(SMMA_SPECIAL_FACTOR) : b + (a - 2 * 127);
}

/* Computes one block of a step. Clears `good` for elements whose results may be wrong. */
SMMA_DEVICE void smma_t_fdpa_item(const smma_operation *o, const smma_t_fdpa *p, smma_item_operands x, int step,
                                  int block, smma_item_sums *s) {
  const smma_encoding d_format = smma_encoding_of(o->d);
  const bool narrow = smma_has_narrow_exponents(o->a) && smma_has_narrow_exponents(o->b);
  const int F = p->alignment_bits, count = smma_block_of(o), chunk = smma_products_in_word(p, count);
  smma_ints greatest[SMMA_ITEM_ROWS], lift[SMMA_ITEM_ROWS]; /* lift: exponent of the product of both scale factors */
  smma_doubles total[SMMA_ITEM_ROWS];
  smma_floats scale[SMMA_ITEM_ROWS];
  int r, t, first;
  SMMA_EACH_ROW(r) {
    greatest[r] = smma_ints_of(2 * SMMA_ZERO_FACTOR);
    lift[r] = smma_ints_of(0);
    if (o->scale_block) {
      lift[r] = smma_scale_exponent(o, &x, step * o->k + smma_product_index(o, block, 0), r);
      s->good[r] = s->good[r] & (lift[r] <= SMMA_MOST_EXPONENT);
    }
  }
  for (t = 0; t < count; t++) {
    const int k = step * o->k + smma_product_index(o, block, t);
    const smma_ints of_b = smma_load_ints(x.b_exponent, (uint64_t)k * x.e.columns_apart + x.column);
    SMMA_GLOBAL const int *of_a = x.a_exponent + (uint64_t)k * x.e.rows_apart + x.row;
    SMMA_EACH_ROW(r) greatest[r] = smma_greater(greatest[r], of_b + of_a[r]);
  }
  SMMA_EACH_ROW(r) {
    const smma_ints top = smma_greater(greatest[r] + lift[r], smma_accumulator_exponent(d_format, s->d[r]));
    const smma_ints all_zero = top < -SMMA_MOST_EXPONENT;
    const smma_ints usual = (top >= p->zero_exponent) & (top <= 127);
    const smma_ints emax = usual ? top : smma_ints_of(127);
    const smma_ints up = usual ? smma_greater(F + lift[r] - emax, smma_ints_of(-126)) : smma_ints_of(-126);
    s->good[r] = s->good[r] & (usual | all_zero);
    greatest[r] = emax;
    scale[r] = smma_floats_of_bits((smma_lesser(up, smma_ints_of(100)) + 127) << 23);
    total[r] = smma_trunc(smma_doubles_of_floats(s->d[r]) * smma_power(F - emax));
  }
  for (first = 0; first < count; first += chunk) {
    smma_ints sum[SMMA_ITEM_ROWS];
    SMMA_EACH_ROW(r) sum[r] = smma_ints_of(0);
    for (t = first; t < first + chunk; t++) {
      const int k = step * o->k + smma_product_index(o, block, t);
      const uint64_t at = (uint64_t)k * x.e.columns_apart + x.column, of_a = (uint64_t)k * x.e.rows_apart + x.row;
      const smma_floats b = smma_load_floats(x.b, at);
      if (narrow) {
        SMMA_EACH_ROW(r) sum[r] += smma_truncated(b * x.a[of_a + r] * scale[r]);
      } else {
        const smma_ints b_exponent = smma_load_ints(x.b_exponent, at);
        SMMA_EACH_ROW(r) {
          const smma_ints up = smma_greater(b_exponent + x.a_exponent[of_a + r] - greatest[r], smma_ints_of(-100));
          const smma_floats unit = smma_floats_of_bits((smma_lesser(up, smma_ints_of(0)) + (F + 127)) << 23);
          sum[r] += smma_truncated(b * x.a[of_a + r] * unit);
        }
      }
    }
    SMMA_EACH_ROW(r) total[r] += smma_doubles_of(sum[r]);
  }
  SMMA_EACH_ROW(r)
  s->d[r] = smma_positive_zeros(smma_round_lanes(p->output, p->rounding, total[r] * smma_power(greatest[r] - F)));
}

/* Computes one instruction step of the item: updates `d` of `s`, and clears `good` where the result may be wrong. */
SMMA_DEVICE void smma_t_fdpa_step(const smma_operation *o, smma_item_operands x, int step, smma_item_sums *s) {
  const smma_t_fdpa *p = &o->rule.with.t_fdpa;
  const int blocks = smma_blocks_per_step(o);
  smma_floats c[SMMA_ITEM_ROWS];
  int block, r;
  SMMA_EACH_ROW(r) c[r] = s->d[r];
  if (o->rule.algorithm == SMMA_FP8_BY_FP16) SMMA_EACH_ROW(r) s->d[r] = smma_floats_of_bits(smma_ints_of(0));
  for (block = 0; block < blocks; block++) smma_t_fdpa_item(o, p, x, step, block, s);
  if (o->rule.algorithm == SMMA_FP8_BY_FP16) SMMA_EACH_ROW(r) {
      const smma_ints known = smma_accumulator_exponent(smma_encoding_of(o->d), c[r]) <= SMMA_MOST_EXPONENT;
      s->good[r] = s->good[r] & known;
      s->d[r] = o->d == SMMA_F32 ? s->d[r] + c[r]
                                 : smma_round_lanes(o->d, SMMA_ROUND_NEAREST_EVEN,
                                                    smma_doubles_of_floats(s->d[r]) + smma_doubles_of_floats(c[r]));
    }
}

SMMA_CHAIN_KERNEL(smma_kernel_t_fdpa, smma_t_fdpa_step)

#endif
