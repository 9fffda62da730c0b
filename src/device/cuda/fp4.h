/* GST-FDPA of FP4 by integer dot products. Twice an E2M1 number is an integer of at most 12. So four dot products of
   bytes compute a group of 16 products, in units of 1/4. The weight of a group in a line is its scale factor's
   significand, shifted to the line's base: the least exponent of the line's scale factors in the step. The sums of four
   groups, each times both weights, add up to an integer below 2^51. Added to the bits of 1.5 * 2^52, this integer
   becomes a double.

   Terms are exact if emax is within 35 bits of that integer's unit. c is then truncated at 2^(emax - 35), by adding and
   subtracting a number of its sign with that last bit. The sum is exact in binary64 before it is truncated to 24 bits.
   The greatest exponent of groups comes from a sum of four 16^e, which is at least 16^max and below 16^(max + 1).

   A step is computed again, term by term, for elements in which more is truncated, in which a group of nonzero
   operands may have only zero products (its first eight elements show none), or whose lines have scale factors too
   far apart. The core computes lines with NaN or scale factors beyond 2^45, and elements whose c is not finite or
   near overflow. */
#ifndef SMMA_DEVICE_CUDA_FP4_H
#define SMMA_DEVICE_CUDA_FP4_H

#include "device/cuda/tile.h"
#include "device/kernels/words.h"

/* One step of TILE_LINES lines. */
typedef struct {
  smma_four element[FP4_GROUPS][TILE_LINES];    /* the elements of each group, doubled, one per byte */
  smma_four weight[FP4_GROUPS][TILE_LINES / 4]; /* each group's scale factor as an integer, at the position that
                                                   smma_tile_place returns */
  smma_four power[TILE_LINES];                  /* 16^(exponent - base) of each group; 0: all elements are zero */
  smma_four word[TILE_LINES]; /* four words per line, with the indices FP4_BASE, FP4_NONZERO and FP4_SCALES */
} smma_fp4_panel;

enum { FP4_BASE, FP4_NONZERO, FP4_SCALES, FP4_NO_BASE = 1000, FP4_NO_EXPONENT = -500 };

/* ---- Packing ---- */

typedef struct {
  const uint8_t *code,
      *scale; /* code[k * lines + line], scale[k / scale_block * lines + line]; elements outside the operand are zero */
  uint64_t lines, depth;
  smma_format format; /* format of the scale factors */
  int scale_block;
  bool of_a;
} smma_fp4_operand;

/* Returns twice an E2M1 element as a signed byte. */
SMMA_CORE uint32_t smma_fp4_doubled(uint32_t code) {
  const uint32_t magnitude = 0xc8643210u >> (code & 7) * 4 & 15;
  return (code & 8 ? 0 - magnitude : magnitude) & 255;
}

/* Packs one line of a step: FP4_DEPTH elements from index k on. Returns true if the core must compute the line. */
SMMA_CORE bool smma_fp4_pack(const smma_fp4_operand *o, uint64_t line, uint64_t k, smma_fp4_panel *panel) {
  const int at = (int)(line % TILE_LINES), place = smma_tile_place(o->of_a, at);
  const bool there = line < o->lines && k < o->depth;
  uint32_t nonzero = 0, scales = 0;
  int base = FP4_NO_BASE, most = -FP4_NO_BASE, group, i;
  bool special = false;
  for (group = 0; group < FP4_GROUPS; group++) {
    const uint64_t first = k + (uint64_t)(group * FP4_GROUP);
    const uint32_t code = there ? o->scale[first / (uint64_t)o->scale_block * o->lines + line] : 0;
    const smma_number s = smma_decode(smma_encoding_of(o->format), code);
    bool zero = s.kind == SMMA_ZERO;
    uint32_t bits = 0;
    scales |= code << group * 8;
    for (i = 0; i < FP4_GROUP; i++) {
      const uint32_t x = there ? smma_fp4_doubled(o->code[(first + (uint64_t)i) * o->lines + line]) : 0;
      smma_four *word = &panel->element[group][at];
      uint32_t *to = &word->of[i / 8].of[i / 4 % 2];
      *to = (i % 4 ? *to : 0) | x << i % 4 * 8;
      if (x) bits |= 1u << i;
    }
    zero = zero || bits == 0;
    nonzero |= (zero ? 255 : bits & 255) << group * 8;
    special = special || s.kind > SMMA_FINITE || (!zero && (s.exponent > FP4_MOST || s.exponent < -FP4_MOST));
    if (!zero) base = smma_minimum(base, s.exponent), most = smma_maximum(most, s.exponent);
    panel->weight[group][place / 4].of[place % 4 / 2].of[place % 2] = zero;
  }
  special = special && there;
  if (most - base > FP4_SPREAD) nonzero = 0;
  if (base == FP4_NO_BASE) base = 0;
  for (group = 0; group < FP4_GROUPS; group++) {
    const smma_number s = smma_decode(smma_encoding_of(o->format), scales >> group * 8 & 255);
    uint32_t *weight = &panel->weight[group][place / 4].of[place % 4 / 2].of[place % 2];
    const bool counts = !*weight && s.kind == SMMA_FINITE && s.exponent - base <= FP4_SPREAD;
    *weight = counts ? (uint32_t)s.significand << (s.exponent - base) : 0;
    panel->power[at].of[group / 2].of[group % 2] =
        counts ? (uint32_t)((o->of_a ? 67 : 127 + FP4_POWER - 67) + 4 * (s.exponent - base)) << 23 : 0;
  }
  panel->word[at].of[0].of[FP4_BASE] = (uint32_t)base << 20;
  panel->word[at].of[0].of[FP4_NONZERO] = nonzero;
  panel->word[at].of[1].of[0] = scales;
  panel->word[at].of[1].of[1] = 0;
  return special;
}

