/* Exact elements of products: every tile against the same products subtracted one at a time, which must leave zero, and
   the errors of a product against elements rounded one at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/bits.h"
#include "host/load.h"
#include "host/thread.h"
#include "numerics/compare.h"
#include "support.h"

enum { ROWS = 150, COLUMNS = 140, LONGEST = 1100 };

typedef struct {
  uint64_t data[ROWS * LONGEST];
  smma_encoded_matrix as;
} matrix;

static matrix a, b, d;

/* Kinds of data, by the range of exponents: with 58 bits in a part, they need 1 to 5 parts, or are not split. */
enum { NARROW, SPREAD_60, SPREAD_120, SPREAD_180, SPREAD_300, ONE_FAR, ANY_ENCODING, ZEROS, KINDS };

static uint64_t random_number(uint64_t *state, smma_format format, int kind, size_t at) {
  static const unsigned spread[KINDS] = {1, 60, 120, 180, 300, 4, 1, 1};
  const smma_encoding f = smma_encoding_of(format);
  if (kind == ANY_ENCODING) return smma_low_bits(random_bits(state) >> 3, f.bits);
  if (kind == ZEROS) return 0;
  /* 53 bits: all ones in every fourth number, so that parts reach their greatest values */
  const uint64_t significand = random_below(state, 4) ? random_bits(state) >> 11 : ((uint64_t)1 << 53) - 1;
  int exponent = (int)random_below(state, spread[kind]) - (int)spread[kind] / 2;
  if (kind == ONE_FAR && at == 7) exponent -= 900;
  const double value = ldexp((double)significand, exponent - 53) * (random_below(state, 2) ? 1 : -1);
  return smma_format_encode(format, value, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
}

static void fill(uint64_t *state, matrix *m, smma_format format, size_t rows, size_t columns, int kind) {
  const size_t bytes = smma_container_bytes(smma_encoding_of(format));
  assert_true(rows * columns <= ROWS * LONGEST);
  m->as = (smma_encoded_matrix){format, rows, columns, m->data};
  for (size_t i = 0; i < rows * columns; i++) smma_store(bytes, m->data, i, random_number(state, format, kind, i));
}

/* Returns whether all operands of element (i, j) are finite, and subtracts its products from the sum, one at a time. */
static bool subtract_products(size_t i, size_t j, smma_wide *sum) {
  bool finite = true;
  for (size_t k = 0; k < a.as.columns; k++) {
    smma_number x = smma_matrix_number(&a.as, i, k);
    const smma_number y = smma_matrix_number(&b.as, k, j);
    if (x.kind > SMMA_FINITE || y.kind > SMMA_FINITE) finite = false;
    x.negative = !x.negative;
    if (finite) smma_wide_add_product(sum, x, y);
  }
  return finite;
}

static void check_tile(smma_exact_tile *tile, size_t row, size_t rows, size_t column, size_t columns) {
  smma_exact_element *element = smma_exact_tile_compute(tile, &a.as, &b.as, row, rows, column, columns);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++) {
      smma_exact_element *x = &element[i * columns + j];
      const bool finite = subtract_products(row + i, column + j, &x->sum);
      assert_int_equal(x->finite, finite);
      if (finite) assert_true(smma_wide_round(&x->sum, smma_encoding_of(SMMA_F64)) == 0);
    }
}

static const smma_format formats[] = {SMMA_F16,  SMMA_BF16, SMMA_F32, SMMA_F64,  SMMA_E4M3,
                                      SMMA_E5M2, SMMA_E2M1, SMMA_S8,  SMMA_TF32, SMMA_E4M3FNUZ};
enum { FORMATS = sizeof formats / sizeof *formats };

