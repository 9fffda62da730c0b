#include "numerics/lines.h"

#include <math.h>
#include <string.h>

#include "gemm/gemm.h"
#include "host/bits.h"
#include "host/error.h"
#include "host/load.h"
#include "host/sized.h"

static smma_operand_lines lines_of(const void *values, size_t count, bool contiguous, size_t leading,
                                   const smma_gemm_arguments *g) {
  smma_operand_lines x = {values, count, g->m && g->n ? g->k : 0, contiguous ? leading : 1, contiguous ? 1 : leading};
  return x;
}

smma_operand_lines smma_operand_lines_of_a(const smma_gemm_arguments *g) {
  return lines_of(g->a, g->m, g->order_a == SMMA_ROW_MAJOR, g->lda, g);
}

smma_operand_lines smma_operand_lines_of_b(const smma_gemm_arguments *g) {
  return lines_of(g->b, g->n, g->order_b == SMMA_COLUMN_MAJOR, g->ldb, g);
}

double smma_line_element(const smma_operand_lines *x, size_t line, size_t k) {
  return smma_f64_of_bits(smma_load(sizeof(double), x->values, line * x->line_stride + k * x->stride));
}

double smma_line_largest(const smma_operand_lines *x, size_t line, bool *special) {
  double largest = 0;
  *special = false;
  for (size_t k = 0; k < x->length; k++) {
    double magnitude = fabs(smma_line_element(x, line, k));
    if (!isfinite(magnitude)) *special = true;
    if (isfinite(magnitude) && magnitude > largest) largest = magnitude;
  }
  return largest;
}

double smma_sum_of_specials(const smma_operand_lines *a, const smma_operand_lines *b, size_t i, size_t j) {
  double sum = 0;
  for (size_t k = 0; k < a->length; k++) {
    double x = smma_line_element(a, i, k), y = smma_line_element(b, j, k);
    if (!isfinite(x) || !isfinite(y)) sum += x * y;
  }
  return sum;
}

void smma_store_result(const smma_gemm_arguments *g, size_t i, size_t j, double d) {
  size_t at = g->order_d == SMMA_ROW_MAJOR ? i * g->ldd + j : i + j * g->ldd;
  memcpy((unsigned char *)g->d + at * sizeof d, &d, sizeof d);
}

smma_status smma_take_product(const smma_f64_product *given, smma_gemm_arguments *g) {
  smma_f64_product own = {.m = 0}, *product = &own;
  smma_status status = smma_take_struct(given, &own, sizeof own);
  smma_gemm_defaults(g, sizeof *g);
  g->m = product->m, g->n = product->n, g->k = product->k;
  g->a = product->a, g->b = product->b, g->d = product->d;
  g->lda = product->lda, g->ldb = product->ldb, g->ldd = product->ldd;
  g->order_a = product->order_a, g->order_b = product->order_b, g->order_d = product->order_d;
  g->split_k = product->split_k, g->promote_every = product->promote_every;
  g->threads = product->threads, g->kernel = product->kernel;
  g->error = product->error;
  smma_clear_error(g->error);
  g->progress = product->progress, g->progress_context = product->progress_context;
  if (status == SMMA_OK) status = smma_check_matrices(g);
  if (status == SMMA_OK && g->m && g->n && g->k && (g->d == g->a || g->d == g->b)) status = SMMA_INVALID_ARGUMENT;
  return status;
}

void smma_f64_product_defaults(smma_f64_product *product, size_t size) {
  const smma_f64_product defaults = {.m = 0};
  smma_give_defaults(product, size, &defaults, sizeof defaults);
}
