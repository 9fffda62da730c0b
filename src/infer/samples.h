/* Rows and what a unit answered to them, decoded once, because models are tried on them again and again. */
#ifndef SMMA_INFER_SAMPLES_H
#define SMMA_INFER_SAMPLES_H

#include "rows/rows.h"

typedef struct {
  smma_rows rows; /* d: the unit's */
  size_t count;
  smma_number *number; /* of row i from i * per_row on: a, b, then the scale factors of both */
  size_t per_row;
} smma_samples;

/* None yet; false without memory. */
bool smma_samples_open(const smma_instruction *instruction, smma_samples *samples);
void smma_samples_close(smma_samples *samples);

/* Rows of the instruction, with results, from `first` on; false without memory, with all as it was. */
bool smma_samples_add(smma_samples *samples, const smma_rows *rows, size_t first, size_t count);

/* d of row i as an operation of the same formats and K computes it. */
uint64_t smma_sample_computed(const smma_samples *samples, const smma_operation *operation, size_t i);

/* Whether that is the unit's, or both are NaN: which NaN is another question than what is added. */
bool smma_sample_agrees(const smma_samples *samples, const smma_operation *operation, size_t i);

#endif
