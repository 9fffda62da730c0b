#include "expected_tree.h"

#include <stdio.h>

#include "isa/catalogue.h"
#include "tree/text.h"

enum { NOTHING = -1 };

static bool is_below(const smma_tree *t, int node, int sum) {
  while (node != SMMA_NO_PARENT && node != sum) node = t->parent[node];
  return node == sum;
}

static int count_terms(const smma_tree *t, int sum) {
  int count = 0;
  for (int n = 0; n < t->nodes; n++) count += t->parent[n] == sum;
  return count;
}

static bool same_summands(const smma_tree *x, int sum_x, const smma_tree *y, int sum_y) {
  for (int n = 0; n < x->summands.count; n++)
    if (is_below(x, n, sum_x) != is_below(y, n, sum_y)) return false;
  return true;
}

bool same_trees(const smma_tree *x, const smma_tree *y) {
  if (x->nodes != y->nodes || x->summands.count != y->summands.count) return false;
  for (int i = x->summands.count; i < x->nodes; i++) {
    int j = y->summands.count;
    while (j < y->nodes && !same_summands(x, i, y, j)) j++;
    if (j == y->nodes || (count_terms(x, i) > 2 && x->exact[i] != y->exact[j])) return false;
  }
  return true;
}

void print_difference(const smma_instruction *i, const smma_tree *expected, const smma_tree *got) {
  printf("%s: expected\n", i->name);
  smma_print_tree(stdout, expected);
  printf("got\n");
  smma_print_tree(stdout, got);
}

/* ---- The tree of an algorithm ---- */

/* A tree under construction. `of` holds the summand for each k and for c. It is NOTHING for a k whose product belongs
   to the summand of another k. */
typedef struct {
  smma_tree *tree;
  const smma_operation *operation;
  int of[SMMA_MAXIMUM_K + 1];
  bool stages; /* whether terms that are added first form a node of their own, although no pair of M shows it */
} builder;

static bool is_chain(const smma_operation *o, smma_g_fdpa *g) {
  return o->rule.algorithm == SMMA_COMPOSITION && smma_is_g_fdpa(&o->rule.with.composition, o->k, o->d, g);
}

/* Returns the summand of product number i of a block. */
static int product_of(const builder *b, int block, int i) {
  const smma_operation *o = b->operation;
  smma_g_fdpa g;
  return b
      ->of[is_chain(o, &g) ? smma_dealt_index(g.block, g.interleave, o->k, block, i) : smma_product_index(o, block, i)];
}

/* Adds the terms that are not NOTHING. Returns the new node. If there is only one such term, returns it; if there is
   none, returns NOTHING. */
static int sum_of(builder *b, const int *term, int count) {
  smma_tree *t = b->tree;
  int present = 0, only = NOTHING;
  for (int i = 0; i < count; i++)
    if (term[i] != NOTHING) present++, only = term[i];
  if (present < 2) return only;
  for (int i = 0; i < count; i++)
    if (term[i] != NOTHING) t->parent[term[i]] = t->nodes;
  t->parent[t->nodes] = SMMA_NO_PARENT;
  return t->nodes++;
}

static int sum_of_two(builder *b, int x, int y) { return sum_of(b, (int[]){x, y}, 2); }

/* Adds `before` and every `step`-th product of a block, from number `from` to size - 1. */
static int fused_sum(builder *b, int before, int block, int from, int size, int step) {
  int term[SMMA_MAXIMUM_K + 1] = {before}, count = 1;
  for (int i = from; i < size; i += step) term[count++] = product_of(b, block, i);
  return sum_of(b, term, count);
}

/* Adds `before` and the sums of the groups of a block's products. A group size of 0 means no groups (C-FDPA). */
static int sum_of_groups(builder *b, int before, int block, int size, int group) {
  int term[SMMA_MAXIMUM_K + 1] = {before}, count = 1;
  if (group <= 1 || !b->stages) return fused_sum(b, before, block, 0, size, 1);
  for (int from = 0; from < size; from += group) term[count++] = fused_sum(b, NOTHING, block, from, from + group, 1);
  return sum_of(b, term, count);
}

static int pairwise_sum(builder *b, int from, int count) {
  if (count == 1) return b->of[from];
  return sum_of_two(b, pairwise_sum(b, from, count / 2), pairwise_sum(b, from + count / 2, count / 2));
}

/* Reports whether a fused sum retains terms that are smaller than the largest term by this number of bits. If so, the
   sum shows no inner order. */
