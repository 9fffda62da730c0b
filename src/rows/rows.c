#include "rows/rows.h"

#include <stdlib.h>
#include <string.h>

#include "host/load.h"

bool smma_rows_allocate_as(const smma_instruction *i, const smma_row_layout *layout, size_t capacity, smma_rows *r) {
  size_t row = 0;
  unsigned char *next;
  *r = (smma_rows){.instruction = i, .layout = *layout, .capacity = capacity};
  for (int p = 0; p < SMMA_PARTS; p++) row += smma_part_stride(&r->layout.part[p]);
  r->memory = next = calloc(capacity, row);
  if (!next) return false;
  /* Places the widest elements first, so that each part is aligned. */
  for (size_t bytes = 8; bytes > 0; bytes /= 2)
    for (int p = 0; p < SMMA_PARTS; p++) {
      if (r->layout.part[p].bytes != bytes) continue;
      r->part[p] = next;
      next += capacity * smma_part_stride(&r->layout.part[p]);
    }
  return true;
}

bool smma_rows_allocate(const smma_instruction *i, size_t capacity, smma_rows *r) {
  const smma_row_layout layout = smma_row_layout_of(i);
  return smma_rows_allocate_as(i, &layout, capacity, r);
}

void smma_rows_free(smma_rows *r) {
  free(r->memory);
  *r = (smma_rows){0};
}

void smma_rows_copy(smma_rows *r, size_t index, const smma_rows *other, size_t from, size_t count) {
  for (int p = 0; p < SMMA_PARTS; p++) {
    const size_t bytes = smma_part_stride(&r->layout.part[p]);
    if (bytes && count) memcpy(r->part[p] + index * bytes, other->part[p] + from * bytes, count * bytes);
  }
}

bool smma_rows_grow(smma_rows *r, size_t capacity) {
  smma_rows larger;
  if (!smma_rows_allocate(r->instruction, capacity, &larger)) return false;
  smma_rows_copy(&larger, 0, r, 0, r->capacity);
  smma_rows_free(r);
  *r = larger;
  return true;
}

/* Loads elements from containers of `bytes` bytes. Call it with a constant `bytes`, so that the compiler vectorises the
   loop. */
static inline void widen(size_t bytes, const unsigned char *in, size_t count, uint64_t *x) {
  for (size_t i = 0; i < count; i++) x[i] = smma_load(bytes, in, i);
}

void smma_rows_get(const smma_rows *r, size_t index, smma_row *row) {
  for (int p = 0; p < SMMA_PARTS; p++) {
    const smma_part *part = &r->layout.part[p];
    const size_t count = (size_t)part->count;
    uint64_t *x = smma_part_of(row, part);
    if (!count) continue;
    const unsigned char *from = r->part[p] + index * smma_part_stride(part);
    switch (part->bytes) {
      case 1: widen(1, from, count, x); break;
      case 2: widen(2, from, count, x); break;
      case 4: widen(4, from, count, x); break;
      case 8: widen(8, from, count, x); break;
    }
  }
}

uint64_t smma_rows_result(const smma_rows *r, size_t index) {
  return smma_load(r->layout.part[SMMA_PART_D].bytes, r->part[SMMA_PART_D], index);
}

/* Returns the part's elements from row `first` on, or NULL if rows do not have the part. */
static unsigned char *from_row(const smma_rows *r, smma_part_id p, size_t first) {
  return r->part[p] ? r->part[p] + first * smma_part_stride(&r->layout.part[p]) : NULL;
}

smma_batch smma_rows_batch(const smma_rows *r, size_t first, size_t count, void *d) {
  return (smma_batch){.size = sizeof(smma_batch),
                      .rows = count,
                      .a = from_row(r, SMMA_PART_A, first),
                      .b = from_row(r, SMMA_PART_B, first),
                      .c = from_row(r, SMMA_PART_C, first),
                      .scale_a = from_row(r, SMMA_PART_SCALE_A, first),
                      .scale_b = from_row(r, SMMA_PART_SCALE_B, first),
                      .d = d ? d : from_row(r, SMMA_PART_D, first)};
}

smma_rows smma_rows_of_batch(const smma_instruction *i, const smma_batch *batch) {
  return (smma_rows){.instruction = i,
                     .layout = smma_row_layout_of(i),
                     .capacity = batch->rows,
                     .part = {[SMMA_PART_A] = (unsigned char *)batch->a,
                              [SMMA_PART_B] = (unsigned char *)batch->b,
                              [SMMA_PART_C] = (unsigned char *)batch->c,
                              [SMMA_PART_SCALE_A] = (unsigned char *)batch->scale_a,
                              [SMMA_PART_SCALE_B] = (unsigned char *)batch->scale_b,
                              [SMMA_PART_D] = batch->d}};
}
