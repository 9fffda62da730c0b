/* E-FDPA on a device. Sums in binary64 are exact or rounded to odd, so that binary32 rounds them like the exact sum.
   Elements stop at infinity or NaN. Source: docs/algorithms/e-fdpa.md; proof of the sums: src/gemm/family/e_fdpa.h. */
#ifndef SMMA_DEVICE_E_FDPA_H
#define SMMA_DEVICE_E_FDPA_H

#include "device/kernels/item.h"

/* Returns x + y rounded to odd: for an inexact sum, takes the neighbour toward zero if the error has the opposite
   sign, and sets the last bit. */
SMMA_DEVICE smma_doubles smma_add_odd(smma_doubles x, smma_doubles y) {
  const smma_doubles sum = x + y, part = sum - x, error = (x - (sum - part)) + (y - part);
  const smma_longs bits = smma_double_bits(sum), signs = bits ^ smma_double_bits(error);
  return smma_doubles_of_bits(error != 0.0 ? (bits + (signs >> 63)) | 1 : bits);
}

/* smma_greater_of returns the operand of greater magnitude, smma_lesser_of the other operand. */
SMMA_DEVICE smma_doubles smma_greater_of(smma_doubles x, smma_doubles y) {
  return smma_absolute(x) > smma_absolute(y) ? x : y;
}
SMMA_DEVICE smma_doubles smma_lesser_of(smma_doubles x, smma_doubles y) {
  return smma_absolute(x) > smma_absolute(y) ? y : x;
}

/* Return the factor of row r at index k, in every lane, and the columns' factors at index k. */
SMMA_DEVICE smma_doubles smma_row_double(const smma_item_operands *x, int k, int r) {
  return smma_doubles_of_floats(smma_floats_of_bits(smma_ints_of((int)smma_f32_bits(x->a[smma_at_row(x, k) + r]))));
}
SMMA_DEVICE smma_doubles smma_column_doubles(const smma_item_operands *x, int k) {
  return smma_doubles_of_floats(smma_load_floats(x->b, smma_at_column(x, k)));
}

/* Returns the sum of c and the products at k and k + 1, the greatest two added first; NaN if an operand is special. */
SMMA_DEVICE smma_doubles smma_sum_of_two(const smma_item_operands *x, int k, int r, smma_doubles c) {
  const smma_doubles p = smma_row_double(x, k, r) * smma_column_doubles(x, k),
                     q = smma_row_double(x, k + 1, r) * smma_column_doubles(x, k + 1);
  const smma_doubles most = smma_greater_of(p, q), rest = smma_lesser_of(p, q);
  const smma_doubles special = (p - p) + (q - q);
  return smma_add_odd(smma_add_odd(most, smma_greater_of(rest, c)), smma_lesser_of(rest, c)) + special;
}

/* Returns the sum of c and the four products from k on, which are multiples of 2^-48 below 2^32. The part added to
   `high` is a multiple of 2^-10, and `low` is below 2^-8: both are exact. */
SMMA_DEVICE smma_doubles smma_sum_of_four(const smma_item_operands *x, int k, int r, smma_doubles c) {
  const double anchor = 0x1.8p42;
  const smma_doubles zero = c - c;
  smma_doubles high = zero + anchor, low = zero, sum, part, error;
  int i;
  for (i = 0; i < 4; i++) {
    const smma_doubles a = smma_row_double(x, k + i, r), b = smma_column_doubles(x, k + i), before = high;
    high = smma_fused_doubles(a, b, before);
    low += smma_fused_doubles(a, b, before - high);
  }
  high = high - anchor;
  sum = high + low;
  low = low - (sum - high);
  high = sum;
  sum = c + high;
  part = sum - c;
  error = (c - (sum - part)) + (high - part);
  return smma_add_odd(sum, smma_add_odd(error, low));
}

/* Computes one instruction step of the item: updates `d` of `s`, and clears `good` where the result may be wrong. */
SMMA_DEVICE void smma_e_fdpa_step(const smma_operation *o, smma_item_operands x, int step, smma_item_sums *s) {
  const int length = smma_block_of(o);
  int r, k;
  for (k = step * o->k; k < (step + 1) * o->k; k += length) SMMA_EACH_ROW(r) {
      const smma_doubles c = smma_doubles_of_floats(s->d[r]) + 0.0; /* -0 counts as +0 */
      s->d[r] = smma_floats_of(length == 4 ? smma_sum_of_four(&x, k, r, c) : smma_sum_of_two(&x, k, r, c));
      s->good[r] = s->good[r] & smma_is_finite(s->d[r]);
    }
}

SMMA_CHAIN_KERNEL(smma_kernel_e_fdpa, smma_e_fdpa_step)

#endif
