/* A product in pieces, for matrices in .npy files that need not fit in memory. */
#ifndef SMMA_PRODUCT_PIECES_H
#define SMMA_PRODUCT_PIECES_H

#include "io/group.h"
#include "product/product.h"

/* Default number of bytes that one process uses for its pieces. */
#define SMMA_PIECES_MEMORY (INT64_C(1) << 30)

typedef struct {
  const smma_group *group;
  long long memory; /* bytes; 0: SMMA_PIECES_MEMORY */
  const char *d;    /* the file for D, which is written completely or not at all */
  const smma_notes *notes;
  /* Called between pieces with the number of elements of D computed so far. */
  void (*progress)(size_t done, size_t all, void *context);
  void *progress_context;
} smma_pieces;

/* Computes a product that smma_product_begin has made, by all processes of the group together. Each piece of D is
   computed from its rows of A and columns of B; pieces are read and written at their positions in the files. */
bool smma_product_in_pieces(smma_matrix_product *product, const smma_pieces *pieces, smma_error *error);

#endif
