/* The matrix product of narrow_range.c and multiword.c, as published: A is 10 x n, B is n x 10, entries of random sign
   are log-uniform over decades; the error is ||C^ - C|| / (||A|| ||B||) in the infinity norm, C the exact product. */
#ifndef SMMA_EXPERIMENT_RANDOM_PRODUCT_H
#define SMMA_EXPERIMENT_RANDOM_PRODUCT_H

#include <stdbool.h>

#include "experiment/experiment.h"
#include "numerics/exact.h"

enum { SMMA_RANDOM_PRODUCT_SIDE = 10, SMMA_RANDOM_PRODUCT_SIZE = SMMA_RANDOM_PRODUCT_SIDE * SMMA_RANDOM_PRODUCT_SIDE };

typedef struct {
  size_t n;
  double *a, *b; /* A row by row, B column by column, each dense */
  smma_double_double exact[SMMA_RANDOM_PRODUCT_SIZE];
  double norms; /* ||A|| ||B|| */
} smma_random_product;

/* Makes the product. Entries for one n are the same in every experiment. Returns false if memory runs out. Release
   it with smma_random_product_free in both cases. */
bool smma_random_product_make(smma_random_product *product, uint64_t seed, size_t n, double decades, smma_error *error);

void smma_random_product_free(smma_random_product *product);

/* Returns the error of a computed C, given row by row. */
double smma_random_product_error(const smma_random_product *product, const double *c);

/* Returns the share of C's elements that are nearer to zero than the exact elements. It is 1/2 if errors have no
   preferred direction. */
double smma_random_product_toward_zero(const smma_random_product *product, const double *c);

/* Returns the i-th of `count` values of n, logarithmically even from 10 to `greatest` and rounded down, as in the
   published programs: floor(logspace(1, 6, 20)). */
size_t smma_random_product_length(size_t i, size_t count, size_t greatest);

#endif
