/* Operands that reach the corners of an operation: the same ones for the same operation, seed and row. */
#ifndef SOFTMMA_TESTS_OPERANDS_H
#define SOFTMMA_TESTS_OPERANDS_H

#include "core/row.h"

/* The kinds take turns: row r is of kind r mod OPERAND_KINDS. */
typedef enum {
  OPERANDS_RANDOM_BITS,
  OPERANDS_BOUNDARY,     /* boundary exponents and fractions, as TestFloat takes them */
  OPERANDS_NEAR,         /* products and c near one another in exponent, at 1, at underflow or at overflow */
  OPERANDS_CANCELLATION, /* products that cancel in pairs, and a small rest */
  OPERANDS_SPARSE,       /* zeros of both signs in most places */
  OPERANDS_TINY,         /* subnormals and the least normals */
  OPERANDS_HUGE,
  OPERANDS_MIXED, /* each operand of any kind */
  OPERAND_KINDS
} operand_kind;

/* All but d. */
void operands_generate(const smma_operation *o, uint64_t seed, uint64_t row, smma_row *r);
smma_row operands_row(const smma_operation *o, uint64_t seed, uint64_t row);

#endif
