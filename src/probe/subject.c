#include "probe/subject.h"

bool smma_ask_subject(smma_subject *s, smma_row *rows, size_t count) {
  smma_rows all;
  bool good;
  if (!smma_rows_allocate(s->instruction, count, &all)) return smma_fail(&s->error, "out of memory");
  for (size_t i = 0; i < count; i++) {
    rows[i].d = 0;
    smma_rows_put(&all, i, &rows[i]);
  }
  good = smma_unit_ask(s->unit, &all, 0, count, NULL, &s->error);
  for (size_t i = 0; good && i < count; i++) rows[i].d = smma_rows_result(&all, i);
  smma_rows_free(&all);
  s->rows += count;
  s->calls++;
  return good;
}
