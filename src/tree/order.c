#include "tree/order.h"

#include <stdlib.h>

/* A summand that is paired with a certain other summand: one of them is M and the other is -M. `vanishing` is the
   number of summands that do not reach d in this query: the pair and all lost ones. Partners with equal numbers are
   ordered by `rank`. */
typedef struct {
  int summand, rank, vanishing;
} partner;

/* The state of a search. `minus` and `left` have room for the questions of one call. */
typedef struct {
  const smma_order_asker *asker;
  smma_sum_order *order;
  int *minus, *left;
} search;

/* Runs queries in which the first partner is paired with each of the other partners. All remaining summands are
   ones. */
static smma_tree_status ask_partners(search *s, partner *p, int count) {
  smma_tree_status status;
  for (int i = 1; i < count; i++) s->minus[i - 1] = p[i].summand;
  status = s->asker->ask(s->asker->context, p[0].summand, s->minus, count - 1, SMMA_ALL_OTHERS, s->left);
  for (int i = 1; status == SMMA_TREE_FOUND && i < count; i++) p[i].vanishing = s->order->count - s->left[i - 1];
  return status;
}

static int compare_partners(const void *x, const void *y) {
  const partner *p = x, *q = y;
  return p->vanishing != q->vanishing ? p->vanishing - q->vanishing : p->rank - q->rank;
}

/* Moves the partners whose `vanishing` is at most `limit` to the front, and returns their number. */
static int gather(partner *p, int count, int limit) {
  int near = 0;
  for (int i = 0; i < count; i++)
    if (p[i].vanishing <= limit) {
      const partner moved = p[i];
      p[i] = p[near];
      p[near++] = moved;
    }
  return near;
}

static int group_length(const partner *p, int count) {
  int length = 1;
  while (length < count && p[length].vanishing == p[0].vanishing) length++;
  return length;
}

/* Reports whether a group of `length` partners, all with the same `vanishing`, can be the remaining terms of a sum
   whose first term has `size` summands. Either all terms vanish, or only the first term and the partner's own term. In
   the second case all these terms have the same size. */
static bool fits(int vanishing, int size, int length) { return vanishing > size && length % (vanishing - size) == 0; }

/* Sets `*same` to whether the group at p[size] belongs to the sum that p[0 .. size - 1] form so far. If not, it belongs
   to the next sum. If it does, that sum is exact, so a one at p[other], in a term other than p[0]'s, reaches d. */
static smma_tree_status belongs(search *s, const partner *p, int other, int size, int count, bool *same) {
  const int length = group_length(p + size, count - size), vanishing = p[size].vanishing;
  smma_tree_status status;
  int left = 0;
  *same = !fits(vanishing, size, length);
  if (*same || vanishing == size + length) return SMMA_TREE_FOUND; /* the next sum, because all vanish */
  status = s->asker->ask(s->asker->context, p[0].summand, &p[size].summand, 1, p[other].summand, &left);
  *same = left > 0;
  return status;
}

static smma_tree_status build(search *s, partner *p, int count, int *root);

/* Makes children of `sum` from partners that are first added to the other summands at this sum. Two partners in the
   same child are added to each other below the sum, so at most `limit` summands vanish when they are +M and -M.
   Partners in different children are added at the sum, so more vanish. */
static smma_tree_status attach(search *s, int sum, partner *p, int count, int limit) {
  while (count > 0) {
    int size = 1, child;
    smma_tree_status status = SMMA_TREE_FOUND;
    if (limit > 1 && count > 1) {
      status = ask_partners(s, p, count);
      size += gather(p + 1, count - 1, limit);
    }
    if (status == SMMA_TREE_FOUND) status = build(s, p, size, &child);
    if (status != SMMA_TREE_FOUND) return status;
    s->order->parent[child] = sum;
    p += size, count -= size;
  }
  return SMMA_TREE_FOUND;
}

/* Adds the group at p[*size] to a sum whose first term is p[0 .. child_size - 1]. Adds the group's length to
   `*size`. */
static smma_tree_status add_group(search *s, int sum, partner *p, int child_size, int *size, int count) {
  const int length = group_length(p + *size, count - *size), limit = p[*size].vanishing - child_size;
  if (!fits(p[*size].vanishing, child_size, length))
    return s->asker->refuse(s->asker->context, p[0].summand, p[*size].summand);
  s->order->exact[sum] |= limit < length || *size > child_size;
  *size += length;
  return attach(s, sum, p + *size - length, length, limit);
}

