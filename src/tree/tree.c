#include "tree/tree.h"

#include <stdlib.h>

#include "tree/parts.h"

enum { CHECKS = SMMA_MOST_QUESTIONS };

/* A question, and the number of ones that came through. */
typedef struct {
  smma_tree_question what;
  int ones;
} answer;

/* A summand, and how many vanish when it is set against another one: both, and all ones that are lost. */
typedef struct {
  int summand, vanishing;
} partner;

typedef struct {
  smma_asker asker;
  smma_tree *tree;
  answer *asked; /* all pairs so far, to be explained by the tree */
  size_t asked_count;
} search;

/* ---- Asking ---- */

static smma_tree_status refuse(const search *s, const smma_tree_question *q) {
  char plus[32], minus[32];
  const smma_summands *m = &s->tree->summands;
  smma_fail(s->asker.error, "no order of additions gives the result with 2^%d at %s, -2^%d at %s and ones of %s2^%d",
            m->huge, smma_summand_name(m, q->plus, plus), m->huge, smma_summand_name(m, q->minus, minus),
            m->negative_ones ? "-" : "", m->one);
  return SMMA_TREE_HIDDEN;
}

static smma_tree_status ask(search *s, const smma_tree_question *q, size_t count, int *ones) {
  uint64_t d[SMMA_MOST_QUESTIONS];
  if (!smma_ask(&s->asker, &s->tree->summands, q, count, d)) return SMMA_TREE_FAILED;
  for (size_t i = 0; i < count; i++) {
    ones[i] = smma_count_ones(&s->tree->summands, d[i]);
    if (ones[i] < 0) return refuse(s, &q[i]);
  }
  return SMMA_TREE_FOUND;
}

/* The first of the partners against each of the others, with ones everywhere else. */
static smma_tree_status ask_partners(search *s, partner *p, int count) {
  smma_tree_question q[SMMA_MOST_QUESTIONS] = {{0}};
  int ones[SMMA_MOST_QUESTIONS];
  const size_t rows = (size_t)count - 1;
  smma_tree_status status;
  for (size_t i = 0; i < rows; i++) {
    q[i] = (smma_tree_question){.plus = p[0].summand, .minus = p[i + 1].summand};
    for (int n = 0; n < s->tree->summands.count; n++) q[i].one[n] = n != q[i].plus && n != q[i].minus;
  }
  s->tree->rows += rows;
  status = ask(s, q, rows, ones);
  for (size_t i = 0; status == SMMA_TREE_FOUND && i < rows; i++) {
    p[i + 1].vanishing = s->tree->summands.count - ones[i];
    s->asked[s->asked_count++] = (answer){q[i], ones[i]};
  }
  return status;
}

/* ---- Building ---- */

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
  smma_tree_question q = {.plus = p[0].summand, .minus = p[size].summand};
  smma_tree_status status;
  int ones = 0;
  *same = !fits(vanishing, size, length);
  if (*same || vanishing == size + length) return SMMA_TREE_FOUND; /* the next, where all vanish */
  q.one[p[other].summand] = true;
  s->tree->rows++;
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
    const smma_tree_question q = {.plus = p[0].summand, .minus = p[*size].summand};
    return refuse(s, &q);
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

/* ---- Checking ---- */

static bool is_below(const smma_tree *t, int node, int sum) {
  while (node != SMMA_NO_PARENT && node != sum) node = t->parent[node];
  return node == sum;
}

/* The child of `sum` that the node is, or is below. */
static int child_above(const smma_tree *t, int node, int sum) {
  while (t->parent[node] != sum) node = t->parent[node];
  return node;
}

static int predict(const smma_tree *t, const smma_tree_question *q) {
  int sum = q->plus, count = 0, x, y;
  while (!is_below(t, q->minus, sum)) sum = t->parent[sum];
  x = child_above(t, q->plus, sum), y = child_above(t, q->minus, sum);
  for (int n = 0; n < t->summands.count; n++)
    count += q->one[n] && (t->exact[sum] ? !is_below(t, n, x) && !is_below(t, n, y) : !is_below(t, n, sum));
  return count;
}

