#include "probe/subject.h"

smma_subject smma_subject_of(smma_unit *unit, const smma_instruction *instruction) {
  smma_subject s = {.unit = unit, .instruction = instruction};
  for (int k = 0; k < SMMA_MAXIMUM_ROUNDED_K; k++) s.place[k] = k;
  return s;
}

smma_row smma_placed_row(const smma_subject *s, const smma_row *row) {
  smma_row placed = *row;
  placed.d = 0;
  for (int k = 0; k < s->instruction->k; k++) {
    placed.a[s->place[k]] = row->a[k];
    placed.b[s->place[k]] = row->b[k];
  }
  return placed;
}

bool smma_ask_subject(smma_subject *s, smma_row *rows, size_t count) {
  smma_rows all;
  bool good;
  if (!smma_rows_allocate(s->instruction, count, &all)) return smma_no_memory(&s->error);
  for (size_t i = 0; i < count; i++) {
    const smma_row placed = smma_placed_row(s, &rows[i]);
    smma_rows_put(&all, i, &placed);
  }
  good = smma_unit_ask(s->unit, &all, 0, count, NULL, &s->error);
  for (size_t i = 0; good && i < count; i++) rows[i].d = smma_rows_result(&all, i);
  smma_rows_free(&all);
  s->rows += count;
  s->calls += count > 0;
  return good;
}
