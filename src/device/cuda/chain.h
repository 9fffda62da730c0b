/* T-FDPA and ST-FDPA by a chain of FP64 multiply-adds that round down.

   A block's terms are products truncated at 2^(emax - F), and c. The accumulator starts as c (truncated, which is
   rounding toward zero with a large number of c's sign) plus 1.5 * 2^(emax - F + 52), whose last bit is 2^(emax - F).
   It never leaves its binade, so each multiply-add in the direction "down" adds the floor of its product on that grid.
   Truncation is one more for each negative product that is not on the grid; how many these are is known before: a
   product's lowest set bit is the sum of its factors', which are held in bytes, four products a word:
     deficit = base - lowest set bit;     not on the grid:  deficit_a + deficit_b > base_a + base_b + F - emax

   Of emax the greatest exponent of products comes from the tensor core: a sum of eight numbers 16^(e_a + e_b) is at
   least 16^max, and below 16^(max + 1), however it is truncated.

   Zeros of A are zero, with a mask for the count; those of B are positive and far below every grid, and count as such.
   Rows and columns with NaN or infinities are marked while packing, elements out of range while computing; the core
   computes these. */
#ifndef SMMA_DEVICE_CUDA_CHAIN_H
#define SMMA_DEVICE_CUDA_CHAIN_H

#include "device/cuda/choice.h"
#include "device/cuda/words.h"

/* CHAIN_DEPTH products of CHAIN_LINES lines. Words hold four of one line, one in each byte. */
typedef struct {
  smma_two value[CHAIN_DEPTH][CHAIN_LINES / 2];
  smma_four exponent[CHAIN_LINES * CHAIN_DEPTH / 8]; /* two bf16 a word, in the order of mma's fragments */
  smma_four deficit[CHAIN_DEPTH / 4][CHAIN_LINES / 4],
      sign[CHAIN_DEPTH / 4][CHAIN_LINES / 4];       /* see smma_chain_place */
  smma_four mask[CHAIN_DEPTH / 4][CHAIN_LINES / 4]; /* of A only */
  int32_t base[CHAIN_DEPTH / 4][CHAIN_LINES];       /* of each block, where they are wide */
} smma_chain_panel;

/* Where in 32 lines words lie, so that those of a thread are together: of four rows or eight columns. */
SMMA_CORE int smma_chain_place(bool of_a, int line) {
  int in_warp = line % 32;
  if (of_a) return line - in_warp + in_warp % 16 / 2 * 4 + in_warp / 16 * 2 + in_warp % 2;
  return line - in_warp + in_warp % 8 / 2 * 8 + in_warp / 8 * 2 + in_warp % 2;
}

/* The greatest sum of deficits that a byte tells from the next. */
SMMA_CORE int smma_chain_reach(const smma_chain *p) { return p->wide ? CHAIN_WIDE : CHAIN_NARROW; }

/* emax as the exponent field of a double's high word; lower bits are arbitrary. `sum`: of 16^e as binary32;
   negative without products, for which something far below c comes out. */
SMMA_CORE int32_t smma_chain_exponent(int32_t sum, int bases, double c) {
  int base = bases + CHAIN_BIAS - CHAIN_TOP;
  return smma_maximum((sum >> 5) + base * (1 << 20), (int32_t)(smma_high_word(c) & 0x7fffffffu));
}

/* Four bytes that make a sum of deficits exceed 127 where it is not on the grid. */
SMMA_CORE uint32_t smma_chain_limit(const smma_chain *p, int32_t exponent, int bases) {
  int reach = smma_chain_reach(p), shift = reach - p->alignment_bits - bases - CHAIN_BIAS;
  int32_t x = smma_add_clamp(exponent, shift * (1 << 20), (reach + 1) * (1 << 20));
  return smma_repeat_high_byte((uint32_t)x << 4);
}

/* Constants that are held in registers, since an instruction takes only one as it is. */
typedef struct {
  uint32_t large, unit, middle;
} smma_chain_words;

/* `zero` is zero, which a compiler that does not see it cannot put into instructions. */
SMMA_CORE smma_chain_words smma_chain_words_of(const smma_chain *p, uint32_t zero) {
  smma_chain_words w;
  w.large = smma_in_register((uint32_t)(52 - p->alignment_bits) << 20 | 0x81000u, zero);
  w.unit = smma_in_register(0x02000000u, zero);
  w.middle = smma_in_register(0x1000u, zero);
  return w;
}

