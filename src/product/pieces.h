/* A product in pieces, of matrices in .npy files that memory need not hold. */
#ifndef SMMA_PRODUCT_PIECES_H
#define SMMA_PRODUCT_PIECES_H

#include "io/group.h"
#include "product/product.h"

/* Bytes that one process uses for its pieces unless it is said. */
#define SMMA_PIECES_MEMORY (INT64_C(1) << 30)

typedef struct {
  const smma_group *group;
  long long memory; /* bytes; 0: SMMA_PIECES_MEMORY */
  const char *d;    /* the file that D is written to: it is there complete or not at all */
  const smma_notes *notes;
  /* Called between pieces with the elements of D that are done. */
  void (*progress)(size_t done, size_t all, void *context);
  void *progress_context;
} smma_pieces;

/* Computes a product that smma_product_begin has made, by all processes of the group together: every piece of D from
   its rows of A and columns of B, read and written in their place. */
bool smma_product_in_pieces(smma_matrix_product *product, const smma_pieces *pieces, smma_error *error);

#endif
