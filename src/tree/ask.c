#include "tree/ask.h"

smma_tree_status smma_ask(smma_asker *s, const smma_summands *m, const smma_tree_question *q, size_t count,
                          uint64_t *d) {
  for (size_t i = 0; i < count; i++) smma_put_summands(m, &q[i], &s->rows, i);
  s->asked += count;
  s->calls++;
  if (!smma_unit_ask(s->unit, &s->rows, 0, count, NULL, s->error)) return SMMA_TREE_FAILED;
  for (size_t i = 0; i < count; i++) d[i] = smma_rows_result(&s->rows, i);
  return SMMA_TREE_FOUND;
}

smma_tree_status smma_refuse(smma_asker *s, const smma_summands *m, const smma_tree_question *q) {
  char text[256];
  smma_fail(s->error,
            "no order of additions gives the result with %s, unless a large number absorbs a part of a small one",
            smma_question_text(m, q, text));
  return SMMA_TREE_HIDDEN;
}
