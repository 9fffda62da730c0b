/* Orders of numbers, for qsort: the least first. */
#ifndef SMMA_HOST_ORDER_H
#define SMMA_HOST_ORDER_H

#include <stddef.h>

static inline int smma_order_f64(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

static inline int smma_order_sizes(const void *x, const void *y) {
  const size_t a = *(const size_t *)x, b = *(const size_t *)y;
  return (a > b) - (a < b);
}

#endif
