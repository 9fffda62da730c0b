#include "tree/build.h"

typedef struct {
  smma_asker *asker;
  const smma_summands *summands;
} pairs;

static smma_tree_question pair_of(const smma_summands *m, int plus, int minus, int one) {
  smma_tree_question q =
      smma_pair_question(m, plus, minus, one == SMMA_ALL_OTHERS ? SMMA_SUMMAND_ONE : SMMA_SUMMAND_ZERO);
  if (one != SMMA_ALL_OTHERS) q.what[one] = SMMA_SUMMAND_ONE;
  return q;
}

static smma_tree_status ask_pairs(void *context, int plus, const int *minus, int count, int one, int *left) {
  const pairs *s = context;
  smma_tree_question q[SMMA_MOST_QUESTIONS] = {{.what = {SMMA_SUMMAND_ZERO}}};
  uint64_t d[SMMA_MOST_QUESTIONS];
  smma_tree_status status;
  for (int i = 0; i < count; i++) q[i] = pair_of(s->summands, plus, minus[i], one);
  status = smma_ask(s->asker, s->summands, q, (size_t)count, d);
  for (int i = 0; status == SMMA_TREE_FOUND && i < count; i++) {
    left[i] = smma_count_ones(s->summands, d[i]);
    if (left[i] < 0) return smma_refuse(s->asker, s->summands, &q[i]);
  }
  return status;
}

static smma_tree_status refuse_pair(void *context, int plus, int minus) {
  const pairs *s = context;
  const smma_tree_question q = pair_of(s->summands, plus, minus, SMMA_ALL_OTHERS);
  return smma_refuse(s->asker, s->summands, &q);
}

smma_tree_status smma_build_tree(smma_asker *asker, smma_tree *t) {
  pairs context = {asker, &t->summands};
  const smma_order_asker pair_asker = {&context, ask_pairs, refuse_pair};
  smma_sum_order order = smma_order_of(t);
  const smma_tree_status status = smma_find_order(&pair_asker, NULL, &order);
  t->nodes = order.nodes, t->root = order.root;
  return status;
}