/* Numbers without a pattern: SplitMix64. */
static uint64_t next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* Two summands at random, and ones at half of the others: which ones come through, no longer only how many. */
static void choose_check(const smma_tree *t, uint64_t *state, smma_tree_question *q) {
  const unsigned count = (unsigned)t->summands.count;
  *q = (smma_tree_question){.plus = (int)(next(state) % count)};
  q->minus = (q->plus + 1 + (int)(next(state) % (count - 1))) % (int)count;
  for (unsigned n = 0; n < count; n++) q->one[n] = (int)n != q->plus && (int)n != q->minus && next(state) >> 63;
}

static smma_tree_status check(search *s) {
  smma_tree_question q[CHECKS];
  int ones[CHECKS];
  uint64_t state = 0;
  smma_tree_status status;
  for (size_t i = 0; i < s->asked_count; i++)
    if (predict(s->tree, &s->asked[i].what) != s->asked[i].ones) return refuse(s, &s->asked[i].what);
  for (int i = 0; i < CHECKS; i++) choose_check(s->tree, &state, &q[i]);
  s->tree->checks += CHECKS;
  status = ask(s, q, CHECKS, ones);
  for (int i = 0; status == SMMA_TREE_FOUND && i < CHECKS; i++)
    if (predict(s->tree, &q[i]) != ones[i]) status = refuse(s, &q[i]);
  return status;
}

/* ---- The whole ---- */

static smma_tree_status find(search *s) {
  smma_tree *t = s->tree;
  partner p[SMMA_MOST_SUMMANDS];
  smma_tree_status status;
  s->asked_count = 0;
  t->nodes = t->summands.count;
  for (int i = 0; i < SMMA_MOST_TREE_NODES; i++) t->parent[i] = SMMA_NO_PARENT, t->exact[i] = false;
  for (int i = 0; i < t->summands.count; i++) p[i] = (partner){i, 0};
  status = ask_partners(s, p, t->summands.count);
  if (status == SMMA_TREE_FOUND) status = build(s, p, t->summands.count, &t->root);
  if (status == SMMA_TREE_FOUND) status = check(s);
  if (status == SMMA_TREE_FOUND && !smma_find_parts(&s->asker, t)) status = SMMA_TREE_FAILED;
  return status;
}

smma_tree_status smma_find_tree(smma_unit *unit, const smma_instruction *i, smma_tree *t, smma_error *error) {
  smma_tree_status status = SMMA_TREE_FAILED;
  smma_error second;
  search s = {.asker = {.unit = unit, .error = error}, .tree = t};
  size_t pairs;
  *t = (smma_tree){.root = 0};
  if (!smma_choose_summands(i, &t->summands, error)) return SMMA_TREE_HIDDEN;
  pairs = (size_t)(t->summands.count * (t->summands.count - 1) / 2);
  s.asked = malloc(pairs * sizeof *s.asked);
  if (smma_rows_allocate(i, SMMA_MOST_QUESTIONS, &s.asker.rows) && s.asked) {
    status = find(&s);
    if (status == SMMA_TREE_HIDDEN) { /* ones that roundings up would turn into more are lost with the other sign */
      t->summands.negative_ones = true;
      s.asker.error = &second;
      status = find(&s);
      if (status == SMMA_TREE_FAILED) *error = second;
    }
  } else {
    smma_fail(error, "no memory for %zu rows of %s", pairs, i->name);
  }
  smma_rows_free(&s.asker.rows);
  free(s.asked);
  return status;
}

/* ---- Looking at it ---- */

bool smma_tree_is_leaf(const smma_tree *t, int node) { return node < t->summands.count; }

int smma_tree_size(const smma_tree *t, int node) {
  int size = 0;
  for (int n = 0; n < t->summands.count; n++) size += is_below(t, n, node);
  return size;
}

/* c, or the least k, at or below the node. */
static int first_summand(const smma_tree *t, int node) {
  const int c = t->summands.count - 1;
  int n = 0;
  if (is_below(t, c, node)) return -1;
  while (!is_below(t, n, node)) n++;
  return n;
}

int smma_tree_children(const smma_tree *t, int node, int child[SMMA_MOST_SUMMANDS]) {
  int count = 0;
  for (int n = 0; n < t->nodes; n++) {
    int place = count;
    if (t->parent[n] != node) continue;
    for (; place > 0 && first_summand(t, child[place - 1]) > first_summand(t, n); place--)
      child[place] = child[place - 1];
    child[place] = n;
    count++;
  }
  return count;
}
