/* T-FDPA without binary64: every sum is two numbers of binary32, for products of FP16 and FP8.

   Let u = emax - F. h begins as 1.5 * 2^(u + 33), with the last bit 2^(u + 10), and l as 1.5 * 2^(u + 23), with the
   last bit 2^u; neither leaves its binade. A product p is added with rounding down: h' = h + p toward zero is h plus
   the floor of p on h's grid; d = h' - h is exact; p - d is rounded down at 24 bits, below l's grid; adding that to l
   toward zero adds its floor. Sums of 32 products and c stay within 2^32 units of l, and the parts added to l within
   2^16.

   Truncation toward zero exceeds the floor by one unit for each negative product that is not on the grid. Sums start
   with this correction, because the number of such products is known: the exponent of a product's lowest set bit is the
   sum of those of its factors. Panels store the latter as deficits below a base (the greatest exponent of the format),
   one byte per element:
     deficit = base - lowest set bit;     not on the grid:  deficit_a + deficit_b > base_a + base_b + F - emax
   Zeros of A are zero, and a mask excludes them from the count; zeros of B are positive numbers below every grid, and
   count as such.

   The greatest exponent of products comes from sums of eight 16^(e_a + e_b), each at least 16^max and below 16^(max +
   1). The core computes lines with NaN or infinities, and elements whose c is far above or below all products. */
#ifndef SMMA_DEVICE_CUDA_TWO_LEVEL_H
#define SMMA_DEVICE_CUDA_TWO_LEVEL_H

#include "device/cuda/tile.h"
#include "device/kernels/words.h"

/* TWO_DEPTH elements of TILE_LINES lines, which are at the positions that smma_tile_place returns. `value`: the numbers
   as binary32; `power`: 16^(exponent - base). In the last three members, a 32-bit word holds four elements of a line,
   one per byte: their deficits, their signs in bit 7, and 1 for each nonzero element. */
typedef struct {
  smma_four value[TWO_DEPTH][TILE_LINES / 4], power[TWO_DEPTH][TILE_LINES / 4];
  smma_four deficit[TWO_DEPTH / 4][TILE_LINES / 4], sign[TWO_DEPTH / 4][TILE_LINES / 4];
  smma_four mask[TWO_DEPTH / 4][TILE_LINES / 4];
} smma_two_panel;

/* ---- Packing ---- */

typedef struct {
  const void *code; /* code[k * lines + line]; elements outside the operand are zero */
  uint64_t lines, depth;
  smma_format format;
  int bytes;
  bool of_a;
} smma_two_operand;

SMMA_CORE float smma_two_power(int n) { return smma_f32_of((uint32_t)(n + 127) << 23); }

/* Packs TWO_DEPTH numbers of a line, from index k on; returns true if there are NaN or infinities, which become
   zero. */