/* ---- Sums ---- */

SMMA_CORE int32_t smma_fp4_dot(smma_four x, smma_four y) {
  int32_t sum = smma_dot_signed_bytes(x.of[0].of[0], y.of[0].of[0], 0);
  sum = smma_dot_signed_bytes(x.of[0].of[1], y.of[0].of[1], sum);
  sum = smma_dot_signed_bytes(x.of[1].of[0], y.of[1].of[0], sum);
  return smma_dot_signed_bytes(x.of[1].of[1], y.of[1].of[1], sum);
}

/* Returns the bits of 1.5 * 2^52, held in registers because `zero`, which is 0, is unknown to the compiler
   (smma_in_register). */
SMMA_CORE int64_t smma_fp4_start(uint32_t zero) { return (int64_t)smma_in_register(0x43380000u, zero) << 32; }

/* Sums the terms of a step for FP4_BEGUN rows from number `first` on, in units of 2^(both bases - fraction). Each sum
   is added to `start`, the bits of 1.5 * 2^52 (smma_fp4_start), so that it becomes a double. */
SMMA_CORE void smma_fp4_sums(const smma_fp4_panel *a, const smma_fp4_panel *b, smma_tile_thread at, int first,
                             int64_t start, int64_t *sum) {
  const int row = (smma_tile_place(true, at.row) + first) / 4, column = smma_tile_place(false, at.column) / 4;
  int group, i, j;
  SMMA_UNROLL for (group = 0; group < FP4_GROUPS; group++) {
    const smma_four of_a = a->weight[group][row], of_b = b->weight[group][column];
    smma_four y[TILE_COLUMNS];
    SMMA_UNROLL for (j = 0; j < TILE_COLUMNS; j++) y[j] = b->element[group][smma_tile_column(at, j)];
    SMMA_UNROLL for (i = 0; i < FP4_BEGUN; i++) {
      const smma_four x = a->element[group][smma_tile_row(at, first + i)];
      SMMA_UNROLL for (j = 0; j < TILE_COLUMNS; j++) {
        int64_t *to = &sum[i * TILE_COLUMNS + j];
        *to = (int64_t)(smma_fp4_dot(x, y[j]) * (int32_t)smma_word(of_a, i)) * (int32_t)smma_word(of_b, j) +
              (group == 0 ? start : *to);
      }
    }
  }
}

/* Adds a step's terms to `*c` in binary64: `sum` is from smma_fp4_sums, `a` and `b` are the panels' words, `fraction`
   is the number of fraction bits of terms. Returns true, and leaves `*c` unchanged, if the step must be computed
   again. */
