/* What accurate products have in common: FP64 operands seen as lines along K, and what is asked of the product. */
#ifndef SMMA_NUMERICS_LINES_H
#define SMMA_NUMERICS_LINES_H

#include <stdbool.h>

#include "softmma/accurate.h"

/* The rows of A or the columns of B, each of K elements. */
typedef struct {
  const void *values; /* FP64, at any address */
  size_t count, length, line_stride, stride;
} smma_operand_lines;

/* Of checked arguments. Without results (M or N is zero) lines are empty, as A and B may be missing. */
smma_operand_lines smma_operand_lines_of_a(const smma_gemm_arguments *g);
smma_operand_lines smma_operand_lines_of_b(const smma_gemm_arguments *g);

double smma_line_element(const smma_operand_lines *x, size_t line, size_t k);

/* The greatest finite magnitude of a line; whether it holds infinity or NaN. */
double smma_line_largest(const smma_operand_lines *x, size_t line, bool *special);

/* The sum of the products of row i and column j in which infinity or NaN takes part: what decides there. */
double smma_sum_of_specials(const smma_operand_lines *a, const smma_operand_lines *b, size_t i, size_t j);

/* D(i, j) = d, in FP64. */
void smma_store_result(const smma_gemm_arguments *g, size_t i, size_t j, double d);

/* The product, checked, as arguments of smma_gemm whose matrices hold FP64; leading dimensions are filled in. */
smma_status smma_take_product(const smma_f64_product *product, smma_gemm_arguments *g);

#endif
