/* The order in which a product with a plan is summed: calls of the instruction in chains, whose results are added. What
   is alike stands once in print, with how often it is there. */
#ifndef SMMA_TREE_PLANNED_H
#define SMMA_TREE_PLANNED_H

#include <stdio.h>

#include "plan/schedule.h"

typedef enum {
  SMMA_PLANNED_ZERO, /* +0 */
  SMMA_PLANNED_C,
  SMMA_PLANNED_CHAIN,  /* calls, each of which takes the result before; its child, if any, begins it */
  SMMA_PLANNED_SUM,    /* of its children in order: the first two, then that and the third, ... */
  SMMA_PLANNED_ROUNDED /* its child, to `stored` */
} smma_planned_kind;

#define SMMA_NO_NODE SIZE_MAX

typedef struct {
  smma_planned_kind kind;
  size_t child, last, next; /* the first and the last child, the next one of its parent; or SMMA_NO_NODE */
  size_t children, nodes;   /* nodes: at and below it, once the tree is made */
  size_t height;            /* sums one within another */
  size_t step, steps;       /* of a chain, in the schedule */
  smma_with with;           /* of a sum */
  int stored, total;        /* what its summands but the first, and its totals, are rounded to, or SMMA_STORED_AS_IS */
} smma_planned_node;

typedef struct {
  const smma_schedule *schedule;
  smma_planned_node *node;
  size_t count, root;
  size_t chains, additions;
} smma_planned_tree;

/* Of a schedule, which must stay as it is. False without memory. */
bool smma_planned_tree_make(const smma_schedule *schedule, bool starts_from_c, smma_planned_tree *tree);
void smma_planned_tree_free(smma_planned_tree *tree);

/* Products of a call. */
size_t smma_products_of_call(const smma_schedule *schedule, size_t step);

/* A line of the drawing: below another one, or SMMA_NO_NODE for the root. */
typedef struct {
  size_t parent;
  smma_planned_kind kind;
  char text[240];
} smma_planned_line;

/* The drawing, which the caller frees; NULL without memory. */
smma_planned_line *smma_planned_lines(const smma_planned_tree *tree, size_t *count);

void smma_print_planned_lines(FILE *stream, const smma_planned_line *line, size_t count);

/* For Graphviz. */
void smma_write_planned_graph(FILE *stream, const smma_planned_line *line, size_t count, const char *title,
                              const char *words);

#endif
