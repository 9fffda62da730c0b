#include "tree/text.h"

#include <string.h>

enum { MOST_DEPTH = SMMA_MOST_SUMMANDS };

/* Prints `count` products, with ranges for adjacent ones: "0..7", "0, 2, 4". */
static void print_products(FILE *stream, const int *child, int count) {
  for (int i = 0, length; i < count; i += length) {
    for (length = 1; i + length < count && child[i + length] == child[i] + length;) length++;
    if (length == 2) length = 1;
    fprintf(stream, "%s%d", i ? ", " : "", child[i]);
    if (length > 1) fprintf(stream, "..%d", child[i + length - 1]);
  }
}

static void print_node(FILE *stream, const smma_tree *t, int node, char *prefix);

/* Prints the children of a sum, one line each; its single products share the last line. `prefix` is the beginning of
   the lines. */
static void print_children(FILE *stream, const smma_tree *t, int node, char *prefix) {
  int child[SMMA_MOST_SUMMANDS], product[SMMA_MOST_SUMMANDS], products = 0, lines = 0;
  const int count = smma_tree_children(t, node, child);
  const size_t depth = strlen(prefix);
  for (int i = 0; i < count; i++) {
    if (t->summands.products == 1 && child[i] < t->summands.count - 1)
      product[products++] = child[i];
    else
      child[lines++] = child[i];
  }
  for (int i = 0; i < lines; i++) {
    const bool last = i == lines - 1 && products == 0;
    fprintf(stream, "%s%s", prefix, last ? "`- " : "|- ");
    strcpy(prefix + depth, last ? "   " : "|  ");
    print_node(stream, t, child[i], prefix);
    prefix[depth] = 0;
  }
  if (products == 0) return;
  fprintf(stream, "%s`- k = ", prefix);
  print_products(stream, product, products);
  fputc('\n', stream);
}

static void print_node(FILE *stream, const smma_tree *t, int node, char *prefix) {
  char name[48];
  fprintf(stream, "%s\n",
          smma_tree_is_leaf(t, node) ? smma_summand_name(&t->summands, node, name) : smma_sum_name(t, node, name));
  if (!smma_tree_is_leaf(t, node)) print_children(stream, t, node, prefix);
}

void smma_print_tree(FILE *stream, const smma_tree *t) {
  char prefix[4 + 3 * MOST_DEPTH + 1] = "    ";
  fputs("d = ", stream);
  print_node(stream, t, t->root, prefix);
}
