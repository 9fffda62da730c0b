/* Compares the exponents of products by the sums of their operands' bytes (deficits.h): the product with the least sum
   has the greatest exponent. */
#ifndef SMMA_GEMM_FAMILY_DEFICITS_COMPARE_H
#define SMMA_GEMM_FAMILY_DEFICITS_COMPARE_H

#include "gemm/family/deficits.h"

enum {
  DEFICIT_CHUNK = 32,    /* rows that are computed together: their data stay in the first-level cache */
  DEFICIT_REGISTERS = 16 /* indices k whose bytes of all columns are held in registers at a time */
};

/* For one row and each of PANEL columns, the least sum of bytes of their products. `of[0]` is that of all products, or
   of those with even k; then `of[1]` is that of the products with odd k. */
typedef struct {
  vb of[2];
} deficit_least;

/* Returns the least sums for `count` products of one row. `by_parity`: separately for even and odd k. `word` is the
   address of the row's first byte item; `column` holds the columns' bytes. */
static inline __attribute__((always_inline)) deficit_least deficit_compare(int count, bool by_parity,
                                                                           const unsigned char *word,
                                                                           const vb *column) {
  deficit_least least;
  least.of[0] = vb_add_four(column[0], deficit_row_word(word, 0));
  least.of[1] = by_parity ? vb_add_four(column[1], deficit_row_word(word, 1)) : least.of[0];
  UNROLL for (int k = 1 + by_parity; k < count; k++) least.of[by_parity & k] =
      vb_min(least.of[by_parity & k], vb_add_four(column[k], deficit_row_word(word, k)));
  return least;
}

/* Returns the least sums for all products of one row, from a packed row `a` and a packed block of columns `b`. */
static inline deficit_least deficit_compare_row(int length, bool by_parity, const unsigned char *a,
                                                const unsigned char *b) {
  deficit_least least = {{vb_repeat(-1), vb_repeat(-1)}};
  for (int k = 0; k < length; k++) {
    vb *x = &least.of[by_parity & k];
    *x = vb_min(*x, vb_add_four(vb_load(b + (size_t)(length * 4 + k) * PANEL), deficit_row_word(a, length + k)));
  }
  return least;
}

/* The least sums of the rows of a chunk, as in deficit_least. */
typedef struct {
  _Alignas(64) uint8_t of[2][DEFICIT_CHUNK][PANEL];
} deficit_chunk;

/* Prefetches `bytes` bytes, which begin `apart` bytes after `a`; they need not be there. */
static inline __attribute__((always_inline)) void deficit_prefetch(const unsigned char *a, size_t apart, size_t bytes) {
  UNROLL for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch((const void *)((uintptr_t)a + apart + at));
}

/* Computes the least sums of the `rows` rows of a chunk. `a` is the address of the chunk, whose byte items begin with
   item `item`; `byte` is the address of the columns' bytes. Prefetches the same rows in the next block, which are
   `apart` bytes further on: processors do not foresee that they follow. Families compute a chunk in several short
   passes, of which this is the first, because processors then overlap the dependent operations of several rows. */
static inline __attribute__((always_inline)) void deficit_compare_rows(int length, bool by_parity,
                                                                       const unsigned char *a, int item,
                                                                       size_t row_bytes, size_t apart,
                                                                       const unsigned char *byte, size_t rows,
                                                                       deficit_chunk *least) {
  for (int first = 0; first < length; first += DEFICIT_REGISTERS) {
    const int count = length - first < DEFICIT_REGISTERS ? length - first : DEFICIT_REGISTERS;
    vb column[DEFICIT_REGISTERS];
    UNROLL for (int k = 0; k < count; k++) column[k] = vb_load(byte + (first + k) * PANEL);
    for (size_t row = 0; row < rows; row++) {
      const uint32_t *word = deficit_row_word(deficit_row(a, row_bytes, row), item + first);
      deficit_least x = deficit_compare(count, by_parity, (const unsigned char *)word, column);
      if (!first) deficit_prefetch(a, apart + row * row_bytes, row_bytes);
      if (first) x.of[0] = vb_min(x.of[0], vb_load(least->of[0][row]));
      vb_store(least->of[0][row], x.of[0]);
      if (by_parity) vb_store(least->of[1][row], x.of[1]);
    }
  }
}

/* Returns the number of rows of the chunk that begins with row `first`, rounded up to a multiple of ROWS. */
static inline size_t deficit_chunk_rows(const smma_run *r, size_t first) {
  const size_t rows = (r->rows - first + ROWS - 1) / ROWS * ROWS;
  return rows < DEFICIT_CHUNK ? rows : DEFICIT_CHUNK;
}

#endif
