/* T-FDPA and ST-FDPA by a chain of FP64 multiply-adds that round down.

   The terms of a block are products truncated at 2^(emax - F), and c. The accumulator starts as a large number, whose
   last bit is 2^(emax - F), plus c (truncated by rounding the sum toward zero; the large number has the sign of c). It
   never leaves its binade, so each multiply-add rounding down adds the floor of its product on that grid. Truncation
   toward zero exceeds the floor by one unit for each negative product that is not on the grid. The number of such
   products is known before the sum, so the accumulator starts with this correction: the exponent of a product's lowest
   set bit is the sum of those of its factors. Panels store the latter as deficits below a base (the greatest exponent
   of the line), one byte per element:

     deficit = base - lowest set bit
     not on the grid:  deficit_a + deficit_b > base_a + base_b + F - emax

   Accumulators and the numbers of A are stored times 2^-(52 - F): the exponent field of the large number is then that
   of emax. The lower bits of its high word are arbitrary, because sums stay within the low word. If sums can exceed the
   low word, the last bits of the high word hold the carry.

   The tensor core finds the greatest exponent of products, for emax: a sum of eight numbers 16^(e_a + e_b) is at least
   16^max and below 16^(max + 1), however it is truncated. `bases` is the sum of both factors' bases. If all blocks
   share their bases, a sum of 0 stands for the exponent bases - CHAIN_TOP, whose grid truncates nothing: every product
   and every accepted c are on it.

   Zeros of A are zero, with a deficit that never counts. Zeros of B are positive, far below every grid, and count as
   such. Packing flags rows and columns with NaN or infinities, and the chain flags elements out of range; the core
   computes both. */
#ifndef SMMA_DEVICE_CUDA_CHAIN_H
#define SMMA_DEVICE_CUDA_CHAIN_H

#include "device/cuda/choice.h"
#include "device/cuda/words.h"

/* CHAIN_DEPTH elements of each of CHAIN_LINES lines (rows of A or columns of B). In `deficit` and `sign`, a 32-bit word
   holds four consecutive elements of one line, one per byte. */
typedef struct {
  smma_two value[CHAIN_DEPTH][CHAIN_LINES / 2];
  /* 16^(exponent - base): two bf16 per word, in the order of mma's fragments */
  smma_four exponent[CHAIN_LINES * CHAIN_DEPTH / 8];
  smma_four deficit[CHAIN_DEPTH / 4][CHAIN_LINES / 4],
      sign[CHAIN_DEPTH / 4][CHAIN_LINES / 4]; /* words at the positions that smma_chain_place returns */
  int32_t base[CHAIN_DEPTH / 4][CHAIN_LINES]; /* base of each line's blocks, if blocks have their own bases */
} smma_chain_panel;

/* Returns the position of a line's words in `deficit` and `sign`. Lines are permuted within each 32, so that the words
   that a thread needs (four rows or eight columns) are adjacent. */
SMMA_CORE int smma_chain_place(bool of_a, int line) {
  int in_warp = line % 32;
  if (of_a) return line - in_warp + in_warp % 16 / 2 * 4 + in_warp / 16 * 2 + in_warp % 2;
  return line - in_warp + in_warp % 8 / 2 * 8 + in_warp / 8 * 2 + in_warp % 2;
}

/* Returns the greatest difference bases + F - emax for which bytes can hold the limits of deficits
   (smma_chain_limit). */
SMMA_CORE int smma_chain_reach(const smma_chain *p) { return p->wide ? CHAIN_TOP : CHAIN_TOP + p->alignment_bits; }

/* Returns an upper bound of a block's sums, in units of the grid: L products below 4 2^F, L units for their floors, and
   c below 2 2^F. */
SMMA_CORE int64_t smma_chain_greatest(const smma_chain *p) {
  return (int64_t)(4 * smma_chain_length(p) + 3) << p->alignment_bits;
}

