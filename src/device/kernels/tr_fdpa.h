/* TR-FDPA and GTR-FDPA on a device. Products are computed in binary32, scaled to the alignment unit and truncated to
   integers. Rounding down is exact in binary64, because sums have 38 bits. Source: docs/algorithms/tr-fdpa.md,
   gtr-fdpa.md. */
#ifndef SMMA_DEVICE_TR_FDPA_H
#define SMMA_DEVICE_TR_FDPA_H

#include "device/kernels/item.h"

/* An exponent below those of all nonzero products, but within the range of smma_power. */
enum { SMMA_NO_PRODUCT = -300 };

/* Sums of products for each row, in units of 2^(exponent - F). */
typedef struct {
  smma_doubles sum[SMMA_ITEM_ROWS];
  smma_ints exponent[SMMA_ITEM_ROWS];
} smma_item_products;

/* Sets `p` to the sum of every `stride`-th product of a block from `first` on, truncated. Clears `good` for elements
   whose products are too great. Each of at most 16 products is below 2^(F + 2). */
SMMA_DEVICE void smma_truncated_products(const smma_operation *o, const smma_item_operands *x, int step, int block,
                                         int first, int stride, smma_item_products *p, smma_item_sums *s) {
  const bool narrow = smma_has_narrow_exponents(o->a) && smma_has_narrow_exponents(o->b);
  const int F = o->rule.with.tr_fdpa.alignment_bits, count = smma_block_of(o);
  smma_ints sum[SMMA_ITEM_ROWS];
  smma_floats scale[SMMA_ITEM_ROWS];
  int r, t;
  SMMA_EACH_ROW(r) p->exponent[r] = smma_ints_of(SMMA_NO_PRODUCT);
  for (t = first; t < count; t += stride) {
    const int k = step * o->k + smma_product_index(o, block, t);
    const smma_ints of_b = smma_load_ints(x->b_exponent, smma_at_column(x, k));
    SMMA_GLOBAL const int *of_a = x->a_exponent + smma_at_row(x, k);
    SMMA_EACH_ROW(r) p->exponent[r] = smma_greater(p->exponent[r], of_b + of_a[r]);
  }
  SMMA_EACH_ROW(r) {
    s->good[r] = s->good[r] & (p->exponent[r] <= 126); /* greater exponents may be of infinite products */
    p->exponent[r] = smma_lesser(p->exponent[r], smma_ints_of(126));
    scale[r] = smma_floats_of_bits((smma_lesser(F - p->exponent[r], smma_ints_of(100)) + 127) << 23);
    sum[r] = smma_ints_of(0);
  }
  for (t = first; t < count; t += stride) {
    const int k = step * o->k + smma_product_index(o, block, t);
    const uint64_t at = smma_at_column(x, k), of_a = smma_at_row(x, k);
    const smma_floats b = smma_load_floats(x->b, at);
    if (narrow) {
      SMMA_EACH_ROW(r) sum[r] += smma_truncated(b * x->a[of_a + r] * scale[r]);
    } else {
      const smma_ints b_exponent = smma_load_ints(x->b_exponent, at);
      SMMA_EACH_ROW(r) {
        const smma_ints up = smma_greater(b_exponent + x->a_exponent[of_a + r] - p->exponent[r], smma_ints_of(-100));
        const smma_floats unit = smma_floats_of_bits((smma_lesser(up, smma_ints_of(0)) + (F + 127)) << 23);
        sum[r] += smma_truncated(b * x->a[of_a + r] * unit);
      }
    }
  }
  SMMA_EACH_ROW(r) p->sum[r] = smma_doubles_of(sum[r]);
}

/* Adds the sums of even k (`p`) and of odd k (`other`): brings both to the greater exponent, rounds each down to a
   multiple of 2^(exponent - F), and stores their sum in `p`. */
SMMA_DEVICE void smma_join_products_down(smma_item_products *p, const smma_item_products *other) {
  int r;
  SMMA_EACH_ROW(r) {
    const smma_ints exponent = smma_greater(p->exponent[r], other->exponent[r]);
    p->sum[r] = smma_floor(p->sum[r] * smma_power(p->exponent[r] - exponent)) +
                smma_floor(other->sum[r] * smma_power(other->exponent[r] - exponent));
    p->exponent[r] = exponent;
  }
}

/* Returns the result of a block: aligns the sum of products and c to the greater exponent, rounding down, adds them and
   rounds the sum. */
SMMA_DEVICE smma_floats smma_tr_fdpa_add(const smma_operation *o, smma_doubles products, smma_ints exponent,
                                         smma_floats c) {
  const smma_tr_fdpa *p = &o->rule.with.tr_fdpa;
  const int F = p->alignment_bits, bits = p->sum_bits + (p->revision > 1);
  const smma_ints own = smma_greater(((smma_bits(c) & 0x7fffffff) >> 23) - 127, smma_ints_of(-126));
  const smma_ints emax = smma_greater(exponent, own);
  const bool grouped = o->rule.algorithm == SMMA_GTR_FDPA;
  const smma_floats heard = grouped ? smma_floats_of_bits(own < emax - (F + 1) ? smma_ints_of(0) : smma_bits(c)) : c;
  const smma_doubles total =
      smma_floor(products * smma_power(exponent - emax + (bits - F))) +
      smma_floor(smma_doubles_of_floats(heard) * smma_power(F - emax)) * (double)(1 << (bits - F));
  smma_ints last;
  if (p->revision == 1) return smma_floats_of(total * smma_power(emax - bits));
  last = smma_greater(smma_exponent(total) + emax - bits, smma_ints_of(-126)) - p->sum_bits;
  return smma_floats_of(smma_floor(total * smma_power(emax - bits - last)) * smma_power(last));
}

/* Computes one instruction step of the item: updates `d` of `s`, and clears `good` where the result may be wrong. */
SMMA_DEVICE void smma_tr_fdpa_step(const smma_operation *o, smma_item_operands x, int step, smma_item_sums *s) {
  const int blocks = smma_blocks_per_step(o);
  int block, r;
  for (block = 0; block < blocks; block++) {
    smma_item_products p;
    if (o->rule.algorithm == SMMA_GTR_FDPA) {
      smma_item_products odd;
      smma_truncated_products(o, &x, step, block, 0, 2, &p, s);
      smma_truncated_products(o, &x, step, block, 1, 2, &odd, s);
      smma_join_products_down(&p, &odd);
    } else {
      smma_truncated_products(o, &x, step, block, 0, 1, &p, s);
    }
    SMMA_EACH_ROW(r) {
      s->good[r] = s->good[r] & smma_is_finite(s->d[r]);
      s->d[r] = smma_tr_fdpa_add(o, p.sum[r], p.exponent[r], s->d[r]);
    }
  }
}

SMMA_CHAIN_KERNEL(smma_kernel_tr_fdpa, smma_tr_fdpa_step)

#endif
