/* Rows of operands that reach an instruction's corners.
 *
 * This header may change in any version, unlike softmma.h. The rules of softmma.h for threads, errors and structs
 * apply. */
#ifndef SOFTMMA_ROWS_H
#define SOFTMMA_ROWS_H

#include "softmma/softmma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which rows of operands are made, and where they go: arrays as smma_batch has them. */
typedef struct {
  size_t size; /* of this struct: smma_row_request_defaults sets it */
  /* "random", "normal", "edge", "zeros", "tiny", "cancellation", "ill", "network", "schryer" or "aimed" (docs/units.md
   * has what they are for); NULL: the first eight in turn, row i of kind i mod 8. */
  const char *kind;
  uint64_t seed, first; /* rows `first` to first + rows - 1 of that seed */
  size_t rows;
  void *a, *b, *c, *scale_a, *scale_b;
} smma_row_request;

/* Fills in `size`; no rows, of the kinds in turn, seed 0, pointers NULL. `size` is sizeof *request. Does nothing with
 * NULL. */
SMMA_API void smma_row_request_defaults(smma_row_request *request, size_t size);

/* Makes rows that reach the corners of an instruction, of the kinds that `softmma test` asks units for: row i of a
 * seed is the same on every machine, in whatever portions rows are made. By the calling thread. Errors:
 * SMMA_INVALID_ARGUMENT, SMMA_NEWER_STRUCT, SMMA_MISSING_SCALE. */
SMMA_API smma_status smma_make_rows(const smma_instruction *instruction, const smma_row_request *request);

#ifdef __cplusplus
}
#endif

#endif
