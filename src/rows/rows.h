/* Many rows of one instruction, in the form that units take: one array for each part, with the elements in their
   containers, one row after another. */
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
  unsigned char *part[SMMA_PARTS]; /* NULL if rows do not have the part */
} smma_rows;

/* Allocates room for `capacity` rows of zeros; returns false when memory is short. */
bool smma_rows_allocate(const smma_instruction *instruction, size_t capacity, smma_rows *rows);

/* Allocates rows as smma_rows_allocate does, but of a given layout, which may have flags. */
bool smma_rows_allocate_as(const smma_instruction *instruction, const smma_row_layout *layout, size_t capacity,
                           smma_rows *rows);
void smma_rows_free(smma_rows *rows);

/* Enlarges the memory to `capacity` rows without flags. Existing rows are preserved. Returns false and changes nothing
   when memory is short. */
bool smma_rows_grow(smma_rows *rows, size_t capacity);

/* Returns the number of bytes that a part takes in one row. */
static inline size_t smma_part_stride(const smma_part *part) { return (size_t)part->count * part->bytes; }

/* Stores elements in containers of `bytes` bytes. Call it with a constant `bytes`, so that the compiler vectorises the
   loop. */
static inline void smma_narrow(size_t bytes, const uint64_t *x, size_t count, unsigned char *out) {
  for (size_t i = 0; i < count; i++) smma_store(bytes, out, i, x[i]);
}

/* Stores a row, including d, at `index`. The function is inline, so that compilers vectorise it in row generators. */
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

/* Loads the row at `index`. */
void smma_rows_get(const smma_rows *rows, size_t index, smma_row *row);

/* Copies `count` rows of `other`, starting at row `from`, to row `index`. Both have the same instruction. Flags of
   `other` are not copied if `rows` has no flags. */
void smma_rows_copy(smma_rows *rows, size_t index, const smma_rows *other, size_t from, size_t count);

/* Returns d of one row. */
uint64_t smma_rows_result(const smma_rows *rows, size_t index);

/* Returns `count` rows, starting at `first`, as a unit's batch. The batch's results go to the array `d`, or, if `d` is
   NULL, to the d of the rows. */
smma_batch smma_rows_batch(const smma_rows *rows, size_t first, size_t count, void *d);

/* Returns a unit's batch as rows of an instruction. The rows are a read-only view of the batch's memory; do not free
   them. */
smma_rows smma_rows_of_batch(const smma_instruction *instruction, const smma_batch *batch);

#endif
