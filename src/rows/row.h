/* One row: the operands of one dot-product-add and its result, as encodings; how it is laid out, and what the model
   computes of it. */
#ifndef SMMA_ROWS_ROW_H
#define SMMA_ROWS_ROW_H

#include "isa/instruction.h"

/* Only the elements that the layout counts are looked at. */
typedef struct {
  uint64_t a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K], c, scale_a[SMMA_MAXIMUM_K], scale_b[SMMA_MAXIMUM_K], d;
} smma_row;

/* The parts of a row, in the order of vector files. */
typedef enum { SMMA_PART_A, SMMA_PART_B, SMMA_PART_C, SMMA_PART_SCALE_A, SMMA_PART_SCALE_B, SMMA_PART_D } smma_part_id;
enum { SMMA_PARTS = SMMA_PART_D + 1 };

/* Numbers of a row that share a format. */
typedef struct {
  const char *name; /* "a" */
  smma_format format;
  int count;     /* 0: the row has none */
  size_t bytes;  /* of one in memory; 0 where there are none */
  size_t offset; /* of the first in smma_row */
} smma_part;

typedef struct {
  smma_part part[SMMA_PARTS];
} smma_row_layout;

smma_row_layout smma_row_layout_of(const smma_instruction *instruction);

static inline uint64_t *smma_part_of(smma_row *row, const smma_part *part) {
  return (uint64_t *)((char *)row + part->offset);
}

static inline const uint64_t *smma_part_in(const smma_row *row, const smma_part *part) {
  return (const uint64_t *)((const char *)row + part->offset);
}

/* Whether a, b, c and scale factors are the same encodings. */
bool smma_same_operands_in(const smma_row_layout *layout, const smma_row *x, const smma_row *y);

void smma_row_decode(const smma_operation *operation, const smma_row *row, smma_decoded *decoded);

/* d of the row as the model computes it. */
uint64_t smma_row_compute(const smma_operation *operation, const smma_row *row);

/* Whether one result of the operation equals another: bit for bit, but any two NaNs where payloads are not known. */
bool smma_same_result(const smma_operation *operation, uint64_t expected, uint64_t got);

#endif
