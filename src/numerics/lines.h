/* Common parts of the accurate FP64 products: operands as lines along K, and the requested product. */
#ifndef SMMA_NUMERICS_LINES_H
#define SMMA_NUMERICS_LINES_H

#include <stdbool.h>

#include "softmma/accurate.h"

/* The rows of A or the columns of B, each of K elements. */
typedef struct {
  const void *values; /* FP64, at any address */
  size_t count, length, line_stride, stride;
} smma_operand_lines;

/* Returns the lines of A from checked arguments. If M or N is zero, the lines are empty, because A and B may be
   missing. */
smma_operand_lines smma_operand_lines_of_a(const smma_gemm_arguments *g);
smma_operand_lines smma_operand_lines_of_b(const smma_gemm_arguments *g);

double smma_line_element(const smma_operand_lines *x, size_t line, size_t k);

/* Returns the greatest finite magnitude of a line; `*special`: whether the line holds infinity or NaN. */
double smma_line_largest(const smma_operand_lines *x, size_t line, bool *special);

/* Returns the sum of the products of row i and column j that involve infinity or NaN; this sum is the result of the
   element. */
double smma_sum_of_specials(const smma_operand_lines *a, const smma_operand_lines *b, size_t i, size_t j);

/* Stores D(i, j) = d, in FP64. */
void smma_store_result(const smma_gemm_arguments *g, size_t i, size_t j, double d);

/* Checks the product and converts it into arguments of smma_gemm, with FP64 matrices and all leading dimensions
   filled in. */
smma_status smma_take_product(const smma_f64_product *product, smma_gemm_arguments *g);

#endif
