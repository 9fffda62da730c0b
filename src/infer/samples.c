#include "infer/samples.h"

#include <stdlib.h>

#include "host/load.h"

enum { AT_FIRST = 1024 };

bool smma_samples_open(const smma_instruction *i, smma_samples *s) {
  *s = (smma_samples){.per_row = 2 * ((size_t)i->k + (size_t)smma_scale_count(i->k, i->scale_block))};
  s->number = malloc(AT_FIRST * s->per_row * sizeof *s->number);
  return smma_rows_allocate(i, AT_FIRST, &s->rows) && s->number;
}

void smma_samples_close(smma_samples *s) {
  smma_rows_free(&s->rows);
  free(s->number);
  s->number = NULL;
}

static bool grow(smma_samples *s, size_t count) {
  size_t capacity = s->rows.capacity;
  smma_number *number;
  while (capacity < count) capacity *= 2;
  if (capacity == s->rows.capacity) return true;
  number = realloc(s->number, capacity * s->per_row * sizeof *number);
  if (number) s->number = number;
  return number && smma_rows_grow(&s->rows, capacity);
}

static void decode(smma_samples *s, size_t at) {
  const smma_instruction *i = s->rows.instruction;
  const int scales = smma_scale_count(i->k, i->scale_block);
  smma_number *out = s->number + at * s->per_row;
  smma_row row;
  smma_rows_get(&s->rows, at, &row);
  smma_decode_codes(i->a, row.a, i->k, out);
  smma_decode_codes(i->b, row.b, i->k, out + i->k);
  if (scales == 0) return;
  smma_decode_codes(i->scale, row.scale_a, scales, out + 2 * i->k);
  smma_decode_codes(i->scale, row.scale_b, scales, out + 2 * i->k + scales);
}

bool smma_samples_add(smma_samples *s, const smma_rows *rows, size_t first, size_t count) {
  if (!grow(s, s->count + count)) return false;
  smma_rows_copy(&s->rows, s->count, rows, first, count);
  for (size_t i = 0; i < count; i++) decode(s, s->count + i);
  s->count += count;
  return true;
}

uint64_t smma_sample_computed(const smma_samples *s, const smma_operation *o, size_t i) {
  const smma_number *number = s->number + i * s->per_row;
  const smma_operands x = {number, number + o->k, number + 2 * o->k,
                           number + 2 * o->k + smma_scale_count(o->k, o->scale_block)};
  return smma_dot_add(o, x, smma_load(s->rows.layout.part[SMMA_PART_C].bytes, s->rows.part[SMMA_PART_C], i));
}

bool smma_sample_agrees(const smma_samples *s, const smma_operation *o, size_t i) {
  const smma_encoding d = smma_encoding_of(o->d);
  const uint64_t computed = smma_sample_computed(s, o, i), got = smma_rows_result(&s->rows, i);
  return computed == got || (smma_decode(d, computed).kind == SMMA_NAN && smma_decode(d, got).kind == SMMA_NAN);
}
