/* Functions shared by the accurate FP64 products: operands as lines along K, and the arguments of the product. */
#ifndef SMMA_NUMERICS_LINES_H
#define SMMA_NUMERICS_LINES_H

#include <stdbool.h>

#include "softmma/accurate.h"

/* The rows of A or the columns of B, each of K elements. */
typedef struct {
  const void *values;         /* FP64; need not be aligned */
  size_t count, length;       /* number of lines; elements of a line */
  size_t line_stride, stride; /* distance of adjacent lines, and of adjacent elements of a line, in elements */
} smma_operand_lines;

/* Return the lines of A and of B; the arguments must be checked. If M or N is zero, the lines are empty, because A and
   B may be missing. */
smma_operand_lines smma_operand_lines_of_a(const smma_gemm_arguments *g);
smma_operand_lines smma_operand_lines_of_b(const smma_gemm_arguments *g);

double smma_line_element(const smma_operand_lines *x, size_t line, size_t k);

/* Returns the greatest finite magnitude of a line, and sets `*special` to whether the line holds infinity or NaN. */
double smma_line_largest(const smma_operand_lines *x, size_t line, bool *special);

/* Returns the sum of the products of row i and column j that have an infinite or NaN factor. If there are such
   products, the sum is the result of element (i, j). */
double smma_sum_of_specials(const smma_operand_lines *a, const smma_operand_lines *b, size_t i, size_t j);

/* Stores D(i, j) = d, in FP64. */
void smma_store_result(const smma_gemm_arguments *g, size_t i, size_t j, double d);

/* Checks the product and converts it into `*g`, arguments of smma_gemm with FP64 matrices and all leading dimensions
   filled in. */
smma_status smma_take_product(const smma_f64_product *product, smma_gemm_arguments *g);

#endif
