/* Operands that reach the corner cases of an operation. The same operation, seed and row number give the same operands.
 */
#ifndef SOFTMMA_TESTS_OPERANDS_H
#define SOFTMMA_TESTS_OPERANDS_H

#include "core/row.h"

/* Kinds of operands. Row r is of kind r mod OPERAND_KINDS. */
typedef enum {
  OPERANDS_RANDOM_BITS,
  OPERANDS_BOUNDARY,     /* boundary exponents and fractions, as in TestFloat */
  OPERANDS_NEAR,         /* exponents of products and c near one another: at 1, at underflow or at overflow */
  OPERANDS_CANCELLATION, /* products that cancel in pairs, and a small remainder */
  OPERANDS_SPARSE,       /* zeros of both signs in most places */
  OPERANDS_TINY,         /* subnormal numbers and the smallest normal numbers */
  OPERANDS_HUGE,
  OPERANDS_MIXED, /* each operand of any kind */
  OPERAND_KINDS
} operand_kind;

/* Fills all members of the row but d. */
void operands_generate(const smma_operation *o, uint64_t seed, uint64_t row, smma_row *r);
smma_row operands_row(const smma_operation *o, uint64_t seed, uint64_t row);

#endif
