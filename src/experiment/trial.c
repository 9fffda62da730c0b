#include "experiment/trial.h"

#include <stdlib.h>

#include "experiment/random.h"

/* The greatest sum of magnitudes of a row. */
static double norm(const double *x, size_t rows, size_t columns, size_t row_stride, size_t column_stride) {
  double greatest = 0;
  for (size_t i = 0; i < rows; i++) {
    double sum = 0;
    for (size_t j = 0; j < columns; j++) sum += fabs(x[i * row_stride + j * column_stride]);
    if (sum > greatest) greatest = sum;
  }
  return greatest;
}

bool smma_trial_make(smma_trial *p, uint64_t seed, size_t n, double decades, smma_error *error) {
  const size_t count = SMMA_TRIAL_SIDE * n;
  *p = (smma_trial){.n = n, .a = malloc(2 * count * sizeof *p->a)};
  if (!p->a) return smma_fail(error, "out of memory");
  p->b = p->a + count;
  for (size_t i = 0; i < 2 * count; i++) p->a[i] = smma_random_decades(seed, (uint32_t)n, i, decades);
  for (size_t e = 0; e < SMMA_TRIAL_SIZE; e++)
    p->exact[e] = smma_exact_dot(p->a + e / SMMA_TRIAL_SIDE * n, p->b + e % SMMA_TRIAL_SIDE * n, n);
  p->norms = norm(p->a, SMMA_TRIAL_SIDE, n, n, 1) * norm(p->b, n, SMMA_TRIAL_SIDE, 1, n);
  return true;
}

void smma_trial_free(smma_trial *p) { free(p->a); }

double smma_trial_error(const smma_trial *p, const double *c) {
  double differences[SMMA_TRIAL_SIZE];
  for (size_t e = 0; e < SMMA_TRIAL_SIZE; e++) differences[e] = smma_difference_from(c[e], p->exact[e]);
  return norm(differences, SMMA_TRIAL_SIDE, SMMA_TRIAL_SIDE, SMMA_TRIAL_SIDE, 1) / p->norms;
}

double smma_trial_toward_zero(const smma_trial *p, const double *c) {
  size_t count = 0;
  for (size_t e = 0; e < SMMA_TRIAL_SIZE; e++)
    count += copysign(1, p->exact[e].high) * smma_difference_from(c[e], p->exact[e]) < 0;
  return (double)count / SMMA_TRIAL_SIZE;
}

size_t smma_trial_length(size_t i, size_t count, size_t greatest) {
  const double exponent = count > 1 ? (double)i / (double)(count - 1) : 1;
  const double above = 1 + 1e-12; /* pow may be an ulp below a whole number */
  return (size_t)(10 * pow((double)greatest / 10, exponent) * above);
}
