#include "tree/tree.h"

smma_sum_order smma_order_of(smma_tree *t) {
  return (smma_sum_order){t->summands.count, t->nodes, t->root, t->parent, t->exact};
}

bool smma_tree_is_leaf(const smma_tree *t, int node) { return node < t->summands.count; }

smma_sum_kind smma_kind_of_sum(const smma_tree *t, int node) {
  int terms = 0;
  for (int n = 0; n < t->nodes; n++) terms += t->parent[n] == node;
  if (terms > 2) return SMMA_FUSED_SUM;
  return t->summands.products > 1 ? SMMA_SUM_OF_BLOCKS : SMMA_ADDITION;
}

int smma_tree_size(const smma_tree *t, int node) {
  int size = 0;
  for (int n = 0; n < t->summands.count; n++) {
    int above = n;
    while (above != node && above != SMMA_NO_PARENT) above = t->parent[above];
    size += above == node;
  }
  return size;
}

/* Goes through the summands, c first; each summand below the node is a child or lies below a child. */
int smma_tree_children(const smma_tree *t, int node, int child[SMMA_MOST_SUMMANDS]) {
  const int c = t->summands.count - 1;
  bool listed[SMMA_MOST_TREE_NODES] = {false};
  int count = 0;
  for (int i = -1; i < c; i++) {
    int n = i < 0 ? c : i;
    if (n == node) continue;
    while (t->parent[n] != node && t->parent[n] != SMMA_NO_PARENT) n = t->parent[n];
    if (t->parent[n] != node || listed[n]) continue;
    listed[n] = true;
    child[count++] = n;
  }
  return count;
}

static bool same_sums(const smma_tree *x, int of_x, const smma_tree *y, int of_y) {
  int child_x[SMMA_MOST_SUMMANDS], child_y[SMMA_MOST_SUMMANDS];
  const int count = smma_tree_children(x, of_x, child_x);
  if (smma_tree_is_leaf(x, of_x) || smma_tree_is_leaf(y, of_y)) return of_x == of_y;
  if (smma_tree_children(y, of_y, child_y) != count) return false;
  for (int i = 0; i < count; i++)
    if (!same_sums(x, child_x[i], y, child_y[i])) return false;
  return true;
}

bool smma_same_order(const smma_tree *x, const smma_tree *y) { return same_sums(x, x->root, y, y->root); }
