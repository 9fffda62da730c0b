/* The study behind `softmma tree`, as data: the order in which a unit sums the products of an instruction, or in
   which a plan sums the products of a matrix product. */
#ifndef SMMA_TREE_UNIT_ORDER_H
#define SMMA_TREE_UNIT_ORDER_H

#include "datum/datum.h"
#include "plan/plan.h"
#include "tree/find.h"
#include "tree/planned.h"

enum { SMMA_MOST_ORDER_K = 1 << 20 }; /* the greatest K of a product with a plan */

typedef struct {
  smma_unit *unit;
  const smma_instruction *instruction;
  const smma_plan *plan; /* NULL: the order within a single instruction */
  const char *plan_name; /* for messages and data */
  size_t k;              /* K of a product with a plan: 1 to SMMA_MOST_ORDER_K */
} smma_unit_order_request;

typedef struct {
  smma_tree tree; /* the order within one call of the instruction */
  /* The following members are set only with a plan: its calls and their order. Each call sums in the order of
     `tree`. */
  smma_schedule schedule;
  smma_planned_tree planned;
  smma_planned_line *line; /* the lines of the plan's drawing */
  size_t lines;            /* number of lines */
} smma_unit_order;

/* Finds the reduction order of the unit, and with a plan the order of its calls. Returns false with a one-line message
   if the plan is not defined for the request's K, the results do not determine an order, or the unit fails. Call
   smma_unit_order_free in both cases. */
bool smma_find_unit_order(const smma_unit_order_request *request, smma_unit_order *order, smma_error *error);
void smma_unit_order_free(smma_unit_order *order);

/* Describes the order: "starting with c, 2 fused sums in a row"; with a plan "512 calls in 64 chains, 63 additions;
   then an epilogue, 2 operations; D in bf16". Returns `text`. */
const char *smma_unit_order_words(const smma_unit_order_request *request, const smma_unit_order *order, char text[512]);

/* Returns the order as the record that --json prints. */
smma_datum *smma_unit_order_datum(const smma_unit_order_request *request, const smma_unit_order *order);

#endif
