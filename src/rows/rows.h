/* Many rows for one instruction, as units take them: each part's elements in their containers, row behind row. */
#ifndef SMMA_ROWS_ROWS_H
#define SMMA_ROWS_ROWS_H

#include "host/load.h"
#include "rows/row.h"
#include "softmma/unit.h"

typedef struct {
  const smma_instruction *instruction;
  smma_row_layout layout;
  size_t capacity;
  unsigned char *memory;
  unsigned char *part[SMMA_PARTS]; /* of it; NULL where rows have none */
} smma_rows;

/* Room for `capacity` rows of zeros; false without memory. */
bool smma_rows_allocate(const smma_instruction *instruction, size_t capacity, smma_rows *rows);
void smma_rows_free(smma_rows *rows);

/* Room for `capacity` rows, with the first ones as they were; false without memory, with all as it was. */
bool smma_rows_grow(smma_rows *rows, size_t capacity);

/* Bytes of a part of one row. */
static inline size_t smma_part_stride(const smma_part *part) { return (size_t)part->count * part->bytes; }

/* With a constant for `bytes`, so that compilers make vectors of the loop. */
static inline void smma_narrow(size_t bytes, const uint64_t *x, size_t count, unsigned char *out) {
  for (size_t i = 0; i < count; i++) smma_store(bytes, out, i, x[i]);
}

/* Row `index` in, d included; here, so that what makes rows has it in its own vectors. */
static inline void smma_rows_put(smma_rows *rows, size_t index, const smma_row *row) {
  for (int p = 0; p < SMMA_PARTS; p++) {
    const smma_part *part = &rows->layout.part[p];
    const size_t count = (size_t)part->count;
    const uint64_t *x = smma_part_in(row, part);
    if (!count) continue;
    unsigned char *to = rows->part[p] + index * smma_part_stride(part);
    switch (part->bytes) {
      case 1: smma_narrow(1, x, count, to); break;
      case 2: smma_narrow(2, x, count, to); break;
      case 4: smma_narrow(4, x, count, to); break;
      case 8: smma_narrow(8, x, count, to); break;
    }
  }
}

/* And out. */
void smma_rows_get(const smma_rows *rows, size_t index, smma_row *row);

/* Row `from` of another one's rows, of the same instruction. */
void smma_rows_copy(smma_rows *rows, size_t index, const smma_rows *other, size_t from, size_t count);

/* d of one row. */
uint64_t smma_rows_result(const smma_rows *rows, size_t index);

/* `count` rows from `first` on, as a unit takes them; `d` receives the results, from its start on, or those of the rows
   themselves if it is NULL. */
smma_batch smma_rows_batch(const smma_rows *rows, size_t first, size_t count, void *d);

/* A unit's batch as rows of an instruction: a view of the batch's memory, only to be read and not to be freed. */
smma_rows smma_rows_of_batch(const smma_instruction *instruction, const smma_batch *batch);

#endif
