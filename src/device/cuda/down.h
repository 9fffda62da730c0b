/* TR-FDPA and GTR-FDPA (revision 2): chains of products as in chain.h, and roundings down in FP64.

   Sums of products do not depend on c: a chain begins with the large number alone, whose exponent is that of the
   products, and ends with their sum t. GTR-FDPA has two chains, of even and of odd k, which packing places next to each
   other. Both sums are rounded down at F bits below the greater exponent, by adding them to a large number; this gives
   t.

   Let c' be c rounded down at F bits below E = max(exponent of t, of c). The core rounds t down at F2 + 1 bits below E,
   adds c', and rounds the sum down at F2 bits below its own exponent. Here c' is c rounded down by the large number of
   t's accumulator. This is exact if c's exponent is above t's by up to 59 binades. Above that it removes less than
   2^-50 of c, as t does, and the result is c itself. t + c' is rounded down by FP64, and again at F2 bits below its own
   exponent. The result is the same:
   - If t's exponent is at least E - (F2 + 1 - F), t and c' are multiples of 2^(E - F2 - 1), and their sum, below 2^(E +
     6), has 38 bits: only the rounding at F2 bits has an effect.
   - Otherwise E is c's exponent, c' is c, and |t| < 2^(exponent of t + 2 + log2 L) <= 2^(E - 3) leaves t + c at least
     2^(E - 1) in magnitude: F2 bits below its exponent is not below F2 + 1 bits below E. Of three roundings down, each
     on a grid that contains the next one's, only the last counts. If one of them makes a sum a power of two, all do.
   The rounded sum has 32 bits, and conversion to binary32 rounds it to nearest, ties to even, also if it is subnormal.
   An exact zero is +0: the last subtraction has equal operands and rounds to nearest.

   In GTR-FDPA c counts as zero if its exponent is below E - F - 1. Zeros of A and B are as in chain.h. If there are no
   products, an exponent is used that is so small that aligning at it truncates nothing: all results are multiples of
   the lowest bit of c and of the products. */
#ifndef SMMA_DEVICE_CUDA_DOWN_H
#define SMMA_DEVICE_CUDA_DOWN_H

#include "device/cuda/chain.h"

/* Returns the large number with which an accumulator started. `exponent` may be the high word of any double with that
   exponent. */
SMMA_CORE double smma_down_large(const smma_chain_words *w, uint32_t exponent) {
  return smma_double_of(exponent, w->low);
}

/* Returns the sum that an accumulator holds, without the large number; its scale is still 2^-(52 - F). */
SMMA_CORE double smma_down_sum(const smma_chain_words *w, double accumulator) {
  return smma_subtract(accumulator, smma_down_large(w, smma_high_word(accumulator)));
}

/* Rounds both sums down at the greater exponent and adds them. Returns an accumulator: the large number of that
   exponent plus the sum. */
SMMA_CORE double smma_down_join(const smma_chain_words *w, double even, double odd) {
  const uint32_t exponent = smma_greater_unsigned(smma_high_word(even), smma_high_word(odd));
  const double large = smma_down_large(w, exponent), joined = smma_add_down(smma_down_sum(w, even), large);
  return smma_add_down(smma_down_sum(w, odd), joined);
}

/* Returns c as it enters the sum: 0 if GTR-FDPA ignores c because its exponent is too small, otherwise c. The exponent
   of the products is that of the double whose high word is `exponent`. */
SMMA_CORE double smma_down_c_or_zero(const smma_chain *p, uint32_t exponent, double c) {
  const uint32_t least = (exponent & 0x7ff00000u) - (uint32_t)(p->alignment_bits + 1) * CHAIN_BINADE;
  const bool c_counts = p->rule != SMMA_GTR_FDPA || (smma_high_word(c) & 0x7fffffffu) >= least;
  return c_counts ? c : 0;
}

/* Returns a block's result from its accumulator and c. */
SMMA_CORE float smma_down_add(const smma_chain *p, const smma_chain_words *w, double accumulator, float c) {
  const int scale = 52 - p->alignment_bits; /* accumulators are scaled by 2^-scale */
  const uint32_t exponent = smma_high_word(accumulator);
  const double large = smma_down_large(w, exponent), c_or_zero = smma_down_c_or_zero(p, exponent, (double)c);
  const double c_down = smma_subtract(smma_fma_down(c_or_zero, smma_chain_power_of_two(-scale), large), large);
  const double sum = smma_add_down(smma_subtract(accumulator, large), c_down);
  /* `above` has the sign of the sum. It is so large that adding it keeps CHAIN_SUM bits of the sum, and the result
     stays in the binade of `above`. */
  const double above = smma_double_of(smma_high_word(sum) + (uint32_t)(scale + 52 - CHAIN_SUM) * CHAIN_BINADE, 0);
  return (float)smma_subtract(smma_fma_down(sum, smma_chain_power_of_two(scale), above), above);
}

/* Finishes one block for `smma_chain_columns` columns: the group of columns with number `part`. The results replace c.
   `odd` equals `even` if all products are summed together. */
SMMA_CORE void smma_down_end(const smma_chain *p, const smma_chain_words *w, int part, const double *even,
                             const double *odd, float *c) {
  const int columns = smma_chain_columns(p);
  int i, j;
  SMMA_UNROLL for (i = 0; i < CHAIN_ROWS; i++) SMMA_UNROLL for (j = 0; j < columns; j++) {
    const int e = i * columns + j;
    float *of = &c[i * CHAIN_COLUMNS + part * columns + j];
    *of = smma_down_add(p, w, smma_chain_sums(p) == 1 ? even[e] : smma_down_join(w, even[e], odd[e]), *of);
  }
}

#endif
