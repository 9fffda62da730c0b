/* Vectors and the unit's results, decoded once because models are tried on them many times. */
#ifndef SMMA_INFER_SAMPLES_H
#define SMMA_INFER_SAMPLES_H

#include "rows/rows.h"

typedef struct {
  smma_rows rows;      /* d is the unit's result */
  size_t count;        /* number of samples */
  smma_number *number; /* the numbers of vector i start at i * per_row: a, b, then both operands' scale factors */
  size_t per_row;      /* number of numbers for each vector */
} smma_samples;

/* Opens an empty list; returns false if memory runs out. */
bool smma_samples_open(const smma_instruction *instruction, smma_samples *samples);
void smma_samples_close(smma_samples *samples);

/* Appends `count` vectors of the instruction, with results, starting at `first`. Returns false if memory runs out; the
   list is then unchanged. */
bool smma_samples_add(smma_samples *samples, const smma_rows *rows, size_t first, size_t count);

/* Returns d of vector i as computed by an operation with the same formats and K. */
uint64_t smma_sample_computed(const smma_samples *samples, const smma_operation *operation, size_t i);

/* Reports whether smma_sample_computed gives the unit's result. All NaNs count as equal, because NaN policies are
   determined separately. */
bool smma_sample_agrees(const smma_samples *samples, const smma_operation *operation, size_t i);

#endif
