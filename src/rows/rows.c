#include "rows/rows.h"

#include <stdlib.h>

#include "host/load.h"

/* Bytes of an element of each part. */
typedef struct {
  size_t a, b, c, scale, d, scales;
} widths;

static widths widths_of(const smma_instruction *i) {
  return (widths){.a = smma_container_bytes(smma_encoding_of(i->a)),
                  .b = smma_container_bytes(smma_encoding_of(i->b)),
                  .c = smma_container_bytes(smma_encoding_of(i->c)),
                  .d = smma_container_bytes(smma_encoding_of(i->d)),
                  .scale = i->scale_block ? smma_container_bytes(smma_encoding_of(i->scale)) : 0,
                  .scales = i->scale_block ? (size_t)(i->k / i->scale_block) : 0};
}

bool smma_rows_allocate(const smma_instruction *i, size_t capacity, smma_rows *r) {
  const widths w = widths_of(i);
  const size_t k = (size_t)i->k, row = 8 + 8 + k * (w.a + w.b) + 2 * w.scales * w.scale;
  *r = (smma_rows){.instruction = i, .capacity = capacity};
  r->memory = capacity > SIZE_MAX / row ? NULL : calloc(capacity, row);
  if (!r->memory) return false;
  /* The widest elements first, so that each part is aligned. */
  r->c = r->memory;
  r->d = r->c + 8 * capacity;
  r->a = r->d + 8 * capacity;
  r->b = r->a + capacity * k * w.a;
  if (!w.scales) return true;
  r->scale_a = r->b + capacity * k * w.b;
  r->scale_b = r->scale_a + capacity * w.scales * w.scale;
  return true;
}

void smma_rows_free(smma_rows *r) {
  free(r->memory);
  *r = (smma_rows){0};
}

static void put(size_t bytes, unsigned char *array, size_t row, size_t count, const uint64_t *x) {
  for (size_t i = 0; i < count; i++) smma_store(bytes, array, row * count + i, x[i]);
}

static void get(size_t bytes, const unsigned char *array, size_t row, size_t count, uint64_t *x) {
  for (size_t i = 0; i < count; i++) x[i] = smma_load(bytes, array, row * count + i);
}

void smma_rows_put(smma_rows *r, size_t index, const smma_row *row) {
  const widths w = widths_of(r->instruction);
  const size_t k = (size_t)r->instruction->k;
  put(w.a, r->a, index, k, row->a);
  put(w.b, r->b, index, k, row->b);
  put(w.c, r->c, index, 1, &row->c);
  put(w.scale, r->scale_a, index, w.scales, row->scale_a);
  put(w.scale, r->scale_b, index, w.scales, row->scale_b);
  put(w.d, r->d, index, 1, &row->d);
}

void smma_rows_get(const smma_rows *r, size_t index, smma_row *row) {
  const widths w = widths_of(r->instruction);
  const size_t k = (size_t)r->instruction->k;
  get(w.a, r->a, index, k, row->a);
  get(w.b, r->b, index, k, row->b);
  get(w.c, r->c, index, 1, &row->c);
  get(w.scale, r->scale_a, index, w.scales, row->scale_a);
  get(w.scale, r->scale_b, index, w.scales, row->scale_b);
  get(w.d, r->d, index, 1, &row->d);
}

uint64_t smma_rows_result(const smma_rows *r, size_t index) {
  return smma_load(widths_of(r->instruction).d, r->d, index);
}

smma_batch smma_rows_batch(const smma_rows *r, size_t first, size_t count, void *d) {
  const widths w = widths_of(r->instruction);
  const size_t k = (size_t)r->instruction->k;
  return (smma_batch){.rows = count,
                      .a = r->a + first * k * w.a,
                      .b = r->b + first * k * w.b,
                      .c = r->c + first * w.c,
                      .scale_a = w.scales ? r->scale_a + first * w.scales * w.scale : NULL,
                      .scale_b = w.scales ? r->scale_b + first * w.scales * w.scale : NULL,
                      .d = d ? d : r->d + first * w.d};
}

smma_rows smma_rows_of_batch(const smma_instruction *i, const smma_batch *batch) {
  return (smma_rows){.instruction = i,
                     .capacity = batch->rows,
                     .a = (unsigned char *)batch->a,
                     .b = (unsigned char *)batch->b,
                     .c = (unsigned char *)batch->c,
                     .scale_a = (unsigned char *)batch->scale_a,
                     .scale_b = (unsigned char *)batch->scale_b,
                     .d = batch->d};
}
