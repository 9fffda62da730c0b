/* A work item of a fast kernel computes SMMA_ITEM_ROWS rows and SMMA_WIDTH columns of D, one instruction step after
   another. An element whose exponents or operands the kernel does not handle stops: the core's kernel continues it
   from the accumulator before that step. */
#ifndef SMMA_DEVICE_ITEM_H
#define SMMA_DEVICE_ITEM_H

#include "device/kernels/factors.h"

/* The axis of the grid along which rows of D lie. GPUs compute items with neighbouring rows together; CPUs compute
   items in sequence and find the columns in their caches. */
enum { SMMA_ROW_AXIS = SMMA_WIDTH > 1 ? 0 : 1 };

/* A kernel's operands and extent, and the first row and column of the item's elements. */
typedef struct {
  smma_extent e;
  SMMA_GLOBAL const void *a_codes, *b_codes;
  SMMA_GLOBAL const float *a, *b;
  SMMA_GLOBAL const int *a_exponent, *b_exponent;
  SMMA_GLOBAL const void *scale_a, *scale_b;
  int row, column;
} smma_item_operands;

/* Accumulators of the current step as binary32, and whether each is correct (nonzero in `good`). */
typedef struct {
  smma_floats d[SMMA_ITEM_ROWS];
  smma_ints good[SMMA_ITEM_ROWS];
} smma_item_sums;

/* smma_at_row returns the position of element k in the item's first row of A; smma_at_column, in the item's first
   column of B. */
SMMA_DEVICE uint64_t smma_at_row(const smma_item_operands *x, int k) { return (uint64_t)k * x->e.rows_apart + x->row; }
SMMA_DEVICE uint64_t smma_at_column(const smma_item_operands *x, int k) {
  return (uint64_t)k * x->e.columns_apart + x->column;
}

/* Returns the position of the item's row r in the accumulators. */
SMMA_DEVICE uint64_t smma_at_sums(const smma_item_operands *x, int r) {
  return (uint64_t)(x->row + r) * x->e.columns_apart + x->column;
}

/* Returns the exponent of an accumulator: SMMA_SPECIAL_FACTOR for special values, and twice SMMA_ZERO_FACTOR for
   zero. */
SMMA_DEVICE smma_ints smma_accumulator_exponent(smma_encoding f, smma_floats x) {
  const smma_ints magnitude = smma_bits(x) & 0x7fffffff;
  const smma_ints e = smma_greater((magnitude >> 23) - 127, smma_ints_of(smma_minimum_exponent(f)));
  const smma_ints finite = magnitude >= 0x7f800000 ? smma_ints_of(SMMA_SPECIAL_FACTOR) : e;
  return magnitude == 0 ? smma_ints_of(2 * SMMA_ZERO_FACTOR) : finite;
}

SMMA_DEVICE smma_ints smma_is_finite(smma_floats x) { return (smma_bits(x) & 0x7fffffff) < 0x7f800000; }

/* Rounds x, an exact sum, to a format whose numbers are all binary32 numbers. Overflows become infinite. */
SMMA_DEVICE smma_floats smma_round_lanes(smma_format format, smma_rounding rounding, smma_doubles x) {
  const smma_encoding f = smma_encoding_of(format);
  const smma_ints last =
      smma_greater(smma_exponent(x), smma_ints_of(smma_minimum_exponent(f))) - smma_ints_of(f.fraction_bits);
  const smma_doubles scaled = x * smma_power(-last);
  const smma_doubles kept = rounding == SMMA_ROUND_NEAREST_EVEN ? smma_rint(scaled) : smma_trunc(scaled);
  const smma_floats y = smma_floats_of(kept * smma_power(last));
  const smma_ints bits = smma_bits(y), magnitude = bits & 0x7fffffff;
  const int limit = (int)smma_f32_bits(smma_f32_power(smma_minimum(1 << (f.exponent_bits - 1), 127)));
  if (f.exponent_bits == 8) return y; /* an overflow is already infinite */
  return smma_floats_of_bits(magnitude >= limit ? (bits - magnitude) | 0x7f800000 : bits);
}

/* Replaces -0 by +0, as T-FDPA does in results. */
SMMA_DEVICE smma_floats smma_positive_zeros(smma_floats x) { return x + smma_floats_of_bits(smma_ints_of(0)); }

/* The last correct accumulators, and the step at which each element stopped: e.steps if it has not stopped. */
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

/* Initialiser of smma_item_operands in a fast kernel. */
#define SMMA_ITEM_HERE                                                                                              \
  {                                                                                                                 \
    e, a_codes, b_codes, a, b, a_exponent, b_exponent, scale_a, scale_b, smma_item(SMMA_ROW_AXIS) * SMMA_ITEM_ROWS, \
        smma_item(1 - SMMA_ROW_AXIS) * SMMA_WIDTH                                                                   \
  }

/* Defines a kernel that computes each step with the function `step_of`; accumulators have 32 bits. */
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
