/* TR-FDPA and GTR-FDPA (revision 2) by chains of products as chain.h has them; what rounds down, in FP64.

   Sums of products need not know c: a chain begins with the large number alone, whose exponent is that of the products,
   and ends with their sum t. Of GTR-FDPA these are two, of even and of odd k, which packing puts side by side; both,
   rounded down at F bits below the greater exponent by adding them to a large number, are t.

   c rounded down at F bits below E = max(exponent of t, of c) is c'. The core rounds t down at F2 + 1 bits below E,
   adds c', and rounds that down at F2 bits below its own exponent. Here c' is c rounded down by the large number of t's
   accumulator. That is exact where c's exponent is above t's, up to 59 binades; farther up it takes less than 2^-50 of
   c away, as t does, and the result is c itself. t + c' is rounded down by FP64, and once more at F2 bits below its own
   exponent, which is the same:
   - If t's exponent is not below E - (F2 + 1 - F), t and c' are multiples of 2^(E - F2 - 1), and their sum, below
     2^(E + 6), has 38 bits: nothing is rounded but at F2 bits.
   - Else E is c's exponent, c' is c, and |t| < 2^(exponent of t + 2 + log2 L) <= 2^(E - 3) leaves t + c not below
     2^(E - 1) in magnitude: F2 bits below its exponent is not below F2 + 1 bits below E. Of three roundings down, each
     on a grid that has the next one's, the last one is what remains. A sum that comes to a power of two by one of
     them is that power by all.
   What is left has 32 bits, and conversion to binary32 rounds it to nearest, ties to even, subnormals too. An exact
   zero is +0: the last subtraction is of equal numbers, to nearest.

   In GTR-FDPA c counts as zero where its exponent is below E - F - 1. Zeros of A and B are such as chain.h says; the
   exponent that stands for no products is below that of every c and product whose bits its grid would cut, as results
   are multiples of what c and the lowest bits of products are multiples of. */
#ifndef SMMA_DEVICE_CUDA_DOWN_H
#define SMMA_DEVICE_CUDA_DOWN_H

#include "device/cuda/chain.h"

/* The large number that an accumulator, or one of its exponent, began with. */
SMMA_CORE double smma_down_large(const smma_chain_words *w, uint32_t exponent) {
  return smma_double_of(exponent, w->low);
}

/* The sum in an accumulator, scaled as that is. */
SMMA_CORE double smma_down_sum(const smma_chain_words *w, double accumulator) {
  return smma_subtract(accumulator, smma_down_large(w, smma_high_word(accumulator)));
}

/* Both sums rounded down under the greater exponent, on a large number of that exponent. */
SMMA_CORE double smma_down_join(const smma_chain_words *w, double even, double odd) {
  const uint32_t exponent = smma_greater_unsigned(smma_high_word(even), smma_high_word(odd));
  const double large = smma_down_large(w, exponent), joined = smma_add_down(smma_down_sum(w, even), large);
  return smma_add_down(smma_down_sum(w, odd), joined);
}

/* c as its sum with products takes it; `exponent`: the high word that has theirs. */
SMMA_CORE double smma_down_heard(const smma_chain *p, uint32_t exponent, double c) {
  const uint32_t least = (exponent & 0x7ff00000u) - (uint32_t)(p->alignment_bits + 1) * CHAIN_BINADE;
  const bool is_heard = p->rule != SMMA_GTR_FDPA || (smma_high_word(c) & 0x7fffffffu) >= least;
  return is_heard ? c : 0;
}

/* A block's result, of its accumulator and c. */
SMMA_CORE float smma_down_add(const smma_chain *p, const smma_chain_words *w, double accumulator, float c) {
  const int scale = 52 - p->alignment_bits; /* accumulators are so many binades below what they stand for */
  const uint32_t exponent = smma_high_word(accumulator);
  const double large = smma_down_large(w, exponent), heard = smma_down_heard(p, exponent, (double)c);
  const double c_down = smma_subtract(smma_fma_down(heard, smma_chain_power_of_two(-scale), large), large);
  const double sum = smma_add_down(smma_subtract(accumulator, large), c_down);
  /* So far above the sum, and of its sign, that their sum stays in its binade and has CHAIN_SUM bits of the sum's. */
  const double above = smma_double_of(smma_high_word(sum) + (uint32_t)(scale + 52 - CHAIN_SUM) * CHAIN_BINADE, 0);
  return (float)smma_subtract(smma_fma_down(sum, smma_chain_power_of_two(scale), above), above);
}

/* The end of a block, of smma_chain_columns columns from the `part`-th such on: results take c's place. `odd`: as
   `even`, where products are summed together. */
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