/* Returns the large number's high word. `x` is a high word with the exponent of emax; its last bits are changed to
   leave room for carries if sums can exceed the low word. */
SMMA_CORE uint32_t smma_chain_high(const smma_chain *p, uint32_t x) {
  if (smma_chain_greatest(p) < (int64_t)1 << 31) return x;
  return smma_chain_greatest(p) < (int64_t)3 << 30 ? x & ~1u : (x & ~3u) | 1;
}
/* Returns the large number's low word. */
SMMA_CORE uint32_t smma_chain_low(const smma_chain *p) {
  const int64_t greatest = smma_chain_greatest(p);
  return greatest >= (int64_t)1 << 31 && greatest < (int64_t)3 << 30 ? 0xc0000000u : 0x80000000u;
}

SMMA_CORE double smma_chain_power_of_two(int exponent) {
  return smma_double_of((uint32_t)(exponent + CHAIN_BIAS) << 20, 0);
}

/* From here on, exponents and bases are fields of doubles' high words: multiples of CHAIN_BINADE. */

/* Returns the greatest exponent of products as the high word of a double, with arbitrary lower bits. `sum` holds the
   bits of a binary32, the sum of 16^e (see block_sums in kernels.cu). */
SMMA_CORE uint32_t smma_chain_of_sum(int32_t sum, int32_t bases) {
  return (uint32_t)((sum >> 5) + bases + (CHAIN_BIAS - CHAIN_TOP) * CHAIN_BINADE);
}

/* Returns 16 times the exponent field of the least emax that limits support (smma_chain_reach). */
SMMA_CORE uint32_t smma_chain_least(const smma_chain *p, int32_t bases) {
  return ((uint32_t)bases + (uint32_t)(CHAIN_BIAS + p->alignment_bits - smma_chain_reach(p)) * CHAIN_BINADE) * 16;
}

/* Constants in registers, because instructions cannot encode them. */
typedef struct {
  uint32_t low, unit, least; /* low: low word of the large number; unit: 2^23; least: smma_chain_least */
} smma_chain_words;

/* Returns the constants. `zero` is always zero. The compiler cannot know this, so it holds the constants in registers
   instead of encoding them in instructions. */
SMMA_CORE smma_chain_words smma_chain_words_of(const smma_chain *p, int32_t bases, uint32_t zero) {
  smma_chain_words w;
  w.low = smma_in_register(smma_chain_low(p), zero);
  w.unit = smma_in_register(0x00800000u, zero);
  w.least = smma_in_register(smma_chain_least(p, bases), zero);
  return w;
}

/* Returns four equal bytes, the limit of deficits: limit + deficit_a + deficit_b exceeds 127 if the product is not on
   the grid of emax. */
SMMA_CORE uint32_t smma_chain_limit(const smma_chain *p, const smma_chain_words *w, uint32_t emax, int32_t bases) {
  const uint32_t most = (uint32_t)(smma_chain_reach(p) + 1) << 24;
  if (!p->wide) return smma_repeat_high_byte(emax * 16 - w->least);
  return smma_repeat_high_byte(smma_lesser_unsigned(emax * 16 - smma_chain_least(p, bases), most));
}

/* Returns the start of an accumulator that does not include c: the large number plus `count` / 512 units of its grid.
   smma_chain_count counts 512 per product. */
SMMA_CORE double smma_chain_start_apart(const smma_chain *p, const smma_chain_words *w, uint32_t emax, uint32_t count) {
  return smma_double_of(smma_chain_high(p, emax), smma_high_product_add((int32_t)count, (int32_t)w->unit, w->low));
}

/* Returns the start of an accumulator that includes c: smma_chain_start_apart with the sign of c, plus c truncated to
   the grid. */
SMMA_CORE double smma_chain_start(const smma_chain *p, const smma_chain_words *w, uint32_t emax, double c,
                                  uint32_t count) {
  uint32_t low = smma_high_product_add((int32_t)count, smma_extend_sign(emax, w->unit), w->low);
  return smma_fma_to_zero(c, smma_chain_power_of_two(p->alignment_bits - 52),
                          smma_double_of(smma_chain_high(p, emax), low));
}

