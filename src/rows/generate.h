/* Generates operands for rows with counter-based random numbers (Philox): row i of seed s is the same everywhere. */
#ifndef SMMA_ROWS_GENERATE_H
#define SMMA_ROWS_GENERATE_H

#include "core/generated.h"
#include "rows/rows.h"

/* The first six kinds, which `softmma vectors gen` takes in turn. */
enum { SMMA_ROWS_OF_GEN = SMMA_ROWS_ILL };

/* Returns the name of a kind: "random", "normal", "edge", "zeros", "tiny", "cancellation", "ill", "network", "schryer"
   or "aimed". */
const char *smma_row_kind_text(smma_row_kind kind);

/* Returns the kind with that name, or with another name such as "special" for "edge" or "subnormal" for "tiny". Returns
   SMMA_ROWS_KINDS if there is none. */
smma_row_kind smma_row_kind_from_text(const char *text);

/* Fills a, b, c and the scale factors of row `index`; does not set d. */
void smma_generate_row(const smma_operation *operation, uint64_t seed, uint64_t index, smma_row_kind kind,
                       smma_row *row);

/* Generates rows `first` to first + count - 1, and stores them from index 0 of `rows`, with d zero. Uses all cores. The
   rows are of the first `kinds` kinds in turn, or all of kind `one` if `kinds` is 0. */
void smma_generate_rows(smma_rows *rows, uint64_t seed, uint64_t first, size_t count, int kinds, smma_row_kind one);

#endif
