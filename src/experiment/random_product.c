#include "experiment/random_product.h"

#include <stdlib.h>

#include "experiment/random.h"

/* Returns the greatest sum of magnitudes of a row. */
static double norm(const double *x, size_t rows, size_t columns, size_t row_stride, size_t column_stride) {
  double greatest = 0;
  for (size_t i = 0; i < rows; i++) {
    double sum = 0;
    for (size_t j = 0; j < columns; j++) sum += fabs(x[i * row_stride + j * column_stride]);
    if (sum > greatest) greatest = sum;
  }
  return greatest;
}

bool smma_random_product_make(smma_random_product *p, uint64_t seed, size_t n, double decades, smma_error *error) {
  const size_t count = SMMA_RANDOM_PRODUCT_SIDE * n;
  *p = (smma_random_product){.n = n, .a = malloc(2 * count * sizeof *p->a)};
  if (!p->a) return smma_no_memory(error);
  p->b = p->a + count;
  for (size_t i = 0; i < 2 * count; i++) p->a[i] = smma_random_decades(seed, (uint32_t)n, i, decades);
  for (size_t e = 0; e < SMMA_RANDOM_PRODUCT_SIZE; e++)
    p->exact[e] = smma_exact_dot(p->a + e / SMMA_RANDOM_PRODUCT_SIDE * n, p->b + e % SMMA_RANDOM_PRODUCT_SIDE * n, n);
  p->norms = norm(p->a, SMMA_RANDOM_PRODUCT_SIDE, n, n, 1) * norm(p->b, n, SMMA_RANDOM_PRODUCT_SIDE, 1, n);
  return true;
}

void smma_random_product_free(smma_random_product *p) { free(p->a); }

double smma_random_product_error(const smma_random_product *p, const double *c) {
  double differences[SMMA_RANDOM_PRODUCT_SIZE];
  for (size_t e = 0; e < SMMA_RANDOM_PRODUCT_SIZE; e++) differences[e] = smma_difference_from(c[e], p->exact[e]);
  return norm(differences, SMMA_RANDOM_PRODUCT_SIDE, SMMA_RANDOM_PRODUCT_SIDE, SMMA_RANDOM_PRODUCT_SIDE, 1) / p->norms;
}

double smma_random_product_toward_zero(const smma_random_product *p, const double *c) {
  size_t count = 0;
  for (size_t e = 0; e < SMMA_RANDOM_PRODUCT_SIZE; e++)
    count += copysign(1, p->exact[e].high) * smma_difference_from(c[e], p->exact[e]) < 0;
  return (double)count / SMMA_RANDOM_PRODUCT_SIZE;
}

size_t smma_random_product_length(size_t i, size_t count, size_t greatest) {
  const double exponent = count > 1 ? (double)i / (double)(count - 1) : 1;
  const double above = 1 + 1e-12; /* pow may be an ulp below a whole number */
  return (size_t)(10 * pow((double)greatest / 10, exponent) * above);
}
