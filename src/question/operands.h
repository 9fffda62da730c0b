/* Building blocks for the rows of questions. */
#ifndef SMMA_QUESTION_OPERANDS_H
#define SMMA_QUESTION_OPERANDS_H

#include "rows/row.h"

static inline uint64_t power_of_two(smma_format format, bool negative, int exponent) {
  return smma_encode(smma_encoding_of(format), negative, 1, exponent, false, SMMA_ROUND_NEAREST_EVEN,
                     SMMA_OVERFLOW_INFINITY);
}

static inline uint64_t zero_of(smma_format format, bool negative) {
  return smma_sign_and_fields(smma_encoding_of(format), negative, 0);
}

/* Sets all products to (+0)(+0), c to +0 and the scale factors to one. */
static inline void clear_row(const smma_operation *o, smma_row *row) {
  for (int k = 0; k < o->k; k++) row->a[k] = row->b[k] = 0;
  for (int s = 0; s < smma_scale_count(o->k, o->scale_block); s++)
    row->scale_a[s] = row->scale_b[s] = power_of_two(o->scale, false, 0);
  row->c = 0;
}

static inline void set_product(smma_row *row, int k, uint64_t a, uint64_t b) {
  row->a[k] = a;
  row->b[k] = b;
}

/* Returns the least exponent of the format, subnormals included. */
static inline int least_exponent(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  return smma_minimum_exponent(f) - (f.specials == SMMA_SPECIALS_POWERS_OF_TWO ? 0 : f.fraction_bits);
}

/* Reports whether 2^exponent is a product of the operation's inputs. */
static inline bool reaches(const smma_operation *o, int exponent) {
  return least_exponent(o->a) + least_exponent(o->b) <= exponent;
}

/* Sets product k to +-2^exponent, with half of the exponent in a. */
static inline void set_power(const smma_operation *o, smma_row *row, int k, bool negative, int exponent) {
  const int half = exponent / 2;
  set_product(row, k, power_of_two(o->a, negative, half), power_of_two(o->b, false, exponent - half));
}

/* Returns the k of product i of the first block; the next function returns the k of a product that is added last.
   (Later blocks of a chain would hide a sign.) */
static inline int first_product(const smma_operation *o, int i) { return smma_product_index(o, 0, i); }

static inline int last_product(const smma_operation *o) {
  return o->rule.algorithm == SMMA_FTZ_FMA ? 0 : smma_product_index(o, o->k / smma_block_of(o) - 1, 0);
}

/* A candidate: alignment retains `bits` fraction bits. */
static inline uint64_t with_alignment_bits(const smma_operation *model, smma_operands x, uint64_t c, int bits) {
  smma_operation o = *model;
  o.rule.with.t_fdpa.alignment_bits = bits;
  return smma_dot_add(&o, x, c);
}

static inline bool is_f16_output(const smma_instruction *i) { return i->d == SMMA_F16; }

static inline bool is_any(const smma_instruction *i) {
  (void)i;
  return true;
}

#endif
