/* Operands that reach the corners of an operation: the same ones for the same operation, seed and row. */
#ifndef SOFTMMA_TESTS_OPERANDS_H
#define SOFTMMA_TESTS_OPERANDS_H

#include "core/rule.h"

typedef struct {
  uint64_t a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K], c, scale_a[SMMA_MAXIMUM_K], scale_b[SMMA_MAXIMUM_K];
} operand_row;

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

void operands_generate(const smma_operation *o, uint64_t seed, uint64_t row, operand_row *r);

#endif
