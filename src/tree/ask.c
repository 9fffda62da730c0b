#include "tree/ask.h"

bool smma_ask(smma_asker *s, const smma_summands *m, const smma_tree_question *q, size_t count, uint64_t *d) {
  for (size_t i = 0; i < count; i++) {
    smma_summand what[SMMA_MOST_SUMMANDS];
    for (int n = 0; n < m->count; n++) what[n] = q[i].one[n] ? SMMA_SUMMAND_ONE : SMMA_SUMMAND_ZERO;
    what[q[i].plus] = SMMA_SUMMAND_HUGE;
    what[q[i].minus] = SMMA_SUMMAND_MINUS_HUGE;
    smma_put_summands(m, what, &s->rows, i);
  }
  if (!smma_unit_ask(s->unit, &s->rows, 0, count, NULL, s->error)) return false;
  for (size_t i = 0; i < count; i++) d[i] = smma_rows_result(&s->rows, i);
  return true;
}
