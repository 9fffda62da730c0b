/* Shifts that are defined for every shift count, and 128-bit significands. */
#ifndef SMMA_CORE_BITS_H
#define SMMA_CORE_BITS_H

#include "dialect.h"

SMMA_CORE int smma_maximum(int x, int y) { return x > y ? x : y; }
SMMA_CORE int smma_minimum(int x, int y) { return x < y ? x : y; }

/* Returns the number of bits up to the leading one; 0 for zero. */
SMMA_CORE int smma_bit_length(uint64_t x) { return 64 - smma_leading_zeros(x); }

/* Returns x * 2^-n for n >= 0, truncated; 0 from n = 64 on. */
SMMA_CORE uint64_t smma_shift_right(uint64_t x, int n) { return n > 63 ? 0 : x >> n; }

/* Returns x * 2^n modulo 2^64 for n >= 0; 0 from n = 64 on. */
SMMA_CORE uint64_t smma_shift_left(uint64_t x, int n) { return n > 63 ? 0 : x << n; }

/* Returns the n >= 0 low bits of x. */
SMMA_CORE uint64_t smma_low_bits(uint64_t x, int n) { return n > 63 ? x : x & (((uint64_t)1 << n) - 1); }

/* Returns floor(x * 2^-n) for n >= 0. */
SMMA_CORE int64_t smma_shift_down(int64_t x, int n) {
  if (x >= 0) return (int64_t)smma_shift_right((uint64_t)x, n);
  return (int64_t)~smma_shift_right(~(uint64_t)x, n);
}

SMMA_CORE uint64_t smma_magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

typedef struct {
  uint64_t high, low;
} smma_bits128;

SMMA_CORE smma_bits128 smma_multiply_bits128(uint64_t x, uint64_t y) {
  smma_bits128 r;
  r.high = smma_multiply_high(x, y);
  r.low = x * y;
  return r;
}

/* Returns x * 2^n modulo 2^128 for 0 <= n < 128. */
SMMA_CORE smma_bits128 smma_shift_left_bits128(smma_bits128 x, int n) {
  smma_bits128 r;
  if (n == 0) return x;
  r.high = n > 63 ? smma_shift_left(x.low, n - 64) : x.high << n | x.low >> (64 - n);
  r.low = smma_shift_left(x.low, n);
  return r;
}

SMMA_CORE bool smma_bits128_is_zero(smma_bits128 x) { return (x.high | x.low) == 0; }

/* Returns x * 2^-n for n >= 0, truncated; 0 from n = 128 on. */
SMMA_CORE smma_bits128 smma_shift_right_bits128(smma_bits128 x, int n) {
  smma_bits128 r;
  if (n == 0) return x;
  r.low = n < 64 ? x.low >> n | x.high << (64 - n) : smma_shift_right(x.high, n - 64);
  r.high = smma_shift_right(x.high, n);
  return r;
}

/* Reports whether any of the n >= 0 low bits of x is set. */
SMMA_CORE bool smma_has_low_bits128(smma_bits128 x, int n) {
  return smma_low_bits(x.low, n) != 0 || (n > 64 && smma_low_bits(x.high, n - 64) != 0);
}

/* Returns x * 2^-n for n >= 0; the OR of the bits shifted out goes into the lowest bit ("jamming"). */
SMMA_CORE smma_bits128 smma_shift_right_jam_bits128(smma_bits128 x, int n) {
  smma_bits128 r;
  uint64_t lost;
  if (n == 0) return x;
  if (n < 64) {
    lost = smma_low_bits(x.low, n);
    r.high = x.high >> n;
    r.low = x.low >> n | x.high << (64 - n);
  } else {
    lost = x.low | smma_low_bits(x.high, n - 64);
    r.high = 0;
    r.low = smma_shift_right(x.high, n - 64);
  }
  r.low |= (uint64_t)(lost != 0);
  return r;
}

SMMA_CORE int smma_bit_length_bits128(smma_bits128 x) {
  return x.high ? 64 + smma_bit_length(x.high) : smma_bit_length(x.low);
}

SMMA_CORE bool smma_less_bits128(smma_bits128 x, smma_bits128 y) {
  return x.high < y.high || (x.high == y.high && x.low < y.low);
}

SMMA_CORE smma_bits128 smma_add_bits128(smma_bits128 x, smma_bits128 y) {
  smma_bits128 r;
  r.low = x.low + y.low;
  r.high = x.high + y.high + (uint64_t)(r.low < x.low);
  return r;
}

/* Returns x - y modulo 2^128. */
SMMA_CORE smma_bits128 smma_subtract_bits128(smma_bits128 x, smma_bits128 y) {
  smma_bits128 r;
  r.low = x.low - y.low;
  r.high = x.high - y.high - (uint64_t)(x.low < y.low);
  return r;
}

#endif
