/* core/dialect.h for Frama-C, which has no __int128 and no __builtin_clzll. */
#ifndef SMMA_CORE_DIALECT_H
#define SMMA_CORE_DIALECT_H

#include <stdbool.h>
#include <stdint.h>

#define SMMA_CORE static inline
#define SMMA_EVALUATOR static
#define SMMA_ALGORITHM(rule) (rule)->algorithm
#define SMMA_IS_SHORT_G_FDPA(operation) smma_is_short_g_fdpa(operation)
#define SMMA_MAXIMUM_K 256

/* Returns the number of leading zeros; 64 for zero. */
SMMA_CORE int smma_leading_zeros(uint64_t x) {
  int n = 0;
  if (x == 0) return 64;
  if (x <= 0xffffffff) n += 32, x <<= 32;
  if (x <= 0xffffffffffff) n += 16, x <<= 16;
  if (x <= 0xffffffffffffff) n += 8, x <<= 8;
  if (x <= 0xfffffffffffffff) n += 4, x <<= 4;
  if (x <= 0x3fffffffffffffff) n += 2, x <<= 2;
  if (x <= 0x7fffffffffffffff) n += 1;
  return n;
}

/* Returns the high 64 bits of the product. */
SMMA_CORE uint64_t smma_multiply_high(uint64_t x, uint64_t y) {
  const uint64_t a = x >> 32, b = x & 0xffffffff, c = y >> 32, d = y & 0xffffffff;
  const uint64_t middle = (b * d >> 32) + (a * d & 0xffffffff) + (b * c & 0xffffffff);
  return a * c + (a * d >> 32) + (b * c >> 32) + (middle >> 32);
}

#endif
