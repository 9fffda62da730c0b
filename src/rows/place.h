/* Numbers of chosen value as the summands of a row: products 0 to K - 1, and c, which is number K. */
#ifndef SMMA_ROWS_PLACE_H
#define SMMA_ROWS_PLACE_H

#include "rows/row.h"

/* An exact value, significand * 2^exponent, the significand odd or zero; or what is none. */
typedef struct {
  enum { SMMA_IS_DYADIC, SMMA_NOT_FINITE } kind;
  int64_t significand;
  int exponent;
} smma_dyadic;

smma_dyadic smma_dyadic_of(int64_t significand, int exponent);
bool smma_is_exactly(smma_dyadic x, int64_t significand, int exponent);

/* x in units of 2^exponent; false if it is no multiple or too many. */
bool smma_in_units(smma_dyadic x, int exponent, int64_t *units);

/* d of a row. */
smma_dyadic smma_result_of(const smma_instruction *instruction, const smma_row *row);

/* Zeros, and scale factors of one. */
smma_row smma_zero_row(const smma_instruction *instruction);

/* Summand `index` becomes significand * 2^exponent; of a product, b gets a power of two. False if no normal operands
   have it. */
bool smma_place_in(const smma_instruction *instruction, smma_row *row, int index, int64_t significand, int exponent);

/* Product k becomes significand_a * significand_b * 2^exponent, of factors with these significands. False if no normal
   operands have it. */
bool smma_place_product_in(const smma_instruction *instruction, smma_row *row, int k, int64_t significand_a,
                           int64_t significand_b, int exponent);

/* c as well where it is subnormal. */
bool smma_place_subnormal_c_in(const smma_instruction *instruction, smma_row *row, int64_t significand, int exponent);

/* The exponents of powers of two that a summand, or a format, can be as normal numbers. */
typedef struct {
  int least, greatest;
} smma_range;

smma_range smma_range_of_format(smma_format format);
smma_range smma_summand_range(const smma_instruction *instruction, int index);

#endif
