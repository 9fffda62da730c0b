/* Measures the distance of results from each other, by value and in units in the last place, and from the exact
   product. */
#ifndef SMMA_NUMERICS_COMPARE_H
#define SMMA_NUMERICS_COMPARE_H

#include <stddef.h>

#include "host/watch.h"
#include "numerics/exact_tile.h"

typedef struct {
  size_t different; /* results that are not bit for bit equal; two NaNs count as equal */
  size_t special;   /* how many of the different results are a NaN and a number, or an infinity and another number */
  uint64_t largest_ulps;     /* greatest distance of finite results in encodings; -0 and +0 are neighbours */
  double largest_difference; /* greatest |x - y| of finite results */
  double largest;            /* the largest finite |x| of all results */
} smma_comparison;

/* Returns the largest difference divided by the largest result. Near zero this is a better measure than units in the
   last place. Returns 0 if no finite results differ, and infinity if x is all zero and y is not. */
double smma_relative_difference(smma_comparison comparison);

/* Returns how the arrays x and y differ, which have `count` encodings of one format each. */
smma_comparison smma_compare_results(smma_format format, const void *x, const void *y, size_t count);

/* Returns how many of `count` results y differ from x by more than absolute + relative * |x|, as numpy.isclose decides
   in binary64: a NaN is close to a NaN only, and an infinity to itself only. */
size_t smma_count_beyond(smma_format format, const void *x, const void *y, size_t count, double relative,
                         double absolute);

/* The errors of a computed product against the exact one. Elements with a d or operand that is not finite are
   omitted and counted; if all are omitted, the errors are NaN. */
typedef struct {
  double largest;          /* the largest |d - exact|, divided by the largest |exact| */
  double root_mean_square; /* the Frobenius norm of d - exact, divided by the Frobenius norm of exact */
  size_t left_out;         /* number of omitted elements */
} smma_product_error;

/* Sets `*error` to the errors of d against the exact a * b. `a` and `b` are the matrices that d was computed from, or
   these before they were rounded. The calling thread calls `watch`, unless it is NULL, with the number of rows done. If
   `watch` returns true, this ends early, and `*error` means nothing. Returns false only if memory runs out. */
bool smma_error_against_exact(const smma_encoded_matrix *a, const smma_encoded_matrix *b, const smma_encoded_matrix *d,
                              smma_watcher *watch, void *context, smma_product_error *error);

#endif