/* The large number, with c's sign, plus `count` / 128, plus c on the grid. Bits 12 and 31 of its fraction keep carries
   away from what is above. */
SMMA_CORE double smma_chain_start(const smma_chain_words *w, int32_t exponent, double c, uint32_t count) {
  uint32_t field = (uint32_t)exponent & 0x7ff00000u, large = (smma_high_word(c) & 0x80000000u) | w->large;
  uint32_t sign = (uint32_t)((int32_t)smma_high_word(c) >> 31);
  int32_t unit = (int32_t)((sign & 0xfc000000u) | w->unit); /* 2^25 with c's sign */
  int32_t low = smma_high_product_add((int32_t)count, unit, INT32_MIN);
  return smma_add_to_zero(smma_double_of(field + large, (uint32_t)low), c);
}

/* The block's result. */
SMMA_CORE double smma_chain_finish(const smma_chain *p, const smma_chain_words *w, double accumulator) {
  double large = smma_double_of((smma_high_word(accumulator) & 0xffffe000u) | w->middle, 0x80000000u);
  double sum = smma_subtract(accumulator, large);
  if (p->kept >= 20) return smma_double_of(smma_high_word(sum), smma_low_word(sum) & ~0u << (52 - p->kept));
  return smma_double_of(smma_high_word(sum) & ~0u << (20 - p->kept), 0);
}

/* Whether a block's products are out of range: so small, absolutely or beside their bases, that results may be
   subnormal or exponents and deficits wrong; so great that a chain of them may overflow. */
SMMA_CORE bool smma_chain_is_out(int32_t sum, int bases) {
  int least = smma_maximum(CHAIN_TOP - CHAIN_SPAN, CHAIN_LEAST + CHAIN_TOP - bases);
  int greatest = CHAIN_GREATEST + CHAIN_TOP - bases;
  return sum >= 0 && (sum >> 25 < least || sum >> 25 > greatest);
}

/* Whether a chain can start from c: not what is so small that a block without products cuts it, or so great that sums
   overflow. */
SMMA_CORE bool smma_chain_takes(const smma_chain *p, float c) {
  return c == 0 || (c > (p->wide ? 0x1p-126f : 0x1p-90f) && c < 0x1p126f) ||
         (c < (p->wide ? -0x1p-126f : -0x1p-90f) && c > -0x1p126f);
}

/* c as the chain takes it, without bits that D's format does not have. */
SMMA_CORE double smma_chain_from(const smma_chain *p, float c) {
  double x = smma_chain_takes(p, c) ? c : 0;
  if (p->kept < 20) x = smma_double_of(smma_high_word(x) & ~0u << (20 - p->kept), 0);
  return x;
}

/* A thread's place: its first row and column in the panels. */
typedef struct {
  int row, column;
} smma_chain_place_of_thread;

SMMA_CORE int smma_chain_row(smma_chain_place_of_thread at, int i) { return at.row + i / 2 * 16 + i % 2; }
SMMA_CORE int smma_chain_column(smma_chain_place_of_thread at, int j) { return at.column + j / 2 * 8 + j % 2; }

/* Begins a block of CHAIN_BEGUN columns: accumulators take the place of c. `first`: the block's first product; panels
   follow each other where blocks are longer. `bases` counts where they are not wide. Marks what is out of range. */