/* Truncates x to the fraction bits of results. */
SMMA_CORE double smma_chain_cut(const smma_chain *p, double x) {
  if (p->kept >= 20) return smma_double_of(smma_high_word(x), smma_low_word(x) & ~0u << (52 - p->kept));
  return smma_double_of(smma_high_word(x) & ~0u << (20 - p->kept), 0);
}

/* Returns the block's result from its accumulator. A result with `kept` >= F fraction bits is not truncated here: the
   next block truncates it, because its emax is not smaller. */
SMMA_CORE double smma_chain_finish(const smma_chain *p, const smma_chain_words *w, double accumulator) {
  int shift = 52 - p->alignment_bits;
  uint32_t high = smma_chain_high(p, smma_high_word(accumulator)) + ((uint32_t)shift << 20);
  accumulator = smma_fma(accumulator, smma_chain_power_of_two(shift), -smma_double_of(high, w->low));
  return p->kept < p->alignment_bits ? smma_chain_cut(p, accumulator) : accumulator;
}

/* Reports whether a block's products are out of range, from their exponent sum (smma_chain_of_sum). They are too small
   if results may be subnormal, or if exponents and deficits relative to the bases may be wrong. They are too great if a
   chain of them may overflow. Blocks of zeros are never out of range. */
SMMA_CORE bool smma_chain_is_out(int32_t sum, int32_t bases) {
  return sum != 0 &&
         (sum < CHAIN_LEAST_SUM || bases < CHAIN_LEAST * CHAIN_BINADE || bases > CHAIN_GREATEST * CHAIN_BINADE);
}

/* Reports whether a chain can start from c: it must not be so small that a block without products truncates it, nor so
   great that sums overflow or that limits exceed their bytes. */
SMMA_CORE bool smma_chain_takes(const smma_chain *p, int bases, float c) {
  double magnitude = c < 0 ? -(double)c : c;
  int least = p->wide ? -126 : bases / CHAIN_BINADE - CHAIN_TOP - p->alignment_bits + p->kept;
  int greatest = p->wide ? 126 : bases / CHAIN_BINADE + CHAIN_ABOVE;
  return c == 0 || (magnitude >= smma_chain_power_of_two(least) && magnitude < smma_chain_power_of_two(greatest));
}

/* Returns the value from which the chain starts: c without bits that D's format does not have, or 0 if the chain cannot
   start from c. */
SMMA_CORE double smma_chain_from(const smma_chain *p, int bases, float c) {
  return smma_chain_cut(p, smma_chain_takes(p, bases, c) ? c : 0);
}

/* A thread's position: its first row and column in the panels. */
typedef struct {
  int row, column;
} smma_chain_place_of_thread;

SMMA_CORE int smma_chain_row(smma_chain_place_of_thread at, int i) { return at.row + i / 2 * 16 + i % 2; }
SMMA_CORE int smma_chain_column(smma_chain_place_of_thread at, int j) { return at.column + j / 2 * 8 + j % 2; }

/* Returns the index, among the thread's elements, of row i and column j of a quadrant. */
SMMA_CORE int smma_chain_element(int quadrant, int i, int j) {
  return (quadrant / 2 * CHAIN_QUADRANT_LINES + i) * CHAIN_COLUMNS + quadrant % 2 * CHAIN_QUADRANT_LINES + j;
}

/* Returns the index of the element's sum in the accumulators, which hold only the columns that are summed at a time. */
SMMA_CORE int smma_chain_sum(const smma_chain *p, int quadrant, int i, int j) {
  const int columns = smma_chain_columns(p);
  return (quadrant / 2 * CHAIN_QUADRANT_LINES + i) * columns + (quadrant % 2 * CHAIN_QUADRANT_LINES + j) % columns;
}