/* K on both sides of a block of 512 products. */
static void test_tiles(void **unused) {
  static const size_t lengths[] = {1, 2, 64, 511, 512, 513, 1030};
  smma_exact_tile *tile = smma_exact_tile_create();
  uint64_t state = 1;
  (void)unused;
  assert_non_null(tile);
  for (int format = 0; format < FORMATS; format++)
    for (int kind = 0; kind < KINDS; kind++)
      for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
        const size_t rows = 1 + random_below(&state, 4), columns = 1 + random_below(&state, 4);
        const int other = (int)random_below(&state, KINDS);
        fill(&state, &a, formats[format], rows + 1, lengths[n], kind);
        fill(&state, &b, formats[random_below(&state, 2) ? format : (int)random_below(&state, FORMATS)], lengths[n],
             columns + 2, other);
        check_tile(tile, 1, rows, 2, columns);
      }
  fill(&state, &a, SMMA_F64, 70, 5, SPREAD_60);
  fill(&state, &b, SMMA_F64, 5, 66, SPREAD_60);
  check_tile(tile, 6, SMMA_EXACT_TILE, 2, SMMA_EXACT_TILE);
  smma_exact_tile_free(tile);
}

/* The greatest sum of a block: 512 products of two parts of 53 ones, shifted to the left as far as a part holds. */
static void test_greatest_sums(void **unused) {
  const uint64_t ones = smma_bits_of_f64(ldexp(1, 53) - 1), negative = smma_bits_of_f64(1 - ldexp(1, 53));
  const uint64_t least = smma_bits_of_f64(ldexp(1, -5));
  smma_exact_tile *tile = smma_exact_tile_create();
  (void)unused;
  assert_non_null(tile);
  for (int sign = 0; sign < 2; sign++) {
    a.as = (smma_encoded_matrix){SMMA_F64, 1, 512, a.data};
    b.as = (smma_encoded_matrix){SMMA_F64, 512, 1, b.data};
    for (size_t k = 0; k < 512; k++) {
      smma_store(8, a.data, k, k ? ones : least);
      smma_store(8, b.data, k, k == 511 ? least : sign ? negative : ones);
    }
    check_tile(tile, 0, 1, 0, 1);
  }
  smma_exact_tile_free(tile);
}

/* Returns the errors of d, from one element after the other. */
static smma_product_error errors_one_by_one(int scale) {
  double largest_error = 0, largest = 0, error_squares = 0, squares = 0;
  size_t count = 0;
  for (size_t i = 0; i < d.as.rows; i++) {
    double row_errors = 0, row_squares = 0;
    for (size_t j = 0; j < d.as.columns; j++) {
      const smma_number result = smma_matrix_number(&d.as, i, j);
      smma_wide sum;
      smma_wide_clear(&sum);
      if (!subtract_products(i, j, &sum) || result.kind > SMMA_FINITE) continue;
      const double exact = -smma_f64_of_bits(smma_wide_round(&sum, smma_encoding_of(SMMA_F64)));
      if (result.kind == SMMA_FINITE)
        smma_wide_add(&sum, result.negative, result.significand, result.exponent - result.fraction_bits);
      const double error = smma_f64_of_bits(smma_wide_round(&sum, smma_encoding_of(SMMA_F64)));
      count++;
      largest_error = fmax(largest_error, fabs(error)), largest = fmax(largest, fabs(exact));
      row_errors += ldexp(error, scale) * ldexp(error, scale), row_squares += ldexp(exact, scale) * ldexp(exact, scale);
    }
    error_squares += row_errors, squares += row_squares;
  }
  const size_t left_out = d.as.rows * d.as.columns - count;
  if (!count) return (smma_product_error){NAN, NAN, left_out};
  return (smma_product_error){largest_error == 0 ? 0 : largest_error / largest,
                              error_squares == 0 ? 0 : sqrt(error_squares / squares), left_out};
}

/* Returns the greatest exponent of a number of the matrix, or 0 without one. */
static int greatest_exponent(const matrix *m) {
  double most = 0;
  for (size_t i = 0; i < m->as.rows; i++)
    for (size_t j = 0; j < m->as.columns; j++) {
      const smma_number x = smma_matrix_number(&m->as, i, j);
      if (x.kind == SMMA_FINITE) most = fmax(most, ldexp((double)x.significand, x.exponent - x.fraction_bits));
    }
  return most > 0 ? ilogb(most) : 0;
}