SMMA_CORE void smma_chain_begin(const smma_chain *p, const smma_chain_words *w, const smma_chain_panel *a,
                                const smma_chain_panel *b, smma_chain_place_of_thread at, int first, int pair,
                                int bases, const int32_t *sum, double *accumulator, uint64_t *out) {
  const int row = smma_chain_place(true, at.row) / 4, column = smma_chain_place(false, at.column) / 4 + pair / 2;
  uint32_t count[CHAIN_ROWS * CHAIN_BEGUN], limit[CHAIN_ROWS * CHAIN_BEGUN];
  int32_t exponent[CHAIN_ROWS * CHAIN_BEGUN];
  int i, j, k;
  SMMA_UNROLL for (i = 0; i < CHAIN_ROWS; i++) SMMA_UNROLL for (j = 0; j < CHAIN_BEGUN; j++) {
    const int e = i * CHAIN_BEGUN + j, all = i * CHAIN_COLUMNS + pair * CHAIN_BEGUN + j;
    if (p->wide) {
      bases = a->base[first % CHAIN_DEPTH / 4][smma_chain_row(at, i)] +
              b->base[first % CHAIN_DEPTH / 4][smma_chain_column(at, pair * CHAIN_BEGUN + j)];
      if (smma_chain_is_out(sum[e], bases)) *out |= (uint64_t)1 << all;
      if (sum[e] < 0) bases = 2 * CHAIN_NO_BASE; /* those of zeros and their partners say nothing */
    }
    exponent[e] = smma_chain_exponent(sum[e], bases, accumulator[all]);
    limit[e] = smma_chain_limit(p, exponent[e], bases);
    count[e] = 0;
  }
  SMMA_UNROLL_BY(1) for (k = first; k < first + p->block; k += 4) {
    const smma_chain_panel *of_a = a + k / CHAIN_DEPTH, *of_b = b + k / CHAIN_DEPTH;
    const int group = k % CHAIN_DEPTH / 4;
    smma_four row_deficit[CHAIN_ROWS / 4], row_sign[CHAIN_ROWS / 4], mask[CHAIN_ROWS / 4];
    const smma_pair column_deficit = of_b->deficit[group][column].of[pair % 2];
    const smma_pair column_sign = of_b->sign[group][column].of[pair % 2];
    SMMA_UNROLL for (i = 0; i < CHAIN_ROWS / 4; i++) {
      row_deficit[i] = of_a->deficit[group][row + i * 8];
      row_sign[i] = of_a->sign[group][row + i * 8];
      mask[i] = of_a->mask[group][row + i * 8];
    }
    SMMA_UNROLL for (i = 0; i < CHAIN_ROWS; i++) SMMA_UNROLL for (j = 0; j < CHAIN_BEGUN; j++) {
      const int e = i * CHAIN_BEGUN + j;
      uint32_t above = row_deficit[i / 4].of[i % 4 / 2].of[i % 2] + column_deficit.of[j] + limit[e];
      count[e] = smma_dot_bytes(above & (row_sign[i / 4].of[i % 4 / 2].of[i % 2] ^ column_sign.of[j]),
                                mask[i / 4].of[i % 4 / 2].of[i % 2], count[e]);
    }
  }
  SMMA_UNROLL for (i = 0; i < CHAIN_ROWS; i++) SMMA_UNROLL for (j = 0; j < CHAIN_BEGUN; j++) {
    const int e = i * CHAIN_BEGUN + j, all = i * CHAIN_COLUMNS + pair * CHAIN_BEGUN + j;
    accumulator[all] = smma_chain_start(w, exponent[e], accumulator[all], count[e]);
  }
}

/* A block's products. */
SMMA_CORE void smma_chain_products(const smma_chain *p, const smma_chain_panel *a, const smma_chain_panel *b,
                                   smma_chain_place_of_thread at, int first, double *accumulator) {
  int i, j, k;
  SMMA_UNROLL_BY(4) for (k = first; k < first + p->block; k++) {
    const smma_two *of_a = a[k / CHAIN_DEPTH].value[k % CHAIN_DEPTH], *of_b = b[k / CHAIN_DEPTH].value[k % CHAIN_DEPTH];
    smma_two x[CHAIN_ROWS / 2], y[CHAIN_COLUMNS / 2];
    SMMA_UNROLL for (i = 0; i < CHAIN_ROWS / 2; i++) x[i] = of_a[smma_chain_row(at, 2 * i) / 2];
    SMMA_UNROLL for (j = 0; j < CHAIN_COLUMNS / 2; j++) y[j] = of_b[smma_chain_column(at, 2 * j) / 2];
    SMMA_UNROLL for (i = 0; i < CHAIN_ROWS; i++) SMMA_UNROLL for (j = 0; j < CHAIN_COLUMNS; j++) {
      double *sum = &accumulator[i * CHAIN_COLUMNS + j];
      *sum = smma_fma_down(x[i / 2].of[i % 2], y[j / 2].of[j % 2], *sum);
    }
  }
}

SMMA_CORE void smma_chain_end(const smma_chain *p, const smma_chain_words *w, double *accumulator) {
  int e;
  SMMA_UNROLL for (e = 0; e < CHAIN_ROWS * CHAIN_COLUMNS; e++) accumulator[e] = smma_chain_finish(p, w, accumulator[e]);
}

#endif
