/* Describes a summation tree in one sentence, such as "a chain of 2 fused sums of 16 products". */
#include <string.h>

#include "tree/text.h"

#define AND_SO_ON ", and so on"

enum { WORDS = 256, MOST_RUNS = 4, NONE = -1, SEVERAL = -2 };

static const char *thing(const smma_tree *t) { return t->summands.products > 1 ? "scale block" : "product"; }

/* Writes a number of products: "8 products". */
static void count_things(const smma_tree *t, int count, char *text) {
  if (count == 1)
    snprintf(text, WORDS, "a %s", thing(t));
  else
    snprintf(text, WORDS, "%d %ss", count, thing(t));
}

const char *smma_sum_name(const smma_tree *t, int node, char text[48]) {
  int child[SMMA_MOST_SUMMANDS];
  const int bits = t->summands.huge - t->summands.one;
  int used;
  switch (smma_kind_of_sum(t, node)) {
    case SMMA_ADDITION: return "+";
    case SMMA_SUM_OF_BLOCKS: return "sum";
    default: break;
  }
  used = snprintf(text, 48, "fused sum of %d", smma_tree_children(t, node, child));
  if (t->exact[node]) snprintf(text + used, 48 - (size_t)used, ", exact over %d bits", bits);
  if (t->uneven[node]) snprintf(text + used, 48 - (size_t)used, ", terms not truncated alike");
  if (t->hidden[node]) snprintf(text + used, 48 - (size_t)used, ", perhaps in stages");
  return text;
}

static const char *sum_name(int terms) { return terms > 2 ? "fused sum" : "sum"; }

/* Returns the only child that is a sum, or NONE, or SEVERAL. Sets `*leaves` to the number of other children. */
static int inner_sum(const smma_tree *t, int node, int *leaves) {
  int child[SMMA_MOST_SUMMANDS], inner = NONE;
  const int count = smma_tree_children(t, node, child);
  *leaves = 0;
  for (int i = 0; i < count; i++) {
    if (smma_tree_is_leaf(t, child[i]))
      ++*leaves;
    else
      inner = inner == NONE ? child[i] : SEVERAL;
  }
  return inner;
}

/* Returns the number of sums of a chain without c, or 0 if the node is not a chain. In a chain each sum adds the same
   number of products, `*products`, to the previous result. The first sum consists of this number of products only, or
   of two if the other sums add single products. */
static int chain_length(const smma_tree *t, int node, int *products) {
  int length = 1, leaves, inner = inner_sum(t, node, products);
  for (; inner >= 0; length++) {
    inner = inner_sum(t, inner, &leaves);
    if (leaves != *products && (inner >= 0 || *products != 1 || leaves != 2)) return 0;
  }
  return inner == SEVERAL ? 0 : length;
}

/* Describes a chain: "a chain of 2 fused sums of 16 products", "a chain of 15 additions of 16 products". */
static void describe_chain(const smma_tree *t, int length, int products, char *text) {
  char terms[WORDS];
  count_things(t, products == 1 ? length + 1 : products, terms);
  snprintf(text, WORDS, "a chain of %d %ss of %.200s", length,
           products == 1 && t->summands.products == 1 ? "addition" : sum_name(products), terms);
}

static void describe_all(const smma_tree *t, const int *node, int count, char *text);

/* Describes one sum that does not contain c. */
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
    describe_chain(t, length, products, text);
    return;
  }
  describe_all(t, child, count, terms);
  snprintf(text, WORDS, "a %s of %.200s", sum_name(count), terms);
}

/* Describes several terms of a sum: "8 products", "2 terms, each a fused sum of 8 products". */
static void describe_all(const smma_tree *t, const int *node, int count, char *text) {
  char first[WORDS], other[WORDS];
  bool alike = true;
  int products = 0;
  for (int i = 0; i < count; i++) {
    describe(t, node[i], i == 0 ? first : other);
    alike &= i == 0 || strcmp(first, other) == 0;
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

/* Describes the sum that `below` is a term of, without `below`. Returns the kind of the sum. */
static smma_sum_kind describe_step(const smma_tree *t, int below, char *text) {
  int child[SMMA_MOST_SUMMANDS], other[SMMA_MOST_SUMMANDS], others = 0;
  const int sum = t->parent[below], count = smma_tree_children(t, sum, child);
  for (int i = 0; i < count; i++)
    if (child[i] != below) other[others++] = child[i];
  describe_all(t, other, others, text);
  return smma_kind_of_sum(t, sum);
}

/* Appends a run of steps. Returns false and leaves the text unchanged if there is no room for the run and AND_SO_ON. */
static bool append_run(char text[512], int steps, smma_sum_kind kind, const char *what) {
  static const char *const names[] = {"addition of", "fused sum with", "sum with"};
  static const char *const several[] = {"additions in a row, each of", "fused sums in a row, each with",
                                        "sums in a row, each with"};
  const size_t used = strlen(text), room = 512 - used - strlen(AND_SO_ON);
  int length;
  if (steps == 1)
    length = snprintf(text + used, room, ", one %s %s", names[kind], what);
  else
    length = snprintf(text + used, room, ", %d %s %s", steps, several[kind], what);
  if ((size_t)length < room) return true;
  text[used] = 0;
  return false;
}

const char *smma_tree_words(const smma_tree *t, char text[512]) {
  char words[WORDS], next[WORDS];
  int node = t->summands.count - 1, runs = 0;
  snprintf(text, 512, "starting with c");
  while (node != t->root) {
    const smma_sum_kind kind = describe_step(t, node, words);
    int steps = 1;
    for (node = t->parent[node]; node != t->root; node = t->parent[node], steps++)
      if (describe_step(t, node, next) != kind || strcmp(words, next) != 0) break;
    if (runs++ == MOST_RUNS || !append_run(text, steps, kind, words)) {
      strcat(text, AND_SO_ON);
      break;
    }
  }
  return text;
}
