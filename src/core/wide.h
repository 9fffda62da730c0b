/* An exact accumulator: it sums numbers without rounding (Kulisch's long accumulator). */
#ifndef SMMA_CORE_WIDE_H
#define SMMA_CORE_WIDE_H

#include "term.h"

/* Limb i holds a signed multiple of 2^(SMMA_WIDE_LEAST + 32 i). `first` and `last` are the limbs in use.
   Products of two f64 numbers are multiples of 2^-2148 and below 2^2048. In compositions, slices and blocks of factors
   can have up to 154 more bits below, and unrounded steps move the last bit of a term: to -2100 by a fixed reference,
   then by up to 100 bits for each step with such an offset, or 200 if it also normalizes, and by 254 with scale
   factors. isa/custom_check.c bounds the terms of each composition, and refuses those that have no room here. */
#define SMMA_WIDE_LEAST (-2816)
#define SMMA_WIDE_LIMBS 190
/* Terms are below 2^SMMA_WIDE_MOST: a term fills up to three limbs, and carries need one more. */
#define SMMA_WIDE_MOST (SMMA_WIDE_LEAST + 32 * (SMMA_WIDE_LIMBS - 3))

typedef struct {
  int64_t limb[SMMA_WIDE_LIMBS];
  int first, last;
} smma_wide;

SMMA_CORE void smma_wide_clear(smma_wide *w) {
  w->first = SMMA_WIDE_LIMBS;
  w->last = -1;
}

SMMA_CORE void smma_wide_use(smma_wide *w, int first, int last) {
  if (w->last < 0) w->last = (w->first = first) - 1;
  while (w->first > first) w->limb[--w->first] = 0;
  while (w->last < last) w->limb[++w->last] = 0;
}

/* Adds (-1)^negative * significand * 2^exponent. Bound: 2^30 additions before a limb can overflow;
   exponent >= SMMA_WIDE_LEAST, and significand * 2^exponent < 2^SMMA_WIDE_MOST. */
SMMA_CORE void smma_wide_add(smma_wide *w, bool negative, uint64_t significand, int exponent) {
  int position = exponent - SMMA_WIDE_LEAST, limb = position / 32, shift = position % 32, i;
  uint64_t part[3];
  part[0] = (significand & 0xffffffff) << shift;
  part[1] = (significand >> 32) << shift;
  part[2] = part[1] >> 32;
  part[1] = (part[1] & 0xffffffff) + (part[0] >> 32);
  part[0] &= 0xffffffff;
  smma_wide_use(w, limb, limb + 2);
  for (i = 0; i < 3; i++) w->limb[limb + i] += negative ? -(int64_t)part[i] : (int64_t)part[i];
}

/* Adds the exact product of two finite numbers of any format. */
SMMA_CORE void smma_wide_add_product(smma_wide *w, smma_number a, smma_number b) {
  smma_bits128 p = smma_multiply_bits128(a.significand, b.significand);
  int exponent = a.exponent - a.fraction_bits + b.exponent - b.fraction_bits;
  if (a.kind == SMMA_ZERO || b.kind == SMMA_ZERO) return;
  smma_wide_add(w, a.negative ^ b.negative, p.low, exponent);
  if (p.high) smma_wide_add(w, a.negative ^ b.negative, p.high, exponent + 64);
}

/* Brings every limb except the highest into [0, 2^32). */
SMMA_CORE void smma_wide_carry(smma_wide *w) {
  int i;
  for (i = w->first; i < w->last; i++) {
    w->limb[i + 1] += smma_shift_down(w->limb[i], 32);
    w->limb[i] &= 0xffffffff;
  }
}

SMMA_CORE void smma_wide_negate(smma_wide *w) {
  int i;
  for (i = w->first; i <= w->last; i++) w->limb[i] = -w->limb[i];
}

/* A number by its leading bits: (-1)^negative * (significand + t) * 2^exponent, where 0 < t < 1 if `sticky`, else t
   = 0. If sticky, the significand has 64 bits. */
typedef struct {
  uint64_t significand;
  int exponent;
  bool negative, sticky;
} smma_leading;

/* Returns the exact sum; zero is positive. Afterwards the accumulator holds the sum's magnitude. */
SMMA_CORE smma_leading smma_wide_leading(smma_wide *w) {
  smma_leading x = {0, 0, false, false};
  int i;
  if (w->last < 0) return x;
  smma_wide_use(w, w->first, w->last + 1);
  smma_wide_carry(w);
  x.negative = w->limb[w->last] < 0;
  if (x.negative) {
    smma_wide_negate(w);
    smma_wide_carry(w);
  }
  while (w->last > w->first && w->limb[w->last] == 0) w->last--;
  /* The three highest limbs hold 65 to 96 significant bits. The first 64 bits, and whether any later bit is set,
     decide. */
  x.significand = (uint64_t)w->limb[w->last];
  x.exponent = SMMA_WIDE_LEAST + 32 * w->first;
  i = w->last - 1;
  if (i >= w->first) x.significand = x.significand << 32 | (uint64_t)w->limb[i--];
  if (i >= w->first) {
    int room = smma_leading_zeros(x.significand);
    if (room > 32) room = 32;
    x.significand = smma_shift_left(x.significand, room) | (uint64_t)w->limb[i] >> (32 - room);
    x.exponent = SMMA_WIDE_LEAST + 32 * (w->last - 1) - room;
    x.sticky = smma_low_bits((uint64_t)w->limb[i], 32 - room) != 0;
    for (i--; i >= w->first; i--) x.sticky = x.sticky || w->limb[i] != 0;
  }
  return x;
}

/* Rounds the exact sum once; zero gives +0. Afterwards the accumulator holds the sum's magnitude. */
SMMA_CORE uint64_t smma_wide_encode(smma_wide *w, smma_encoding f, smma_rounding direction) {
  smma_leading x = smma_wide_leading(w);
  return smma_encode(f, x.negative, x.significand, x.exponent, x.sticky, direction, SMMA_OVERFLOW_INFINITY);
}

/* Returns the exact sum, rounded once to nearest even; the accumulator retains its value. */
SMMA_CORE uint64_t smma_wide_round(const smma_wide *w, smma_encoding f) {
  smma_wide copy;
  int i;
  copy.first = w->first;
  copy.last = w->last;
  for (i = w->first; i <= w->last; i++) copy.limb[i] = w->limb[i];
  return smma_wide_encode(&copy, f, SMMA_ROUND_NEAREST_EVEN);
}

#endif
