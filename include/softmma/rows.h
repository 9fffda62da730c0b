/* Generated test vectors (rows) that reach the corner cases of an instruction.
 *
 * This header may change in any version, unlike softmma.h. The rules of softmma.h for threads, errors and structs
 * apply. */
#ifndef SOFTMMA_ROWS_H
#define SOFTMMA_ROWS_H

#include "softmma/softmma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A request for test vectors, with the arrays that receive the operands, laid out as in smma_batch. */
typedef struct {
  size_t size; /* sizeof this struct; smma_row_request_defaults sets it */
  /* "random", "normal", "edge", "zeros", "tiny", "cancellation", "ill", "network", "schryer" or "aimed" (docs/units.md
   * describes them). NULL: the first eight kinds in turn, row i of kind i mod 8. */
  const char *kind;
  uint64_t seed, first; /* rows `first` to first + rows - 1 of the sequence with this seed */
  size_t rows;
  void *a, *b, *c, *scale_a, *scale_b;
} smma_row_request;

/* Sets `size` and all defaults: no rows, the kinds in turn, seed 0, pointers NULL. `size` is sizeof *request. Does
 * nothing with NULL. */
SMMA_API void smma_row_request_defaults(smma_row_request *request, size_t size);

/* Fills the arrays of `request` with rows of the kinds that `softmma test` uses. Row i of a seed is the same on
 * every machine, however the rows are divided among calls. The calling thread does all the work. Errors:
 * SMMA_INVALID_ARGUMENT, SMMA_NEWER_STRUCT, SMMA_MISSING_SCALE. */
SMMA_API smma_status smma_make_rows(const smma_instruction *instruction, const smma_row_request *request);

#ifdef __cplusplus
}
#endif

#endif
