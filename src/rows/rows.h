/* Rows of operands and results for one instruction, as units take them. */
#ifndef SMMA_ROWS_ROWS_H
#define SMMA_ROWS_ROWS_H

#include "isa/instruction.h"
#include "rows/text.h"
#include "softmma/unit.h"

typedef struct {
  const smma_instruction *instruction;
  size_t capacity;
  unsigned char *memory;
  unsigned char *a, *b, *c, *scale_a, *scale_b, *d; /* parts of it; scales NULL without */
} smma_rows;

/* Room for `capacity` rows; false without memory. */
bool smma_rows_allocate(const smma_instruction *instruction, size_t capacity, smma_rows *rows);
void smma_rows_free(smma_rows *rows);

/* Row `index` in and out, d included; `line` is left alone. */
void smma_rows_put(smma_rows *rows, size_t index, const smma_row *row);
void smma_rows_get(const smma_rows *rows, size_t index, smma_row *row);

/* d of one row. */
uint64_t smma_rows_result(const smma_rows *rows, size_t index);

/* `count` rows from `first` on, as a unit takes them; `d` receives the results, from its start on, or those of the rows
   themselves if it is NULL. */
smma_batch smma_rows_batch(const smma_rows *rows, size_t first, size_t count, void *d);

/* A unit's batch as rows of an instruction: a view of the batch's memory, only to be read and not to be freed. */
smma_rows smma_rows_of_batch(const smma_instruction *instruction, const smma_batch *batch);

#endif
