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

static void clear(smma_exact_tile *t, size_t elements) {
  for (size_t n = 0; n < elements; n++) {
    smma_wide_clear(&t->sum[n].sum);
    t->sum[n].finite = true;
  }
}

/* Adds the products of BLOCK indices k, or fewer at the end, from `k` on. Returns their number. */
static size_t add_block(smma_exact_tile *t, const smma_encoded_matrix *a, const smma_encoded_matrix *b, size_t k,
                        size_t row, size_t rows, size_t column, size_t columns) {
  const int count = a->columns - k < BLOCK ? (int)(a->columns - k) : BLOCK;
  for (size_t i = 0; i < rows; i++) take_line(&t->row[i], a, row + i, k, true, count);
  for (size_t j = 0; j < columns; j++) take_line(&t->column[j], b, k, column + j, false, count);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++) {
      smma_exact_element *const to = &t->sum[i * columns + j];
      if (!t->row[i].finite || !t->column[j].finite) to->finite = false;
      if (!to->finite) continue;
      if (!add_lines(&to->sum, &t->row[i], &t->column[j], count))
        for (size_t n = k; n < k + (size_t)count; n++)
          smma_wide_add_product(&to->sum, smma_matrix_number(a, row + i, n), smma_matrix_number(b, n, column + j));
      smma_wide_carry(&to->sum);
    }
  return rows * columns * (size_t)count;
}

smma_exact_element *smma_exact_tile_compute(smma_exact_tile *t, const smma_encoded_matrix *a,
                                            const smma_encoded_matrix *b, size_t row, size_t rows, size_t column,
                                            size_t columns) {
  clear(t, rows * columns);
  for (size_t k = 0; k < a->columns; k += BLOCK) add_block(t, a, b, k, row, rows, column, columns);
  return t->sum;
}

/* ---- All tiles ---- */

typedef struct {
  const smma_encoded_matrix *a, *b;
  size_t height, width, bands, strips; /* size of a tile, unless the matrix ends; number of tiles in either direction */
  smma_exact_receiver *receive;
  void *context;
  smma_watcher *watch;
  void *context_of_watch;
  size_t done; /* number of products */
  bool stopped;
} exact_tiles;

static bool is_stopped(const exact_tiles *x) {
  bool stopped;
#pragma omp atomic read
  stopped = x->stopped;
  return stopped;
}

/* Adds to the number of products done, and tells the watcher. */
static void watch_products(exact_tiles *x, size_t count) {
  const size_t each = x->a->columns * x->b->columns; /* products of a row */
  size_t done;
#pragma omp atomic capture
  done = x->done += count;
  if (!x->watch || smma_this_thread() != 0 || !x->watch(done / each, x->a->rows, x->context_of_watch)) return;
#pragma omp atomic write
  x->stopped = true;
}

/* Computes a tile, unless the work is stopped before its end. */
static void compute_tile(exact_tiles *x, smma_exact_tile *tile, size_t band, size_t strip) {
  const size_t row = band * x->height, column = strip * x->width;
  const size_t rows = x->a->rows - row < x->height ? x->a->rows - row : x->height;
  const size_t columns = x->b->columns - column < x->width ? x->b->columns - column : x->width;
  clear(tile, rows * columns);
  for (size_t k = 0; k < x->a->columns && !is_stopped(x); k += BLOCK)
    watch_products(x, add_block(tile, x->a, x->b, k, row, rows, column, columns));
  if (!is_stopped(x)) x->receive(tile->sum, row, rows, column, columns, x->context);
}

/* Returns the side of tiles that divide `length` into at least `parts` parts, if it is that long. */
static size_t side_of_tile(size_t length, size_t parts) {
  const size_t side = length / parts;
  return side < 1 ? 1 : side < SMMA_EXACT_TILE ? side : SMMA_EXACT_TILE;
}

static size_t count_parts(size_t length, size_t side) { return (length + side - 1) / side; }

/* Chooses the size of tiles: each thread gets two or more if the product has enough elements. Rows are divided only if
   columns do not suffice: the elements of a column of B lie far apart, so that taking B apart is slower. */
static void choose_tiles(exact_tiles *x, bool whole_rows, size_t threads) {
  const size_t rows = x->a->rows, columns = x->b->columns, parts = whole_rows ? threads : 2 * threads;
  x->height = side_of_tile(rows, whole_rows ? parts : 1), x->bands = count_parts(rows, x->height);
  x->width = side_of_tile(columns, whole_rows || !x->bands ? 1 : count_parts(parts, x->bands));
  x->strips = count_parts(columns, x->width);
  if (whole_rows || !x->strips || x->bands * x->strips >= parts) return;
  x->height = side_of_tile(rows, count_parts(parts, x->strips)), x->bands = count_parts(rows, x->height);
}

bool smma_exact_tiles(const smma_encoded_matrix *a, const smma_encoded_matrix *b, bool whole_rows, int threads,
                      smma_exact_receiver *receive, void *context, smma_watcher *watch, void *context_of_watch) {
  exact_tiles x = {a, b, 0, 0, 0, 0, receive, context, watch, context_of_watch, 0, false};
  bool memory = true;
  choose_tiles(&x, whole_rows, (size_t)threads);
  const size_t each = whole_rows ? x.strips : 1, pieces = x.bands * x.strips / (each + !each);
  if (pieces < (size_t)threads) threads = pieces ? (int)pieces : 1;
#pragma omp parallel num_threads(threads)
  {
    smma_exact_tile *tile = smma_exact_tile_create();
    if (!tile) {
#pragma omp atomic write
      memory = false;
    }
#pragma omp for schedule(dynamic)
    for (size_t piece = 0; piece < pieces; piece++)
      for (size_t n = piece * each; tile && n < (piece + 1) * each; n++)
        compute_tile(&x, tile, n / x.strips, n % x.strips);
    smma_exact_tile_free(tile);
  }
  return memory;
}