SMMA_CORE bool smma_fp4_add(int fraction, smma_four a, smma_four b, smma_four a_power, smma_four b_power, int64_t sum,
                            double *c) {
  const uint32_t both = a.of[0].of[FP4_NONZERO] & b.of[0].of[FP4_NONZERO];
  const uint32_t bases = a.of[0].of[FP4_BASE] + b.of[0].of[FP4_BASE];
  const uint32_t high = smma_high_word(*c), magnitude = high & 0x7fffffffu;
  float power = smma_f32_of(smma_word(a_power, 0)) * smma_f32_of(smma_word(b_power, 0));
  uint32_t greatest, place;
  double cut, start, terms, exact;
  bool again;
  int group;
  SMMA_UNROLL for (group = 1; group < FP4_GROUPS; group++) power =
      smma_f32_of(smma_word(a_power, group)) * smma_f32_of(smma_word(b_power, group)) + power;
  greatest = smma_f32_bits(power);
  again = ((both - 0x01010101u) & ~both & 0x80808080u) != 0;
  again = again | (greatest - 1 >= (uint32_t)(FP4_POWER + 4 * (FP4_F + 1 - fraction)) << 23);
  again = again | ((int32_t)(magnitude - bases) >= (FP4_F + 1 - fraction + 1023) * (1 << 20));
  place = (greatest >> 5 & 0x7ff00000u) + bases + (uint32_t)(1023 + 52 - FP4_F - FP4_POWER / 4) * (1u << 20);
  cut = smma_double_of(place | (high ^ magnitude), 0);
  start = smma_subtract(smma_add_to_zero(*c, cut), cut);
  terms = smma_subtract(smma_double_of((uint32_t)((uint64_t)sum >> 32), (uint32_t)sum), 0x1.8p52);
  exact = smma_fma(terms, smma_double_of(bases + (uint32_t)(1023 - fraction) * (1u << 20), 0), start);
  *c = again ? *c : smma_double_of(smma_high_word(exact), smma_low_word(exact) & 0xe0000000u);
  return again;
}

/* ---- Steps term by term ---- */

/* Returns x 2^shift, truncated. */
SMMA_CORE int64_t smma_fp4_shifted(int64_t x, int shift) {
  const int64_t magnitude = x < 0 ? -x : x;
  const int64_t shifted = shift >= 0 ? magnitude << smma_minimum(shift, 40) : magnitude >> smma_minimum(-shift, 63);
  return x < 0 ? -shifted : shifted;
}

/* Returns the significand of a double that is zero or normal, as an integer below 2^53. */
SMMA_CORE int64_t smma_double_significand(double x) {
  const uint32_t high = smma_high_word(x), magnitude = high & 0x7fffffffu;
  const int64_t s = (int64_t)((uint64_t)((magnitude & 0xfffffu) | 0x100000u) << 32 | smma_low_word(x));
  return magnitude == 0 ? 0 : high >> 31 ? -s : s;
}

SMMA_CORE bool smma_fp4_all_zero(smma_four x, smma_four y) {
  uint32_t both = 0;
  int word, byte;
  for (word = 0; word < 4; word++)
    for (byte = 0; byte < 32; byte += 8)
      both |= (uint32_t)((smma_word(x, word) >> byte & 255) != 0 && (smma_word(y, word) >> byte & 255) != 0);
  return both == 0;
}

/* Returns the accumulator after a step from c, computed term by term in integers. */
SMMA_CORE double smma_fp4_step(int fraction, const smma_fp4_panel *a, const smma_fp4_panel *b, int row, int column,
                               double c) {
  const smma_encoding f = smma_encoding_of(fraction == 2 ? SMMA_UE8M0 : SMMA_UE4M3);
  const uint32_t high = smma_high_word(c) & 0x7fffffffu;
  const int of_c = high ? (int)(high >> 20) - 1023 : FP4_NO_EXPONENT;
  int emax = of_c, group, pass;
  int64_t total = 0;
  double sum;
  for (pass = 0; pass < 2; pass++) {
    if (pass) total = smma_fp4_shifted(smma_double_significand(c), of_c - emax + FP4_F - 52);
    for (group = 0; group < FP4_GROUPS; group++) {
      const smma_number x = smma_decode(f, a->word[row].of[1].of[0] >> group * 8 & 255);
      const smma_number y = smma_decode(f, b->word[column].of[1].of[0] >> group * 8 & 255);
      const int exponent = x.exponent + y.exponent;
      const smma_four of_a = a->element[group][row], of_b = b->element[group][column];
      if (x.kind == SMMA_ZERO || y.kind == SMMA_ZERO || smma_fp4_all_zero(of_a, of_b)) continue;
      if (pass)
        total += smma_fp4_shifted((int64_t)smma_fp4_dot(of_a, of_b) * (int64_t)(x.significand * y.significand),
                                  exponent - emax + FP4_F - fraction);
      else
        emax = smma_maximum(emax, exponent);
    }
  }
  sum = (double)total;
  return smma_double_of(smma_high_word(sum), smma_low_word(sum) & 0xe0000000u) *
         smma_double_of((uint32_t)(emax - FP4_F + 1023) << 20, 0);
}

/* Reports whether smma_fp4_add can start from c; otherwise the core computes the element. */
SMMA_CORE bool smma_fp4_takes(float c) { return c > -0x1p125f && c < 0x1p125f; }

#endif