static bool keeps(const smma_operation *o, int bits) {
  smma_g_fdpa g;
  switch (o->rule.algorithm) {
    case SMMA_E_FDPA: return true;
    case SMMA_COMPOSITION: return is_chain(o, &g) && g.alignment_bits + g.sticky_bit >= bits;
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA: return o->rule.with.c_fdpa.alignment_bits >= bits;
    case SMMA_GST_FDPA: return o->rule.with.gst_fdpa.fused.alignment_bits >= bits;
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_FP8_BY_FP16: return o->rule.with.t_fdpa.alignment_bits >= bits;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA: return o->rule.with.tr_fdpa.alignment_bits >= bits;
    default: return false;
  }
}

/* Reports whether products this much smaller than c are truncated, but not products this much smaller than other
   products. */
static bool cuts_beside_c(const smma_operation *o, int bits) {
  const smma_algorithm algorithm = o->rule.algorithm;
  if (algorithm != SMMA_C_FDPA && algorithm != SMMA_GD_FDPA) return false;
  return keeps(o, bits) && o->rule.with.c_fdpa.c_bits < bits;
}

/* Reports whether the alignment of products to c never shows in d. In the alignment, c's exponent is reduced by c_bits
   - alignment_bits. If that is more than d's fraction bits, products are aligned to c only if c is so large that they
   do not show in d. */
static bool counts_for_nothing(const smma_operation *o) {
  const smma_algorithm algorithm = o->rule.algorithm;
  if (algorithm != SMMA_C_FDPA && algorithm != SMMA_GD_FDPA) return false;
  return o->rule.with.c_fdpa.c_bits - o->rule.with.c_fdpa.alignment_bits > smma_encoding_of(o->d).fraction_bits;
}

/* Adds block number `block` to `before`. */
static int add_block(builder *b, int before, int block, int size) {
  const smma_summands *m = &b->tree->summands;
  const bool exact = keeps(b->operation, m->huge - m->one);
  smma_g_fdpa g;
  if (cuts_beside_c(b->operation, m->huge - m->one))
    return sum_of_two(b, before, fused_sum(b, NOTHING, block, 0, size, 1));
  if (b->stages && counts_for_nothing(b->operation))
    return sum_of_two(b, before, sum_of_groups(b, NOTHING, block, size, b->operation->rule.with.c_fdpa.group));
  switch (exact || is_chain(b->operation, &g) ? SMMA_E_FDPA : b->operation->rule.algorithm) {
    case SMMA_FTZ_FMA: return sum_of_two(b, before, b->of[b->operation->k - 1 - block]);
    case SMMA_FTZ_ADDMUL: return sum_of_two(b, before, pairwise_sum(b, block * size, size));
    case SMMA_TR_FDPA: return sum_of_two(b, before, fused_sum(b, NOTHING, block, 0, size, 1));
    case SMMA_GTR_FDPA: {
      const int even = fused_sum(b, NOTHING, block, 0, size, 2), odd = fused_sum(b, NOTHING, block, 1, size, 2);
      if (!b->stages) return sum_of(b, (int[]){before, even, odd}, 3);
      return sum_of_two(b, before, sum_of_two(b, even, odd));
    }
    case SMMA_GD_FDPA: return sum_of_groups(b, before, block, size, b->operation->rule.with.c_fdpa.group);
    default: return fused_sum(b, before, block, 0, size, 1);
  }
}

/* ---- The tree of a composition that is not one chain ---- */

/* Returns node j of a group: the nodes of the group's window are dealt in turn. */
static int dealt(const smma_step *s, int window, int group, int j) {
  const int groups = s->window / s->take;
  return window * s->window + (j / s->turn * groups + group) * s->turn + j % s->turn;
}

/* Adds the nodes of a group, and the accumulator if there is one. */
static int group_sum(builder *b, const smma_step *s, const int *node, int group, int accumulator) {
  const int groups = s->window / s->take;
  int term[SMMA_MAXIMUM_K + 1] = {accumulator}, sum;
  for (int j = 0; j < s->take; j++) term[1 + j] = node[dealt(s, group / groups, group % groups, j)];
  sum = sum_of(b, term, 1 + s->take);
  if (sum >= b->tree->summands.count)
    b->tree->exact[sum] = s->term.bits == SMMA_EXACT_ALIGNMENT || s->reference != SMMA_NONE ||
                          s->term.bits - s->term.again >= b->tree->summands.huge - b->tree->summands.one;
  return sum;
}

