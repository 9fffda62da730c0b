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
                        {"d", i->d, 1, 0, offsetof(smma_row, d)},
                        {"flags", SMMA_U8, 0, 0, offsetof(smma_row, flags)}}};
  for (int p = 0; p < SMMA_PARTS; p++)
    if (l.part[p].count) l.part[p].bytes = smma_bytes_of(l.part[p].format);
  return l;
}

void smma_row_layout_add_flags(smma_row_layout *l) {
  l->part[SMMA_PART_FLAGS].count = 1;
  l->part[SMMA_PART_FLAGS].bytes = smma_bytes_of(SMMA_U8);
}

bool smma_same_operands_in(const smma_row_layout *l, const smma_row *x, const smma_row *y) {
  for (int p = 0; p < SMMA_PART_D; p++) {
    const smma_part *part = &l->part[p];
    if (memcmp(smma_part_in(x, part), smma_part_in(y, part), (size_t)part->count * sizeof(uint64_t)) != 0) return false;
  }
  return true;
}