/* For each element of a quadrant, adds 512 to `count` for each of the four products of `group` that is negative and not
   on the grid. */
SMMA_CORE void smma_chain_count(const smma_chain_panel *a, const smma_chain_panel *b, int row, int column, int group,
                                const uint32_t *limit, uint32_t *count) {
  const smma_four row_deficit = a->deficit[group][row], column_deficit = b->deficit[group][column];
  const smma_four row_sign = a->sign[group][row], column_sign = b->sign[group][column];
  int i, j;
  SMMA_UNROLL for (i = 0; i < CHAIN_QUADRANT_LINES; i++) SMMA_UNROLL for (j = 0; j < CHAIN_QUADRANT_LINES; j++) {
    const int e = i * CHAIN_QUADRANT_LINES + j;
    uint32_t above = row_deficit.of[i / 2].of[i % 2] + column_deficit.of[j / 2].of[j % 2] + limit[e];
    uint32_t negative = row_sign.of[i / 2].of[i % 2] ^ column_sign.of[j / 2].of[j % 2];
    count[e] = smma_dot_bytes(above & negative, 0x04040404, count[e]);
  }
}

/* Starts the accumulators of a block for one quadrant: CHAIN_QUADRANT_LINES rows and columns. In T-FDPA, `accumulator`
   holds c before. `first` is the panel's index of the block's first product; longer blocks continue in consecutive
   panels. `sum` holds the quadrant's exponent sums. `bases` is used if all blocks share their bases. Sets the bits of
   elements out of range in `out`. */
SMMA_CORE void smma_chain_begin(const smma_chain *p, const smma_chain_words *w, const smma_chain_panel *a,
                                const smma_chain_panel *b, smma_chain_place_of_thread at, int first, int quadrant,
                                int32_t bases, const int32_t *sum, double *accumulator, uint64_t *out) {
  const int down = quadrant / 2, across = quadrant % 2;
  const int row = smma_chain_place(true, at.row) / 4 + down * 8,
            column = smma_chain_place(false, at.column) / 4 + across;
  uint32_t count[CHAIN_QUADRANT_LINES * CHAIN_QUADRANT_LINES], limit[CHAIN_QUADRANT_LINES * CHAIN_QUADRANT_LINES],
      emax[CHAIN_QUADRANT_LINES * CHAIN_QUADRANT_LINES];
  int32_t base[CHAIN_QUADRANT_LINES * CHAIN_QUADRANT_LINES], least = CHAIN_LEAST_SUM;
  uint32_t widest = 0;
  int i, j, k, panel;
  SMMA_UNROLL for (i = 0; i < CHAIN_QUADRANT_LINES; i++) SMMA_UNROLL for (j = 0; j < CHAIN_QUADRANT_LINES; j++) {
    const int e = i * CHAIN_QUADRANT_LINES + j;
    base[e] = bases;
    if (p->wide) {
      base[e] = a->base[first / 4][smma_chain_row(at, down * CHAIN_QUADRANT_LINES + i)] +
                b->base[first / 4][smma_chain_column(at, across * CHAIN_QUADRANT_LINES + j)];
      least = smma_minimum(least, sum[e]);
      widest = smma_greater_unsigned(widest, (uint32_t)(base[e] - CHAIN_LEAST * CHAIN_BINADE));
    }
    emax[e] = smma_chain_of_sum(sum[e], base[e]);
  }
  if (least < CHAIN_LEAST_SUM || widest > (uint32_t)((CHAIN_GREATEST - CHAIN_LEAST) * CHAIN_BINADE))
    SMMA_UNROLL for (i = 0; i < CHAIN_QUADRANT_LINES; i++) SMMA_UNROLL for (j = 0; j < CHAIN_QUADRANT_LINES; j++) {
      const int e = i * CHAIN_QUADRANT_LINES + j;
      if (smma_chain_is_out(sum[e], base[e])) *out |= (uint64_t)1 << smma_chain_element(quadrant, i, j);
      /* If all products are zero, base[e] has no meaning. */
      if (sum[e] == 0) emax[e] = smma_chain_of_sum(0, 2 * CHAIN_NO_BASE * CHAIN_BINADE);
    }
  SMMA_UNROLL for (i = 0; i < CHAIN_QUADRANT_LINES; i++) SMMA_UNROLL for (j = 0; j < CHAIN_QUADRANT_LINES; j++) {
    const int e = i * CHAIN_QUADRANT_LINES + j;
    if (p->rule == SMMA_T_FDPA)
      emax[e] = smma_greater_with_sign(smma_high_word(accumulator[smma_chain_sum(p, quadrant, i, j)]), emax[e]);
    limit[e] = smma_chain_limit(p, w, emax[e], base[e]);
    count[e] = 0;
  }
  SMMA_UNROLL_BY(1)
  for (panel = 0; panel < smma_chain_panels(p); panel++, a++, b++) {
    const int end = first + smma_minimum(smma_chain_length(p), CHAIN_DEPTH);
    /* Unrolls less where fewer registers are free: if bases are read for each block, or if c is held in addition to
       sums. */
    if (p->wide || p->rule != SMMA_T_FDPA)
      SMMA_UNROLL_BY(1) for (k = first; k < end; k += 4) smma_chain_count(a, b, row, column, k / 4, limit, count);
    else
      SMMA_UNROLL_BY(2) for (k = first; k < end; k += 4) smma_chain_count(a, b, row, column, k / 4, limit, count);
  }
  SMMA_UNROLL for (i = 0; i < CHAIN_QUADRANT_LINES; i++) SMMA_UNROLL for (j = 0; j < CHAIN_QUADRANT_LINES; j++) {
    const int e = i * CHAIN_QUADRANT_LINES + j;
    double *sum_of = &accumulator[smma_chain_sum(p, quadrant, i, j)];
    *sum_of = p->rule == SMMA_T_FDPA ? smma_chain_start(p, w, emax[e], *sum_of, count[e])
                                     : smma_chain_start_apart(p, w, emax[e], count[e]);
  }
}

