/* Scale factors of blocks, as items read them. */
#ifndef SMMA_DEVICE_SCALES_H
#define SMMA_DEVICE_SCALES_H

#include "device/kernels/item.h"

/* significand * 2^exponent, the fraction bits of the format not counted; whether it is NaN. */
typedef struct {
  smma_ints significand, exponent, special;
} smma_item_scale;

/* Of codes in formats without a sign. */
SMMA_DEVICE smma_item_scale smma_decode_scale(smma_encoding f, smma_ints code) {
  const smma_ints fields = code & (int)smma_low_bits(255, f.exponent_bits + f.fraction_bits);
  const smma_ints field = fields >> f.fraction_bits;
  const bool powers = f.specials == SMMA_SPECIALS_POWERS_OF_TWO;
  const smma_ints hidden = smma_lesser(field, smma_ints_of(1)) << f.fraction_bits;
  smma_item_scale x;
  x.significand = powers ? smma_ints_of(1) : hidden | (fields & ((1 << f.fraction_bits) - 1));
  x.exponent = (powers ? field : smma_greater(field, smma_ints_of(1))) - f.bias;
  x.special = fields > (int)smma_largest_fields(f);
  return x;
}

/* The product of the factors of row r and of the columns that belong to index k. */
SMMA_DEVICE smma_item_scale smma_scale_lanes(const smma_operation *o, const smma_item_operands *x, int k, int r) {
  const smma_encoding f = smma_encoding_of(o->scale);
  const int s = k / o->scale_block;
  const int code = ((SMMA_GLOBAL const uint8_t *)x->scale_a)[smma_at_row(x, s) + r];
  const smma_item_scale a = smma_decode_scale(f, smma_ints_of(code));
  smma_item_scale b =
      smma_decode_scale(f, smma_load_bytes((SMMA_GLOBAL const uint8_t *)x->scale_b, smma_at_column(x, s)));
  b.significand *= a.significand;
  b.exponent += a.exponent;
  b.special |= a.special;
  return b;
}

#endif
