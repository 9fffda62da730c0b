/* The summation order of a product with a plan: calls of the instruction in chains, and additions of the chains'
   results. The drawing shows equal subtrees once, with their number. */
#ifndef SMMA_TREE_PLANNED_H
#define SMMA_TREE_PLANNED_H

#include <stdio.h>

#include "plan/schedule.h"

typedef enum {
  SMMA_PLANNED_ZERO, /* +0 */
  SMMA_PLANNED_C,
  SMMA_PLANNED_CHAIN,  /* calls in sequence, each starting from the previous result; the first call starts from the
                          child, if there is one */
  SMMA_PLANNED_SUM,    /* adds its children in order: the first two, then their sum and the third, ... */
  SMMA_PLANNED_ROUNDED /* rounds its child to `stored` */
} smma_planned_kind;

#define SMMA_NO_NODE SIZE_MAX

typedef struct {
  smma_planned_kind kind;
  size_t child, last, next; /* the first child, the last child, and the next sibling; or SMMA_NO_NODE */
  size_t children;          /* number of children */
  size_t nodes;             /* number of nodes of the subtree, set once the tree is complete */
  size_t height;            /* nesting depth of sums in the subtree */
  size_t step, steps;       /* of a chain: index of its first step in the schedule, and number of its steps */
  smma_with with;           /* of a sum: how it adds its children */
  int stored; /* of a sum: format to which its children, except the first, are rounded, or SMMA_STORED_AS_IS; of a
                 rounding: its format */
  int total;  /* of a sum: format to which each total is rounded, or SMMA_STORED_AS_IS */
} smma_planned_node;

typedef struct {
  const smma_schedule *schedule;
  smma_planned_node *node;
  size_t count, root;       /* number of nodes; index of the node whose value is d */
  size_t chains, additions; /* numbers of chains, and of additions of their results */
} smma_planned_tree;

/* Makes the tree of a schedule, which must not change while the tree is in use. With `starts_from_c`, the first chain
   starts from c. Returns false if memory runs out. */
bool smma_planned_tree_make(const smma_schedule *schedule, bool starts_from_c, smma_planned_tree *tree);
void smma_planned_tree_free(smma_planned_tree *tree);

/* Returns the number of products that the call in `step` adds; it is less than the instruction's K if operands are
   padded with zeros. */
size_t smma_products_of_call(const smma_schedule *schedule, size_t step);

/* One line of the drawing: a node, or several equal siblings. */
typedef struct {
  size_t parent; /* index of the line of the parent node, or SMMA_NO_NODE for the root */
  smma_planned_kind kind;
  char text[240];
} smma_planned_line;

/* Returns the lines of the drawing, which the caller frees, and sets `*count` to their number. Returns NULL if memory
   runs out. */
smma_planned_line *smma_planned_lines(const smma_planned_tree *tree, size_t *count);

void smma_print_planned_lines(FILE *stream, const smma_planned_line *line, size_t count);

/* Writes the drawing as a graph for Graphviz. Its heading has `title` and, in smaller print, `words`. */
void smma_write_planned_graph(FILE *stream, const smma_planned_line *line, size_t count, const char *title,
                              const char *words);

#endif
