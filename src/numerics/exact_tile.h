/* The exact elements of a product of matrices: sums of products that are not rounded. */
#ifndef SMMA_NUMERICS_EXACT_TILE_H
#define SMMA_NUMERICS_EXACT_TILE_H

#include <stddef.h>

#include "core/wide.h"
#include "host/load.h"
#include "host/watch.h"

/* A matrix of encodings, row-major and dense. */
typedef struct {
  smma_format format;
  size_t rows, columns;
  const void *data;
} smma_encoded_matrix;

static inline smma_number smma_matrix_number(const smma_encoded_matrix *m, size_t row, size_t column) {
  const smma_encoding f = smma_encoding_of(m->format);
  return smma_decode(f, smma_load(smma_container_bytes(f), m->data, row * m->columns + column));
}

enum { SMMA_EXACT_TILE = 64 }; /* the most rows, and columns, of a tile */

/* An element; `finite` is false if one of its operands is not finite, and then `sum` means nothing. */
typedef struct {
  smma_wide sum;
  bool finite;
} smma_exact_element;

/* Memory for one tile at a time. */
typedef struct smma_exact_tile smma_exact_tile;

/* Returns NULL if memory runs out. */
smma_exact_tile *smma_exact_tile_create(void);
void smma_exact_tile_free(smma_exact_tile *tile);

/* Computes `rows` x `columns` elements of a * b, from element (row, column) on. Returns them row by row; they are valid
   until the next call. */
smma_exact_element *smma_exact_tile_compute(smma_exact_tile *tile, const smma_encoded_matrix *a,
                                            const smma_encoded_matrix *b, size_t row, size_t rows, size_t column,
                                            size_t columns);

/* Receives `rows` x `columns` elements, from element (row, column) on. Several threads may call it at the same time. */
typedef void smma_exact_receiver(smma_exact_element *element, size_t row, size_t rows, size_t column, size_t columns,
                                 void *context);

/* Computes all elements of a * b on `threads` threads, and passes each tile to `receive`. If `whole_rows`, one thread
   computes all tiles of a row, from left to right; otherwise the tiles come in any order. The calling thread calls
   `watch`, unless it is NULL, with the number of rows done. If `watch` returns true, this ends early. Returns false
   only if memory runs out. */
bool smma_exact_tiles(const smma_encoded_matrix *a, const smma_encoded_matrix *b, bool whole_rows, int threads,
                      smma_exact_receiver *receive, void *context, smma_watcher *watch, void *context_of_watch);

#endif