/* Several tiles in both directions, some of them not whole, by one thread and by two. */
static void test_errors(void **unused) {
  static const size_t shapes[][3] = {{1, 1, 1}, {3, 140, 9}, {130, 2, 20}, {150, 65, 7}, {64, 128, 3}, {2, 2, 1030}};
  uint64_t state = 2;
  (void)unused;
  for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++)
    for (int kind = NARROW; kind < KINDS; kind++) {
      fill(&state, &a, SMMA_F16, shapes[n][0], shapes[n][2], kind == ANY_ENCODING ? kind : NARROW);
      fill(&state, &b, SMMA_F16, shapes[n][2], shapes[n][1], kind == ZEROS ? ZEROS : NARROW);
      fill(&state, &d, SMMA_F32, shapes[n][0], shapes[n][1], kind == SPREAD_60 ? ZEROS : NARROW);
      const smma_product_error wanted = errors_one_by_one(-greatest_exponent(&a) - greatest_exponent(&b));
      for (int threads = 1; threads <= 2; threads++) {
        smma_product_error error;
        smma_set_threads(threads);
        assert_true(smma_error_against_exact(&a.as, &b.as, &d.as, NULL, NULL, &error));
        assert_memory_equal(&error, &wanted, sizeof error);
      }
    }
}

/* How often each element was received, and whether all were right. */
typedef struct {
  unsigned char times[ROWS * COLUMNS];
  bool right;
} received;

static void receive(smma_exact_element *element, size_t row, size_t rows, size_t column, size_t columns,
                    void *context) {
  received *to = context;
  bool right = true;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++) {
      smma_exact_element *x = &element[i * columns + j];
      right = right && x->finite && subtract_products(row + i, column + j, &x->sum) &&
              smma_wide_round(&x->sum, smma_encoding_of(SMMA_F64)) == 0;
      to->times[(row + i) * b.as.columns + column + j]++;
    }
  if (right) return;
#pragma omp atomic write
  to->right = false;
}

typedef struct {
  bool other_thread;
  size_t last;
} progress;

static bool watch(size_t done, size_t all, void *context) {
  progress *p = context;
  p->other_thread = p->other_thread || smma_this_thread() != 0 || done > all;
  p->last = done;
  return false;
}

/* Each element is received once, whatever the number of threads is. With one thread, the watcher's last call reports
   all rows. */
static void test_receiving(void **unused) {
  static const size_t shapes[][3] = {{0, 3, 2},    {3, 0, 2},   {2, 3, 0},    {1, 1, 1030},  {1, 140, 9},  {150, 1, 9},
                                     {2, 130, 40}, {64, 64, 5}, {65, 129, 3}, {150, 140, 2}, {128, 7, 600}};
  static received got;
  uint64_t state = 4;
  (void)unused;
  for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++)
    for (int threads = 1, whole_rows = 0; threads <= 3; threads += whole_rows, whole_rows = !whole_rows) {
      const size_t m = shapes[n][0], columns = shapes[n][1], k = shapes[n][2];
      progress p = {false, 0};
      fill(&state, &a, SMMA_F32, m, k, NARROW), fill(&state, &b, SMMA_F32, k, columns, ONE_FAR);
      memset(&got, 0, sizeof got), got.right = true;
      assert_true(smma_exact_tiles(&a.as, &b.as, whole_rows, threads, receive, &got, watch, &p));
      assert_true(got.right && !p.other_thread);
      for (size_t i = 0; i < m * columns; i++) assert_int_equal(got.times[i], 1);
      if (threads == 1 && k) assert_int_equal(p.last, columns ? m : 0);
    }
}

static bool stop(size_t done, size_t all, void *context) {
  assert_true(done <= all);
  ++*(int *)context;
  return true;
}

static void test_stop(void **unused) {
  uint64_t state = 3;
  int calls = 0;
  smma_product_error error;
  (void)unused;
  fill(&state, &a, SMMA_F16, 150, 5, NARROW);
  fill(&state, &b, SMMA_F16, 5, 140, NARROW);
  fill(&state, &d, SMMA_F32, 150, 140, NARROW);
  smma_set_threads(1);
  assert_true(smma_error_against_exact(&a.as, &b.as, &d.as, stop, &calls, &error));
  assert_int_equal(calls, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tiles), cmocka_unit_test(test_greatest_sums),
                                     cmocka_unit_test(test_errors), cmocka_unit_test(test_receiving),
                                     cmocka_unit_test(test_stop)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
