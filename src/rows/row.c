#include "rows/row.h"

#include <string.h>

#include "host/load.h"

smma_row_layout smma_row_layout_of(const smma_instruction *i) {
  const int scales = smma_scale_count(i->k, i->scale_block);
  smma_row_layout l = {{{"a", i->a, i->k, 0, offsetof(smma_row, a)},
                        {"b", i->b, i->k, 0, offsetof(smma_row, b)},
                        {"c", i->c, 1, 0, offsetof(smma_row, c)},
                        {"scale_a", i->scale, scales, 0, offsetof(smma_row, scale_a)},
                        {"scale_b", i->scale, scales, 0, offsetof(smma_row, scale_b)},
                        {"d", i->d, 1, 0, offsetof(smma_row, d)}}};
  for (int p = 0; p < SMMA_PARTS; p++)
    if (l.part[p].count) l.part[p].bytes = smma_container_bytes(smma_encoding_of(l.part[p].format));
  return l;
}

bool smma_same_operands_in(const smma_row_layout *l, const smma_row *x, const smma_row *y) {
  for (int p = 0; p < SMMA_PART_D; p++) {
    const smma_part *part = &l->part[p];
    if (memcmp(smma_part_in(x, part), smma_part_in(y, part), (size_t)part->count * sizeof(uint64_t)) != 0) return false;
  }
  return true;
}

static void decode(smma_format format, const uint64_t *encoding, int count, smma_number *out) {
  const smma_encoding f = smma_encoding_of(format);
  for (int i = 0; i < count; i++) out[i] = smma_decode(f, encoding[i]);
}

void smma_row_decode(const smma_operation *o, const smma_row *row, smma_decoded *x) {
  const int scales = smma_scale_count(o->k, o->scale_block);
  decode(o->a, row->a, o->k, x->a);
  decode(o->b, row->b, o->k, x->b);
  decode(o->scale, row->scale_a, scales, x->scale_a);
  decode(o->scale, row->scale_b, scales, x->scale_b);
}

uint64_t smma_row_compute(const smma_operation *o, const smma_row *row) {
  smma_decoded x;
  smma_row_decode(o, row, &x);
  return smma_dot_add(o, smma_operands_of(&x), row->c);
}

bool smma_same_result(const smma_operation *o, uint64_t expected, uint64_t got) {
  const smma_encoding d = smma_encoding_of(o->d);
  if (expected == got) return true;
  return o->rule.nan == SMMA_NAN_QUIET && smma_decode(d, expected).kind == SMMA_NAN &&
         smma_decode(d, got).kind == SMMA_NAN;
}