SMMA_CORE bool smma_two_pack(const smma_two_operand *o, uint64_t line, uint64_t k, smma_two_panel *panel) {
  const smma_encoding f = smma_encoding_of(o->format);
  const int place = smma_tile_place(o->of_a, (int)(line % TILE_LINES)), base = smma_chain_base_of(o->format);
  const int quad = place / 4, pair = place % 4 / 2, word = place % 2;
  uint32_t deficit = 0, sign = 0, mask = 0;
  bool special = false;
  int i;
  for (i = 0; i < TWO_DEPTH; i++) {
    const uint64_t number = k + (uint64_t)i, at = number * o->lines + line;
    const bool there = line < o->lines && number < o->depth;
    const uint32_t code = !there ? 0 : o->bytes == 1 ? ((const uint8_t *)o->code)[at] : ((const uint16_t *)o->code)[at];
    const smma_number x = there ? smma_decode(f, code) : smma_zero();
    const int byte = i % 4 * 8;
    float value = o->of_a ? 0 : 0x1p-126f;
    uint32_t power = 0;
    special = special || x.kind > SMMA_FINITE;
    if (x.kind == SMMA_FINITE) {
      const int lowest = x.exponent - x.fraction_bits;
      value = (float)(int32_t)x.significand * smma_two_power(lowest);
      if (x.negative) value = -value;
      power = (uint32_t)(127 + (o->of_a ? 61 : 60) - 4 * (base - x.exponent)) << 23;
      deficit |= (uint32_t)(base - lowest - (smma_bit_length(x.significand & (0 - x.significand)) - 1)) << byte;
      sign |= (uint32_t)x.negative << (byte + 7);
      mask |= 1u << byte;
    } else {
      deficit |= (uint32_t)(o->of_a ? 0 : TWO_REACH + 1) << byte;
    }
    panel->value[i][quad].of[pair].of[word] = smma_f32_bits(value);
    panel->power[i][quad].of[pair].of[word] = power;
    if (i % 4 < 3) continue;
    panel->deficit[i / 4][quad].of[pair].of[word] = deficit;
    panel->sign[i / 4][quad].of[pair].of[word] = sign;
    panel->mask[i / 4][quad].of[pair].of[word] = mask;
    deficit = sign = mask = 0;
  }
  return special;
}

/* ---- Blocks ---- */

/* A sum in two numbers: h and l of the description above. */
typedef struct {
  float high, low;
} smma_two_sum;

/* Reports whether a chain can start from c. It must not be truncated by a block without products, nor be so great
   that emax may exceed bases + F within 2^10 products. */
SMMA_CORE bool smma_two_takes(const smma_chain *p, int bases, float c) {
  const float magnitude = c < 0 ? -c : c;
  return c == 0 || (magnitude >= 0x1p-75f && magnitude < smma_two_power(bases + p->alignment_bits - 2));
}

/* Truncates x to the fraction bits of results. */
SMMA_CORE float smma_two_cut(const smma_chain *p, float x) {
  return p->kept == 23 ? x : smma_f32_of(smma_f32_bits(x) & ~0u << (23 - p->kept));
}

/* Returns emax of a block: the greatest exponent of its products and of c. `sums` is the greatest exponent sum of the
   products, as bits of binary32. */
SMMA_CORE int32_t smma_two_exponent(uint32_t sums, int bases, float c) {
  const int32_t of_c = (int32_t)(smma_f32_bits(c) << 1 >> 24) - 127;
  const int32_t of_products = sums == 0 ? TWO_LEAST : (int32_t)(sums >> 25) - CHAIN_TOP + bases;
  return smma_maximum(smma_maximum(of_products, of_c), TWO_LEAST);
}

/* Returns four equal bytes, the limit of deficits: limit + deficit_a + deficit_b exceeds 127 if the product is not on
   the grid. */
SMMA_CORE uint32_t smma_two_limit(const smma_chain *p, int32_t emax, int bases) {
  return (uint32_t)(127 - smma_minimum(bases + p->alignment_bits - emax, TWO_REACH)) * 0x01010101u;
}

/* Returns the start of a sum: c truncated to the grid, plus one unit for each product counted in `count`, which has 128
   per product. */
SMMA_CORE smma_two_sum smma_two_start(const smma_chain *p, int32_t emax, float c, uint32_t count) {
  const uint32_t unit = (uint32_t)(emax - p->alignment_bits + 127) << 23;
  const float high = smma_f32_of(unit + (33u << 23 | 1u << 22)), low = smma_f32_of(unit + (23u << 23 | 1u << 22));
  smma_two_sum s;
  float floor_high;
  s.high = smma_f32_add_to_zero(high, c);
  floor_high = smma_f32_add_to_zero(s.high, -high);
  s.low = smma_f32_add_to_zero(low, smma_f32_add_down(c, -floor_high));
  if (c < 0 && smma_f32_add_to_zero(floor_high, smma_f32_add_to_zero(s.low, -low)) != c) count += 128;
  s.low = smma_f32_of(smma_f32_bits(s.low) + (count >> 7));
  return s;
}