/* Adds a block's products to the accumulators of smma_chain_columns columns, starting with those at `at`. */
SMMA_CORE void smma_chain_products(const smma_chain *p, const smma_chain_panel *a, const smma_chain_panel *b,
                                   smma_chain_place_of_thread at, int first, double *accumulator) {
  const int columns = smma_chain_columns(p), length = smma_minimum(smma_chain_length(p), CHAIN_DEPTH);
  int i, j, k, panel;
  SMMA_UNROLL_BY(1)
  for (panel = 0; panel < smma_chain_panels(p); panel++, a++, b++)
    SMMA_UNROLL_BY(8) for (k = first; k < first + length; k++) {
      smma_two x[CHAIN_ROWS / 2], y[CHAIN_COLUMNS / 2];
      SMMA_UNROLL for (i = 0; i < CHAIN_ROWS / 2; i++) x[i] = a->value[k][smma_chain_row(at, 2 * i) / 2];
      SMMA_UNROLL for (j = 0; j < columns / 2; j++) y[j] = b->value[k][smma_chain_column(at, 2 * j) / 2];
      SMMA_UNROLL for (i = 0; i < CHAIN_ROWS; i++) SMMA_UNROLL for (j = 0; j < columns; j++) {
        double *sum = &accumulator[i * columns + j];
        *sum = smma_fma_down(x[i / 2].of[i % 2], y[j / 2].of[j % 2], *sum);
      }
    }
}

SMMA_CORE void smma_chain_end(const smma_chain *p, const smma_chain_words *w, double *accumulator) {
  int e;
  SMMA_UNROLL for (e = 0; e < CHAIN_ROWS * CHAIN_COLUMNS; e++) accumulator[e] = smma_chain_finish(p, w, accumulator[e]);
}

#endif
