#include "numerics/exact_tile.h"

#include <limits.h>
#include <stdlib.h>

#include "host/thread.h"

__extension__ typedef __int128 int128;

/* BLOCK products of two parts are added in 128 bits: their sum is below 2^(2 PART_BITS) BLOCK = 2^125. */
enum { BLOCK = 512, PART_BITS = 58, MOST_PARTS = 4 };

/* BLOCK elements of a row of A or of a column of B. Element k is the sum over p < parts of
   part[p][k] * 2^(exponent + PART_BITS p), if `finite` and `split`. */
typedef struct {
  int64_t part[MOST_PARTS][BLOCK];
  int parts; /* 0 if all elements are zero */
  int exponent;
  bool finite, split; /* whether all elements are finite, and whether MOST_PARTS parts hold them */
} line;

struct smma_exact_tile {
  smma_exact_element sum[SMMA_EXACT_TILE * SMMA_EXACT_TILE];
  line row[SMMA_EXACT_TILE], column[SMMA_EXACT_TILE];
};

smma_exact_tile *smma_exact_tile_create(void) { return malloc(sizeof(smma_exact_tile)); }

void smma_exact_tile_free(smma_exact_tile *tile) { free(tile); }

/* Returns the bits of x * 2^shift from bit PART_BITS * p on. */
static int64_t part_of(uint64_t x, int shift, int p) {
  const int by = shift - PART_BITS * p; /* to the left */
  if (by <= -64 || by >= PART_BITS) return 0;
  return (int64_t)smma_low_bits(by < 0 ? x >> -by : x << by, PART_BITS);
}

/* Takes `count` elements, from element (row, column) on, of a row of the matrix or of a column. */
static void take_line(line *x, const smma_encoded_matrix *m, size_t row, size_t column, bool of_row, int count) {
  uint64_t significand[BLOCK]; /* odd, or 0 */
  int exponent[BLOCK];
  bool negative[BLOCK];
  int least = INT_MAX, end = INT_MIN;
  x->finite = true;
  for (int k = 0; k < count; k++) {
    const size_t at = (size_t)k;
    const smma_number n = smma_matrix_number(m, row + (of_row ? 0 : at), column + (of_row ? at : 0));
    significand[k] = 0;
    if (n.kind > SMMA_FINITE) x->finite = false;
    if (n.kind != SMMA_FINITE) continue;
    const int zeros = __builtin_ctzll(n.significand);
    significand[k] = n.significand >> zeros;
    exponent[k] = n.exponent - n.fraction_bits + zeros;
    negative[k] = n.negative;
    const int behind = exponent[k] + 64 - smma_leading_zeros(significand[k]);
    if (exponent[k] < least) least = exponent[k];
    if (behind > end) end = behind;
  }
  x->exponent = least;
  x->parts = end > least ? (end - least + PART_BITS - 1) / PART_BITS : 0;
  x->split = x->parts <= MOST_PARTS;
  for (int p = 0; x->finite && x->split && p < x->parts; p++)
    for (int k = 0; k < count; k++) {
      const int64_t part = significand[k] ? part_of(significand[k], exponent[k] - least, p) : 0;
      x->part[p][k] = part && negative[k] ? -part : part;
    }
}

/* Adds the sum of `count` products, times 2^exponent. */
static void add_dot(smma_wide *sum, const int64_t *x, const int64_t *y, int count, int exponent) {
  int128 dot = 0;
  for (int k = 0; k < count; k++) dot += (int128)x[k] * y[k];
  const bool negative = dot < 0;
  const smma_uint128 magnitude = negative ? -(smma_uint128)dot : (smma_uint128)dot;
  if (magnitude) smma_wide_add(sum, negative, (uint64_t)magnitude, exponent);
  if (magnitude >> 64) smma_wide_add(sum, negative, (uint64_t)(magnitude >> 64), exponent + 64);
}