SMMA_CORE void smma_two_product(float a, float b, smma_two_sum *s) {
  const float high = smma_f32_fma_to_zero(a, b, s->high), added = smma_f32_add_to_zero(high, -s->high);
  s->low = smma_f32_add_to_zero(s->low, smma_f32_fma_down(a, b, -added));
  s->high = high;
}

SMMA_CORE float smma_two_finish(const smma_chain *p, smma_two_sum s) {
  const float high = smma_f32_of((smma_f32_bits(s.high) & 0xff800000u) | 1u << 22);
  const float low = smma_f32_of((smma_f32_bits(s.low) & 0xff800000u) | 1u << 22);
  return smma_two_cut(p, smma_f32_add_to_zero(smma_f32_add_to_zero(s.high, -high), smma_f32_add_to_zero(s.low, -low)));
}

/* Adds a block of products to the thread's elements `c`. `first` is the panels' index of the block's first product. */
SMMA_CORE void smma_two_block(const smma_chain *p, const smma_two_panel *a, const smma_two_panel *b,
                              smma_tile_thread at, int first, int bases, float *c) {
  const int row = smma_tile_place(true, at.row) / 4, column = smma_tile_place(false, at.column) / 4;
  smma_two_sum s[TILE_ROWS * TILE_COLUMNS];
  uint32_t most[TILE_ROWS * TILE_COLUMNS];
  int e, i, j, k, part;
  SMMA_UNROLL for (e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) most[e] = 0;
  SMMA_UNROLL_BY(1) for (part = first; part < first + p->block; part += 8) {
    float sum[TILE_ROWS * TILE_COLUMNS];
    SMMA_UNROLL for (e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) sum[e] = 0;
    SMMA_UNROLL for (k = 0; k < smma_minimum(p->block, 8); k++) {
      const smma_four y = b->power[part + k][column];
      SMMA_UNROLL for (i = 0; i < TILE_ROWS; i++) SMMA_UNROLL for (j = 0; j < TILE_COLUMNS; j++) {
        float *to = &sum[i * TILE_COLUMNS + j];
        *to = smma_f32_of(smma_word(a->power[part + k][row + i / 4], i % 4)) * smma_f32_of(smma_word(y, j)) + *to;
      }
    }
    SMMA_UNROLL for (e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) most[e] =
        smma_greater_word(most[e], smma_f32_bits(sum[e]));
  }
  SMMA_UNROLL for (e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) {
    const int32_t emax = smma_two_exponent(most[e], bases, c[e]);
    const uint32_t limit = smma_two_limit(p, emax, bases);
    uint32_t count = 0;
    i = e / TILE_COLUMNS, j = e % TILE_COLUMNS;
    SMMA_UNROLL for (k = first / 4; k < (first + p->block) / 4; k++) {
      const uint32_t above = smma_word(a->deficit[k][row + i / 4], i % 4) + smma_word(b->deficit[k][column], j) + limit;
      const uint32_t negative = smma_word(a->sign[k][row + i / 4], i % 4) ^ smma_word(b->sign[k][column], j);
      count = smma_dot_bytes(above & negative, smma_word(a->mask[k][row + i / 4], i % 4), count);
    }
    s[e] = smma_two_start(p, emax, c[e], count);
  }
  SMMA_UNROLL_BY(4) for (k = first; k < first + p->block; k++) {
    const smma_four y = b->value[k][column];
    SMMA_UNROLL for (i = 0; i < TILE_ROWS; i++) SMMA_UNROLL for (j = 0; j < TILE_COLUMNS; j++)
        smma_two_product(smma_f32_of(smma_word(a->value[k][row + i / 4], i % 4)), smma_f32_of(smma_word(y, j)),
                         &s[i * TILE_COLUMNS + j]);
  }
  SMMA_UNROLL for (e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) c[e] = smma_two_finish(p, s[e]);
}

#endif
