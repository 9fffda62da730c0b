/* Places chosen values as the summands of a row: products 0 to K - 1, and c as number K. */
#ifndef SMMA_ROWS_PLACE_H
#define SMMA_ROWS_PLACE_H

#include "rows/row.h"

/* An exact value, significand * 2^exponent, with an odd significand or zero. SMMA_NOT_FINITE marks an infinity or NaN;
   the significand is then its sign, 1 or -1. */
typedef struct {
  enum { SMMA_IS_DYADIC, SMMA_NOT_FINITE } kind;
  int64_t significand;
  int exponent;
} smma_dyadic;

smma_dyadic smma_dyadic_of(int64_t significand, int exponent);
bool smma_is_exactly(smma_dyadic x, int64_t significand, int exponent);

/* Expresses x in units of 2^exponent; returns false if x is not a multiple of the unit or the count does not fit. */
bool smma_in_units(smma_dyadic x, int exponent, int64_t *units);

/* Returns d of a row as an exact value. */
smma_dyadic smma_result_of(const smma_instruction *instruction, const smma_row *row);

/* Returns a row of zeros with scale factors of one. */
smma_row smma_zero_row(const smma_instruction *instruction);

/* Sets summand `index` to significand * 2^exponent. If it is a product, b becomes a power of two. Returns false if
   normal operands cannot represent it. */
bool smma_place_in(const smma_instruction *instruction, smma_row *row, int index, int64_t significand, int exponent);

/* Sets product k to significand_a * significand_b * 2^exponent, with factors of these significands. Returns false if
   normal operands cannot represent it. */
bool smma_place_product_in(const smma_instruction *instruction, smma_row *row, int k, int64_t significand_a,
                           int64_t significand_b, int exponent);

/* Sets c to significand * 2^exponent, which may be subnormal. Returns false if c's format does not have this value. */
bool smma_place_subnormal_c_in(const smma_instruction *instruction, smma_row *row, int64_t significand, int exponent);

/* The exponents of the powers of two that a summand, or a format, can hold as normal numbers. */
typedef struct {
  int least, greatest;
} smma_range;

smma_range smma_range_of_format(smma_format format);
smma_range smma_summand_range(const smma_instruction *instruction, int index);

#endif