/* Adds the products of two lines, whose elements are finite. Returns false if they are not split. */
static bool add_lines(smma_wide *sum, const line *x, const line *y, int count) {
  if (!x->split || !y->split) return false;
  for (int p = 0; p < x->parts; p++)
    for (int q = 0; q < y->parts; q++)
      add_dot(sum, x->part[p], y->part[q], count, x->exponent + y->exponent + PART_BITS * (p + q));
  return true;
}

smma_exact_element *smma_exact_tile_compute(smma_exact_tile *t, const smma_encoded_matrix *a,
                                            const smma_encoded_matrix *b, size_t row, size_t rows, size_t column,
                                            size_t columns) {
  for (size_t n = 0; n < rows * columns; n++) {
    smma_wide_clear(&t->sum[n].sum);
    t->sum[n].finite = true;
  }
  for (size_t k = 0; k < a->columns; k += BLOCK) {
    const int count = a->columns - k < BLOCK ? (int)(a->columns - k) : BLOCK;
    for (size_t i = 0; i < rows; i++) take_line(&t->row[i], a, row + i, k, true, count);
    for (size_t j = 0; j < columns; j++) take_line(&t->column[j], b, k, column + j, false, count);
    for (size_t i = 0; i < rows; i++)
      for (size_t j = 0; j < columns; j++) {
        smma_exact_element *const to = &t->sum[i * columns + j];
        if (!t->row[i].finite || !t->column[j].finite) to->finite = false;
        if (!to->finite || add_lines(&to->sum, &t->row[i], &t->column[j], count)) continue;
        for (size_t n = k; n < k + (size_t)count; n++)
          smma_wide_add_product(&to->sum, smma_matrix_number(a, row + i, n), smma_matrix_number(b, n, column + j));
      }
  }
  return t->sum;
}

/* ---- All tiles ---- */

typedef struct {
  const smma_encoded_matrix *a, *b;
  smma_exact_receiver *receive;
  void *context;
  smma_watcher *watch;
  void *context_of_watch;
  size_t done; /* number of elements */
  bool stopped;
} exact_tiles;

/* Computes `count` rows, tile by tile, until the product is stopped. */
static void compute_rows(exact_tiles *x, smma_exact_tile *tile, size_t first, size_t count) {
  const size_t all = x->b->columns;
  for (size_t j = 0; j < all; j += SMMA_EXACT_TILE) {
    const size_t columns = all - j < SMMA_EXACT_TILE ? all - j : SMMA_EXACT_TILE;
    bool stopped;
    size_t done;
#pragma omp atomic read
    stopped = x->stopped;
    if (stopped) return;
    x->receive(smma_exact_tile_compute(tile, x->a, x->b, first, count, j, columns), first, count, j, columns,
               x->context);
#pragma omp atomic capture
    done = x->done += count * columns;
    if (!x->watch || smma_this_thread() != 0 || !x->watch(done / all, x->a->rows, x->context_of_watch)) continue;
#pragma omp atomic write
    x->stopped = true;
  }
}

bool smma_exact_tiles(const smma_encoded_matrix *a, const smma_encoded_matrix *b, int threads,
                      smma_exact_receiver *receive, void *context, smma_watcher *watch, void *context_of_watch) {
  const size_t rows = a->rows, each = (rows + (size_t)threads - 1) / (size_t)threads; /* for a thread */
  const size_t height = each < 1 ? 1 : each < SMMA_EXACT_TILE ? each : SMMA_EXACT_TILE;
  exact_tiles x = {a, b, receive, context, watch, context_of_watch, 0, false};
  bool memory = true;
#pragma omp parallel num_threads(threads)
  {
    smma_exact_tile *tile = smma_exact_tile_create();
    if (!tile) {
#pragma omp atomic write
      memory = false;
    }
#pragma omp for schedule(dynamic)
    for (size_t i = 0; i < rows; i += height)
      if (tile) compute_rows(&x, tile, i, rows - i < height ? rows - i : height);
    smma_exact_tile_free(tile);
  }
  return memory;
}
