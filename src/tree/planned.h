/* The summation order of a product with a plan: calls of the instruction in chains, and additions of the chains'
   results. In print, equal subtrees appear once, with their number. */
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
  size_t children, nodes;   /* nodes: size of the subtree, set once the tree is complete */
  size_t height;            /* nesting depth of sums */
  size_t step, steps;       /* of a chain: its first step in the schedule, and its number of steps */
  smma_with with;           /* of a sum: its operation */
  int stored, total; /* stored: format to which summands except the first are rounded; total: format to which totals are
                        rounded; or SMMA_STORED_AS_IS */
} smma_planned_node;

typedef struct {
  const smma_schedule *schedule;
  smma_planned_node *node;
  size_t count, root;
  size_t chains, additions;
} smma_planned_tree;

/* Makes the tree of a schedule, which must not change while the tree is in use. Returns false when memory runs out. */
bool smma_planned_tree_make(const smma_schedule *schedule, bool starts_from_c, smma_planned_tree *tree);
void smma_planned_tree_free(smma_planned_tree *tree);

/* Returns the number of products of a call. */
size_t smma_products_of_call(const smma_schedule *schedule, size_t step);

/* One line of the drawing. Its parent is another line, or SMMA_NO_NODE for the root. */
typedef struct {
  size_t parent;
  smma_planned_kind kind;
  char text[240];
} smma_planned_line;

/* Returns the lines of the drawing, which the caller frees; NULL when memory runs out. */
smma_planned_line *smma_planned_lines(const smma_planned_tree *tree, size_t *count);

void smma_print_planned_lines(FILE *stream, const smma_planned_line *line, size_t count);

/* Writes the graph for Graphviz. */
void smma_write_planned_graph(FILE *stream, const smma_planned_line *line, size_t count, const char *title,
                              const char *words);

#endif