/* Builds the tree of `count` partners, which are all summands below one sum, from their members `vanishing`. Sets
   `*root` to this sum. Follows the path from the first partner upward. The number that vanishes in a sum is greater
   than the size of its first term, and at most the size of the sum. Groups of equal numbers therefore stand in order
   along the path. */
static smma_tree_status build(search *s, partner *p, int count, int *root) {
  smma_tree_status status = SMMA_TREE_FOUND;
  int size = 1; /* size of *root, which holds p[0 .. size - 1] */
  qsort(p + 1, (size_t)count - 1, sizeof *p, compare_partners);
  *root = p[0].summand;
  while (status == SMMA_TREE_FOUND && size < count) {
    const int child_size = size, sum = s->order->nodes++;
    bool same = true;
    s->order->parent[*root] = sum;
    *root = sum;
    while (status == SMMA_TREE_FOUND && size < count && same) {
      status = add_group(s, sum, p, child_size, &size, count);
      if (status == SMMA_TREE_FOUND && size < count) status = belongs(s, p, child_size, size, count, &same);
    }
  }
  return status;
}

static smma_tree_status find(search *s, const int *rank, partner *p) {
  smma_sum_order *o = s->order;
  smma_tree_status status;
  o->nodes = o->count;
  for (int i = 0; i < 2 * o->count - 1; i++) o->parent[i] = SMMA_NO_PARENT, o->exact[i] = false;
  for (int i = 0; i < o->count; i++) p[rank ? rank[i] : i] = (partner){i, rank ? rank[i] : i, 0};
  status = ask_partners(s, p, o->count);
  return status == SMMA_TREE_FOUND ? build(s, p, o->count, &o->root) : status;
}

smma_tree_status smma_find_order(const smma_order_asker *asker, const int *rank, smma_sum_order *o) {
  const size_t count = (size_t)o->count;
  int *room = malloc(2 * count * sizeof *room);
  partner *p = malloc(count * sizeof *p);
  search s = {asker, o, room, room ? room + count : NULL};
  const smma_tree_status status = room && p ? find(&s, rank, p) : SMMA_TREE_FAILED;
  free(room);
  free(p);
  return status;
}

/* ---- Evaluation of an order ---- */

void smma_read_order(const smma_sum_order *o, smma_order_entry *e) {
  int count = 0;
  for (int n = 0; n < o->nodes; n++) e[n].terms = 0;
  for (int n = 0; n < o->nodes; n++)
    if (n != o->root) e[o->parent[n]].terms++;
  for (int n = 0; n < o->count; n++) e[count++].sequence = n;
  for (int next = 0; next < count; next++) {
    const int above = o->parent[e[next].sequence];
    if (above != SMMA_NO_PARENT && --e[above].terms == 0) e[count++].sequence = above;
  }
}

static smma_sum_of_ones summand_of(smma_summand what) {
  return (smma_sum_of_ones){(what == SMMA_SUMMAND_HUGE) - (what == SMMA_SUMMAND_MINUS_HUGE), what == SMMA_SUMMAND_ONE};
}

/* Predicts d. A sum with M among its terms loses its ones, unless it is marked `exact` and the multiples of M cancel in
   it. */
smma_sum_of_ones smma_predict(const smma_sum_order *o, smma_order_entry *e, const smma_summand *what, int *greatest) {
  *greatest = 0;
  for (int n = 0; n < o->nodes; n++) {
    e[n].sum = n < o->count ? summand_of(what[n]) : (smma_sum_of_ones){0, 0};
    e[n].has_huge_term = false;
  }
  for (int i = 0; i < o->nodes; i++) {
    const int node = e[i].sequence, above = o->parent[node];
    smma_sum_of_ones *s = &e[node].sum;
    if (s->huge || (e[node].has_huge_term && !o->exact[node])) s->ones = 0;
    if (abs(s->huge) > *greatest) *greatest = abs(s->huge);
    if (above == SMMA_NO_PARENT) break;
    e[above].sum.huge += s->huge, e[above].sum.ones += s->ones;
    e[above].has_huge_term |= s->huge != 0;
  }
  return e[o->root].sum;
}
