/* Reference results: dot products in twice the precision of FP64. */
#ifndef SMMA_NUMERICS_EXACT_H
#define SMMA_NUMERICS_EXACT_H

#include <math.h>
#include <stddef.h>

/* The number high + low. Once normalised, low is at most half an ulp of high. */
typedef struct {
  double high, low;
} smma_double_double;

/* Returns sum + a b. The product by an FMA and the sum by Knuth's TwoSum are error-free; their remainders are added in
   FP64. After n additions the error of high + low is at most about (n 2^-53)^2 times the sum of |a b| (Ogita, Rump and
   Oishi, SIAM J. Sci. Comput. 26 (2005), algorithm Dot2): 10^-20 for a million. Valid if nothing overflows or
   underflows. */
static inline smma_double_double smma_add_product(smma_double_double sum, double a, double b) {
  double product = a * b, rest = fma(a, b, -product), high = sum.high + product, part = high - sum.high;
  double error = (sum.high - (high - part)) + (product - part);
  return (smma_double_double){high, sum.low + (error + rest)};
}

/* Returns x - exact, with an error of about one rounding. */
static inline double smma_difference_from(double x, smma_double_double exact) {
  return (x - exact.high) - exact.low; /* x - high is exact if the two are close; otherwise its error does not matter */
}

/* Returns the sum over k < n of a[k] b[k]. */
static inline smma_double_double smma_exact_dot(const double *a, const double *b, size_t n) {
  smma_double_double sum = {0, 0};
  for (size_t k = 0; k < n; k++) sum = smma_add_product(sum, a[k], b[k]);
  return sum;
}

#endif
