/* Operands for vector rows. Counter-based random numbers (Philox): row i of seed s is the same everywhere. */
#ifndef SMMA_VERIFY_GENERATE_H
#define SMMA_VERIFY_GENERATE_H

#include "io/vectors.h"

typedef enum {
  SMMA_ROWS_RANDOM,       /* random bits */
  SMMA_ROWS_NORMAL,       /* about N(0, 1): sums of twelve uniforms */
  SMMA_ROWS_EDGE,         /* exponents and fractions at their ends, infinity, NaN */
  SMMA_ROWS_ZEROS,        /* mostly zeros of both signs, the rest random or tiny */
  SMMA_ROWS_TINY,         /* subnormals and the least normals */
  SMMA_ROWS_CANCELLATION, /* terms that cancel in pairs, and c against the first */
  SMMA_ROWS_KINDS
} smma_row_kind;

/* "random", "normal", "edge", "zeros", "tiny", "cancellation". */
const char *smma_row_kind_text(smma_row_kind kind);

/* SMMA_ROWS_KINDS if there is no such kind. */
smma_row_kind smma_row_kind_from_text(const char *text);

/* Fills a, b, c and scales of row `index`; d is left alone. */
void smma_generate_row(const smma_operation *operation, uint64_t seed, uint64_t index, smma_row_kind kind,
                       smma_vector_row *row);

#endif
