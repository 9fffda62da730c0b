#include "tree/build.h"

#include <stdlib.h>

/* A summand, and how many vanish when it is set against another one: both, and all ones that are lost. */
typedef struct {
  int summand, vanishing;
} partner;

typedef struct {
  smma_asker *asker;
  smma_tree *tree;
} search;

static smma_tree_status ask(search *s, const smma_tree_question *q, size_t count, int *ones) {
  uint64_t d[SMMA_MOST_QUESTIONS];
  const smma_summands *m = &s->tree->summands;
  const smma_tree_status status = smma_ask(s->asker, m, q, count, d);
  for (size_t i = 0; status == SMMA_TREE_FOUND && i < count; i++) {
    ones[i] = smma_count_ones(m, d[i]);
    if (ones[i] < 0) return smma_refuse(s->asker, m, &q[i]);
  }
  return status;
}

/* The first of the partners against each of the others, with ones everywhere else. */
static smma_tree_status ask_partners(search *s, partner *p, int count) {
  const smma_summands *m = &s->tree->summands;
  smma_tree_question q[SMMA_MOST_QUESTIONS] = {{.what = {SMMA_SUMMAND_ZERO}}};
  int ones[SMMA_MOST_QUESTIONS];
  smma_tree_status status;
  for (int i = 1; i < count; i++) q[i - 1] = smma_pair_question(m, p[0].summand, p[i].summand, SMMA_SUMMAND_ONE);
  status = ask(s, q, (size_t)count - 1, ones);
  for (int i = 1; status == SMMA_TREE_FOUND && i < count; i++) p[i].vanishing = m->count - ones[i - 1];
  return status;
}

static int compare_partners(const void *x, const void *y) {
  const partner *p = x, *q = y;
  return p->vanishing != q->vanishing ? p->vanishing - q->vanishing : p->summand - q->summand;
}

/* Moves the partners with which at most `limit` summands vanish to the front; returns their number. */
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

/* Whether a group of `length` partners, with each of which `vanishing` summands vanish, can be the further terms of a
   sum that has `size` summands in one: all of them vanish, or those of that term and of one other, which have all the
   same size. */
static bool fits(int vanishing, int size, int length) { return vanishing > size && length % (vanishing - size) == 0; }

/* Whether the group at p[size] meets p[0] in the sum that p[0 .. size - 1] is so far, else in the next. In the same,
   which is exact then, a one at p[other], in another term than p[0], comes through. */
static smma_tree_status belongs(search *s, const partner *p, int other, int size, int count, bool *same) {
  const int length = group_length(p + size, count - size), vanishing = p[size].vanishing;
  smma_tree_question q = smma_pair_question(&s->tree->summands, p[0].summand, p[size].summand, SMMA_SUMMAND_ZERO);
  smma_tree_status status;
  int ones = 0;
  *same = !fits(vanishing, size, length);
  if (*same || vanishing == size + length) return SMMA_TREE_FOUND; /* the next, where all vanish */
  q.what[p[other].summand] = SMMA_SUMMAND_ONE;
  status = ask(s, &q, 1, &ones);
  *same = ones > 0;
  return status;
}

static smma_tree_status build(search *s, partner *p, int count, int *root);

/* Makes children of `sum` of partners that meet the same other summands at that sum. Two of a child meet below it, so
   that no more than `limit` vanish; two of different children meet at the sum. */
static smma_tree_status attach(search *s, int sum, partner *p, int count, int limit) {
  while (count > 0) {
    int size = 1, child;
    smma_tree_status status = SMMA_TREE_FOUND;
    if (limit > 1) {
      status = ask_partners(s, p, count);
      size += gather(p + 1, count - 1, limit);
    }
    if (status == SMMA_TREE_FOUND) status = build(s, p, size, &child);
    if (status != SMMA_TREE_FOUND) return status;
    s->tree->parent[child] = sum;
    p += size, count -= size;
  }
  return SMMA_TREE_FOUND;
}

/* Adds the group at p[*size] to a sum that has p[0 .. child_size - 1] as its first term. */
static smma_tree_status add_group(search *s, int sum, partner *p, int child_size, int *size, int count) {
  const int length = group_length(p + *size, count - *size), limit = p[*size].vanishing - child_size;
  if (!fits(p[*size].vanishing, child_size, length)) {
    const smma_tree_question q =
        smma_pair_question(&s->tree->summands, p[0].summand, p[*size].summand, SMMA_SUMMAND_ONE);
    return smma_refuse(s->asker, &s->tree->summands, &q);
  }
  s->tree->exact[sum] |= limit < length || *size > child_size;
  *size += length;
  return attach(s, sum, p + *size - length, length, limit);
}

/* The tree of `count` partners, all that is below one sum, from what vanishes with the first of them: the path from it
   upwards. What vanishes in a sum is more than its first term holds and no more than it holds itself, so groups of the
   same number stand in order along the path. */
static smma_tree_status build(search *s, partner *p, int count, int *root) {
  smma_tree_status status = SMMA_TREE_FOUND;
  int size = 1; /* of *root, p[0 .. size - 1] */
  qsort(p + 1, (size_t)count - 1, sizeof *p, compare_partners);
  *root = p[0].summand;
  while (status == SMMA_TREE_FOUND && size < count) {
    const int child_size = size, sum = s->tree->nodes++;
    bool same = true;
    s->tree->parent[*root] = sum;
    *root = sum;
    while (status == SMMA_TREE_FOUND && size < count && same) {
      status = add_group(s, sum, p, child_size, &size, count);
      if (status == SMMA_TREE_FOUND && size < count) status = belongs(s, p, child_size, size, count, &same);
    }
  }
  return status;
}

smma_tree_status smma_build_tree(smma_asker *asker, smma_tree *t) {
  search s = {asker, t};
  partner p[SMMA_MOST_SUMMANDS];
  smma_tree_status status;
  t->nodes = t->summands.count;
  for (int i = 0; i < SMMA_MOST_TREE_NODES; i++) t->parent[i] = SMMA_NO_PARENT, t->exact[i] = false;
  for (int i = 0; i < t->summands.count; i++) p[i] = (partner){i, 0};
  status = ask_partners(&s, p, t->summands.count);
  if (status == SMMA_TREE_FOUND) status = build(&s, p, t->summands.count, &t->root);
  return status;
}
