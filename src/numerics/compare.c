#include "numerics/compare.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "host/bits.h"
#include "host/load.h"
#include "host/thread.h"
#include "softmma/softmma.h"

/* Returns the distance of a finite encoding from zero, in encodings. */
static uint64_t units_of(smma_encoding f, uint64_t x) {
  if (f.specials == SMMA_SPECIALS_INTEGER) return smma_decode(f, x).significand;
  return smma_low_bits(x >> f.ignored_bits, f.exponent_bits + f.fraction_bits);
}

/* Returns the distance of two finite encodings, in encodings. The distance of -0 and +0 is 1. */
static uint64_t units_between(smma_encoding f, uint64_t x, uint64_t y) {
  uint64_t a = units_of(f, x), b = units_of(f, y);
  if (smma_decode(f, x).negative != smma_decode(f, y).negative) return a + b ? a + b : 1;
  return a > b ? a - b : b - a;
}

smma_comparison smma_compare_results(smma_format format, const void *x, const void *y, size_t count) {
  smma_encoding f = smma_encoding_of(format);
  size_t bytes = smma_container_bytes(f);
  smma_comparison r = {0, 0, 0, 0, 0};
  for (size_t i = 0; i < count; i++) {
    uint64_t a = smma_load(bytes, x, i), b = smma_load(bytes, y, i), ulps;
    smma_number u = smma_decode(f, a), v = smma_decode(f, b);
    if (u.kind == SMMA_FINITE) r.largest = fmax(r.largest, fabs(smma_format_decode(format, a)));
    if (a == b || (u.kind == SMMA_NAN && v.kind == SMMA_NAN)) continue;
    r.different++;
    if (u.kind > SMMA_FINITE || v.kind > SMMA_FINITE) {
      r.special++;
      continue;
    }
    ulps = units_between(f, a, b);
    if (ulps > r.largest_ulps) r.largest_ulps = ulps;
    r.largest_difference =
        fmax(r.largest_difference, fabs(smma_format_decode(format, a) - smma_format_decode(format, b)));
  }
  return r;
}

double smma_relative_difference(smma_comparison c) {
  return c.largest_difference == 0 ? 0 : c.largest_difference / c.largest;
}

size_t smma_count_beyond(smma_format format, const void *x, const void *y, size_t count, double relative,
                         double absolute) {
  const size_t bytes = smma_container_bytes(smma_encoding_of(format));
  size_t beyond = 0;
  for (size_t i = 0; i < count; i++) {
    const double a = smma_format_decode(format, smma_load(bytes, x, i));
    const double b = smma_format_decode(format, smma_load(bytes, y, i));
    const bool same = a == b || (isnan(a) && isnan(b));
    beyond += !same && !(isfinite(a) && isfinite(b) && fabs(b - a) <= absolute + relative * fabs(a));
  }
  return beyond;
}

/* Sets `*exact` to the exact element and `*error` to d minus the exact element, each rounded once to double. Returns
   false if an operand or d is not finite. Changes the sum. */
static bool round_element(smma_exact_element *x, smma_number d, double *exact, double *error) {
  const smma_encoding f64 = smma_encoding_of(SMMA_F64);
  if (!x->finite || d.kind > SMMA_FINITE) return false;
  *exact = smma_f64_of_bits(smma_wide_round(&x->sum, f64));
  if (d.kind == SMMA_FINITE) smma_wide_add(&x->sum, !d.negative, d.significand, d.exponent - d.fraction_bits);
  *error = smma_f64_of_bits(smma_wide_round(&x->sum, f64));
  return true;
}

/* The contribution of one row of d to the errors. */
typedef struct {
  double largest_error, largest; /* greatest |d - exact| and greatest |exact| */
  double error_squares, squares; /* sums of the squares of d - exact and of exact */
  size_t count;                  /* number of finite elements */
} row_sums;

/* Matrices with more elements than this are read by several threads. */
enum { PARALLEL = 1 << 16 };

/* Returns the greatest exponent of a finite element that is not zero; 0 without one. */
static int greatest_exponent(const smma_encoded_matrix *m, int threads) {
  int most = INT_MIN;
#pragma omp parallel for num_threads(threads) if (m->rows * m->columns > PARALLEL) reduction(max : most)
  for (size_t row = 0; row < m->rows; row++)
    for (size_t column = 0; column < m->columns; column++) {
      const smma_number x = smma_matrix_number(m, row, column);
      const int exponent = x.exponent - x.fraction_bits + smma_bit_length(x.significand) - 1;
      if (x.kind == SMMA_FINITE && exponent > most) most = exponent;
    }
  return most == INT_MIN ? 0 : most;
}

/* Adds elements of a row. Squares are of numbers times 2^scale, so that they stay within range. */
static void add_to_row(row_sums *r, smma_exact_element *sum, const smma_encoded_matrix *d, int scale, size_t row,
                       size_t column, size_t columns) {
  for (size_t j = 0; j < columns; j++) {
    double exact, error;
    if (!round_element(&sum[j], smma_matrix_number(d, row, column + j), &exact, &error)) continue;
    r->count++;
    r->largest_error = fmax(r->largest_error, fabs(error));
    r->largest = fmax(r->largest, fabs(exact));
    error = ldexp(error, scale), exact = ldexp(exact, scale);
    r->error_squares += error * error;
    r->squares += exact * exact;
  }
}

/* Returns the errors of the whole product. Adds the rows in order, so that sums do not depend on the number of
   threads. */
static smma_product_error combine(const row_sums *row, const smma_encoded_matrix *d) {
  row_sums all = {0, 0, 0, 0, 0};
  for (size_t i = 0; i < d->rows; i++) {
    all.count += row[i].count;
    all.largest_error = fmax(all.largest_error, row[i].largest_error);
    all.largest = fmax(all.largest, row[i].largest);
    all.error_squares += row[i].error_squares;
    all.squares += row[i].squares;
  }
  if (all.count == 0) return (smma_product_error){NAN, NAN, d->rows * d->columns};
  return (smma_product_error){all.largest_error == 0 ? 0 : all.largest_error / all.largest,
                              all.error_squares == 0 ? 0 : sqrt(all.error_squares / all.squares),
                              d->rows * d->columns - all.count};
}

/* A comparison of d with an exact product. */
typedef struct {
  const smma_encoded_matrix *d;
  row_sums *row;
  int scale;
} against_exact;

static void add_tile(smma_exact_element *element, size_t row, size_t rows, size_t column, size_t columns,
                     void *context) {
  const against_exact *x = context;
  for (size_t i = 0; i < rows; i++)
    add_to_row(&x->row[row + i], element + i * columns, x->d, x->scale, row + i, column, columns);
}

bool smma_error_against_exact(const smma_encoded_matrix *a, const smma_encoded_matrix *b, const smma_encoded_matrix *d,
                              smma_watcher *watch, void *context, smma_product_error *error) {
  const int threads = smma_default_threads();
  row_sums *row = calloc(d->rows + 1, sizeof *row);
  against_exact x = {d, row, -greatest_exponent(a, threads) - greatest_exponent(b, threads)};
  const bool memory = row && smma_exact_tiles(a, b, true, threads, add_tile, &x, watch, context);
  if (memory) *error = combine(row, d);
  free(row);
  return memory;
}
