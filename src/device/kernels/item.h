/* What an item of a fast kernel is: SMMA_ITEM_ROWS rows and SMMA_WIDTH columns of D, a step of the instruction after
   another. An element whose exponents or operands are out of the ordinary stops: its accumulator and the step it had
   before go to the core's kernel. */
#ifndef SMMA_DEVICE_ITEM_H
#define SMMA_DEVICE_ITEM_H

#include "device/kernels/factors.h"

/* Neighbours in a row are items that GPUs compute together; CPUs, which compute one after another, find columns again
   in their caches. */
enum { SMMA_ROW_AXIS = SMMA_WIDTH > 1 ? 0 : 1 };

/* Operands and their extents, where the item's elements begin. */
typedef struct {
  smma_extent e;
  SMMA_GLOBAL const void *a_codes, *b_codes;
  SMMA_GLOBAL const float *a, *b;
  SMMA_GLOBAL const int *a_exponent, *b_exponent;
  SMMA_GLOBAL const void *scale_a, *scale_b;
  int row, column;
} smma_item_operands;

/* Accumulators as binary32, and whether what they hold is right. */
typedef struct {
  smma_floats d[SMMA_ITEM_ROWS];
  smma_ints good[SMMA_ITEM_ROWS];
} smma_item_sums;

/* Where element k of the item's first row of A, and of its columns of B, is. */
SMMA_DEVICE uint64_t smma_at_row(const smma_item_operands *x, int k) { return (uint64_t)k * x->e.rows_apart + x->row; }
SMMA_DEVICE uint64_t smma_at_column(const smma_item_operands *x, int k) {
  return (uint64_t)k * x->e.columns_apart + x->column;
}

/* Where the item's row r is in accumulators. */
SMMA_DEVICE uint64_t smma_at_sums(const smma_item_operands *x, int r) {
  return (uint64_t)(x->row + r) * x->e.columns_apart + x->column;
}

/* The exponent of an accumulator's encoding, or of a zero or special one as of factors. */
SMMA_DEVICE smma_ints smma_accumulator_exponent(smma_encoding f, smma_floats x) {
  const smma_ints magnitude = smma_bits(x) & 0x7fffffff;
  const smma_ints e = smma_greater((magnitude >> 23) - 127, smma_ints_of(smma_minimum_exponent(f)));
  const smma_ints finite = magnitude >= 0x7f800000 ? smma_ints_of(SMMA_SPECIAL_FACTOR) : e;
  return magnitude == 0 ? smma_ints_of(2 * SMMA_ZERO_FACTOR) : finite;
}

SMMA_DEVICE smma_ints smma_is_finite(smma_floats x) { return (smma_bits(x) & 0x7fffffff) < 0x7f800000; }

/* x, exact, rounded to a format that binary32 holds. */
SMMA_DEVICE smma_floats smma_round_lanes(smma_format format, smma_rounding rounding, smma_doubles x) {
  const smma_encoding f = smma_encoding_of(format);
  const smma_ints last =
      smma_greater(smma_exponent(x), smma_ints_of(smma_minimum_exponent(f))) - smma_ints_of(f.fraction_bits);
  const smma_doubles scaled = x * smma_power(-last);
  const smma_doubles kept = rounding == SMMA_ROUND_NEAREST_EVEN ? smma_rint(scaled) : smma_trunc(scaled);
  const smma_floats y = smma_floats_of(kept * smma_power(last));
  const smma_ints bits = smma_bits(y), magnitude = bits & 0x7fffffff;
  const int limit = (int)smma_f32_bits(smma_f32_power(smma_minimum(1 << (f.exponent_bits - 1), 127)));
  if (f.exponent_bits == 8) return y; /* conversion has made infinity of what is beyond */
  return smma_floats_of_bits(magnitude >= limit ? (bits - magnitude) | 0x7f800000 : bits);
}

/* Results with the zero of T-FDPA, which is +0. */
SMMA_DEVICE smma_floats smma_positive_zeros(smma_floats x) { return x + smma_floats_of_bits(smma_ints_of(0)); }

/* Accumulators where they were right at last, and the step that each stopped at: e.steps until it does. */
typedef struct {
  smma_floats d[SMMA_ITEM_ROWS];
  smma_ints stopped[SMMA_ITEM_ROWS];
} smma_item_chains;

SMMA_DEVICE void smma_begin_chains(const smma_item_operands *x, SMMA_GLOBAL const float *sums, smma_item_chains *c) {
  int r;
  SMMA_EACH_ROW(r) {
    c->d[r] = smma_load_floats(sums, smma_at_sums(x, r));
    c->stopped[r] = smma_ints_of(x->e.steps);
  }
}

SMMA_DEVICE void smma_begin_step(const smma_item_operands *x, const smma_item_chains *c, smma_item_sums *s) {
  int r;
  SMMA_EACH_ROW(r) {
    s->d[r] = c->d[r];
    s->good[r] = c->stopped[r] == x->e.steps;
  }
}

SMMA_DEVICE void smma_end_step(const smma_item_sums *s, int step, smma_item_chains *c) {
  int r;
  SMMA_EACH_ROW(r) {
    c->d[r] = s->good[r] ? s->d[r] : c->d[r];
    c->stopped[r] = s->good[r] ? c->stopped[r] : smma_lesser(c->stopped[r], smma_ints_of(step));
  }
}

SMMA_DEVICE void smma_end_chains(const smma_item_operands *x, const smma_item_chains *c, SMMA_GLOBAL float *sums,
                                 SMMA_GLOBAL int *from) {
  int r;
  SMMA_EACH_ROW(r) {
    smma_store_floats(sums, smma_at_sums(x, r), c->d[r]);
    smma_store_ints(from, smma_at_sums(x, r), c->stopped[r]);
  }
}

/* The item of a fast kernel. */
#define SMMA_ITEM_HERE                                                                                              \
  {                                                                                                                 \
    e, a_codes, b_codes, a, b, a_exponent, b_exponent, scale_a, scale_b, smma_item(SMMA_ROW_AXIS) * SMMA_ITEM_ROWS, \
        smma_item(1 - SMMA_ROW_AXIS) * SMMA_WIDTH                                                                   \
  }

/* A kernel whose items compute a step by `step_of`; accumulators have 32 bits. */
#define SMMA_CHAIN_KERNEL(name, step_of)                               \
  SMMA_FAST_KERNEL(name) {                                             \
    const smma_operation o = smma_operation_here(argument);            \
    const smma_item_operands x = SMMA_ITEM_HERE;                       \
    smma_item_chains c;                                                \
    smma_item_sums s;                                                  \
    int step;                                                          \
    smma_begin_chains(&x, (SMMA_GLOBAL const float *)accumulator, &c); \
    for (step = 0; step < e.steps; step++) {                           \
      smma_begin_step(&x, &c, &s);                                     \
      step_of(&o, x, step, &s);                                        \
      smma_end_step(&s, step, &c);                                     \
    }                                                                  \
    smma_end_chains(&x, &c, (SMMA_GLOBAL float *)accumulator, from);   \
  }

#endif