/* Replaces the nodes by the sums of a step whose `join` is not a tree. Returns the new number of nodes. */
static int add_step(builder *b, const smma_step *s, int *node, int count, int c) {
  const int groups = count / s->take, stride = s->stride;
  int sum[SMMA_MAXIMUM_K];
  if (s->join == SMMA_JOIN_APART)
    for (int g = 0; g < groups; g++) sum[g] = group_sum(b, s, node, g, NOTHING);
  else {
    for (int chain = 0; chain < s->chains; chain++) sum[chain] = NOTHING;
    if (s->start == SMMA_START_C) sum[0] = c;
    for (int i = 0; i < groups; i++) {
      const int place = i % (groups / stride) * stride + i / (groups / stride);
      const int group = s->descending ? groups - 1 - place : place;
      sum[i % s->chains] = group_sum(b, s, node, group, sum[i % s->chains]);
    }
  }
  count = s->join == SMMA_JOIN_APART ? groups : s->chains;
  for (int n = 0; n < count; n++) node[n] = sum[n];
  return count;
}

/* Reports whether the rule is a composition that is not one chain of fused sums. */
static bool has_steps(const smma_operation *o) {
  smma_g_fdpa g;
  return o->rule.algorithm == SMMA_COMPOSITION && !is_chain(o, &g);
}

static int sum_of_steps(builder *b, int c) {
  const smma_composition *p = &b->operation->rule.with.composition;
  int node[SMMA_MAXIMUM_K], count = smma_product_nodes(p, b->operation->k);
  for (int i = 0; i < count; i++) /* the summands are powers of two, whose later slices are zero */
    node[i] = i < b->operation->k ? b->of[i] : NOTHING;
  for (const smma_step *s = p->step; s < p->step + p->steps; s++) count = add_step(b, s, node, count, c);
  return node[0];
}

static bool c_is_last(const smma_operation *o) {
  smma_g_fdpa g;
  return o->rule.algorithm == SMMA_FP8_BY_FP16 || (is_chain(o, &g) && g.c_joins == SMMA_C_JOINS_LAST);
}

static void expect(const smma_instruction *i, const smma_summands *summands, const int *product, bool stages,
                   smma_tree *t) {
  const smma_operation o = smma_operation_of(i);
  smma_g_fdpa g;
  const int size = o.rule.algorithm == SMMA_GST_FDPA ? o.k : is_chain(&o, &g) ? g.block : smma_block_of(&o);
  const int c = summands->count - 1;
  builder b = {.tree = t, .operation = &o, .stages = stages};
  int sum = c_is_last(&o) ? NOTHING : c;
  *t = (smma_tree){.summands = *summands, .nodes = summands->count};
  for (int n = 0; n < SMMA_MOST_TREE_NODES; n++) t->parent[n] = SMMA_NO_PARENT;
  for (int k = 0; k < o.k; k++) b.of[k] = NOTHING;
  for (int n = 0; n < c; n++) b.of[n * summands->products + (product ? product[n] : 0)] = n;
  if (has_steps(&o)) {
    t->root = sum_of_steps(&b, c);
    return;
  }
  for (int block = 0; block < o.k / size; block++) sum = add_block(&b, sum, block, size);
  for (int n = summands->count; n < t->nodes; n++) t->exact[n] = keeps(&o, summands->huge - summands->one);
  t->root = c_is_last(&o) ? sum_of_two(&b, sum, c) : sum;
}

/* Reports whether y has a sum of the same summands as sum `sum` of x. */
static bool has_sum(const smma_tree *x, int sum, const smma_tree *y) {
  int j = y->summands.count;
  while (j < y->nodes && !(same_summands(x, sum, y, j) && (count_terms(y, j) <= 2 || x->exact[sum] == y->exact[j])))
    j++;
  return j < y->nodes;
}

bool is_expected_tree(const smma_instruction *i, const int *product, const smma_tree *got, bool *stages) {
  smma_tree staged, plain;
  bool good = true;
  expect(i, &got->summands, product, true, &staged);
  expect(i, &got->summands, product, false, &plain);
  for (int n = got->summands.count; n < got->nodes; n++) good &= has_sum(got, n, &staged) || has_sum(got, n, &plain);
  for (int n = plain.summands.count; n < plain.nodes; n++)
    good &= !has_sum(&plain, n, &staged) || has_sum(&plain, n, got);
  *stages = same_trees(&staged, got);
  if (!good) print_difference(i, &staged, got);
  return good;
}
