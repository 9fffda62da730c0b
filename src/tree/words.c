#include <string.h>

#include "tree/text.h"

enum { WORDS = 256, MOST_RUNS = 4 };

static const char *thing(const smma_tree *t) { return t->summands.products > 1 ? "scale block" : "product"; }

/* "8 products" */
static void count_things(const smma_tree *t, int count, char *text) {
  if (count == 1)
    snprintf(text, WORDS, "a %s", thing(t));
  else
    snprintf(text, WORDS, "%d %ss", count, thing(t));
}

const char *smma_fused_sum_name(const smma_tree *t, int node, char text[48]) {
  int child[SMMA_MOST_SUMMANDS];
  const int count = smma_tree_children(t, node, child), used = snprintf(text, 48, "fused sum of %d", count);
  if (t->exact[node])
    snprintf(text + used, 48 - (size_t)used, ", exact over %d bits", t->summands.huge - t->summands.one);
  return text;
}

static const char *sum_name(int terms) { return terms > 2 ? "fused sum" : "sum"; }

/* A chain of sums without c, each of the result before and as many products as the first has: how many; 0 if it is no
   chain. */
static int chain_length(const smma_tree *t, int node, int *products) {
  int child[SMMA_MOST_SUMMANDS], count = smma_tree_children(t, node, child), inner = -1, leaves = 0, length;
  for (int i = 0; i < count; i++) {
    if (smma_tree_is_leaf(t, child[i]))
      leaves++;
    else if (inner >= 0)
      return 0;
    else
      inner = child[i];
  }
  if (inner < 0) {
    *products = leaves;
    return 1;
  }
  length = chain_length(t, inner, products);
  return length && *products == leaves ? length + 1 : 0;
}

static void describe_all(const smma_tree *t, const int *node, int count, char *text);

/* What one sum is that c is not in. */
static void describe(const smma_tree *t, int node, char *text) {
  int child[SMMA_MOST_SUMMANDS], products, length = 0, count = 0;
  char terms[WORDS];
  if (smma_tree_is_leaf(t, node)) {
    count_things(t, 1, text);
    return;
  }
  count = smma_tree_children(t, node, child);
  length = chain_length(t, node, &products);
  if (length > 1) {
    count_things(t, products, terms);
    snprintf(text, WORDS, "a chain of %d %ss of %.200s", length, sum_name(count), terms);
    return;
  }
  describe_all(t, child, count, terms);
  snprintf(text, WORDS, "a %s of %.200s", sum_name(count), terms);
}

/* Several terms of a sum: "8 products", "2 terms, each a fused sum of 8 products". */
static void describe_all(const smma_tree *t, const int *node, int count, char *text) {
  char first[WORDS], other[WORDS];
  bool alike = true;
  int products = 0;
  describe(t, node[0], first);
  for (int i = 0; i < count; i++) {
    describe(t, node[i], other);
    alike &= strcmp(first, other) == 0;
    products += smma_tree_size(t, node[i]);
  }
  if (alike && smma_tree_is_leaf(t, node[0]))
    count_things(t, count, text);
  else if (alike && count == 1)
    snprintf(text, WORDS, "%s", first);
  else if (alike)
    snprintf(text, WORDS, "%d terms, each %.200s", count, first);
  else
    snprintf(text, WORDS, "%d terms with %d %ss among them", count, products, thing(t));
}

/* The sum that `below` goes into, without `below`. */
static bool describe_step(const smma_tree *t, int below, char *text) {
  int child[SMMA_MOST_SUMMANDS], other[SMMA_MOST_SUMMANDS], others = 0;
  const int count = smma_tree_children(t, t->parent[below], child);
  for (int i = 0; i < count; i++)
    if (child[i] != below) other[others++] = child[i];
  describe_all(t, other, others, text);
  return count > 2;
}

static void append_run(char text[512], int steps, bool fused, const char *what) {
  size_t used = strlen(text);
  const char *name = fused ? "fused sum" : "addition", *link = fused ? "with" : "of";
  if (steps == 1)
    snprintf(text + used, 512 - used, ", one %s %s %s", name, link, what);
  else
    snprintf(text + used, 512 - used, ", %d %ss in a row, each %s %s", steps, name, link, what);
}

const char *smma_tree_words(const smma_tree *t, char text[512]) {
  char words[WORDS], next[WORDS];
  int node = t->summands.count - 1, runs = 0;
  snprintf(text, 512, "starting with c");
  while (node != t->root) {
    const bool fused = describe_step(t, node, words);
    int steps = 1;
    for (node = t->parent[node]; node != t->root; node = t->parent[node], steps++)
      if (describe_step(t, node, next) != fused || strcmp(words, next) != 0) break;
    if (runs++ == MOST_RUNS) {
      const size_t used = strlen(text);
      snprintf(text + used, 512 - used, ", and so on");
      break;
    }
    append_run(text, steps, fused, words);
  }
  return text;
}
