/* A unit that computes one element of D as a target with a plan does. A test vector gives a few of its products. */
#ifndef SMMA_EQUAL_PLANNED_UNIT_H
#define SMMA_EQUAL_PLANNED_UNIT_H

#include "equal/planned.h"
#include "plan/element.h"

/* Operands of a plan other than A, B and C, in f32. */
typedef struct {
  uint32_t alpha, beta, bias, scale_d, part_a, part_b;
} smma_planned_factors;

typedef struct {
  smma_unit unit;
  const smma_instruction *as;
  smma_operation operation; /* c has d's format */
  const smma_plan *plan;
  smma_schedule schedule; /* the steps that matter; its k are indices of the vector's products */
  bool takes_c, starts_from_c;
  smma_planned_factors factors;
  uint32_t *part[2]; /* scale factors of the plan's parts */
  size_t part_k;
  size_t block[SMMA_MAXIMUM_ROUNDED_K]; /* for each scale factor of the vector, its block in the product */
} smma_planned_unit;

/* Opens a unit for vectors of `as`; their product i is the whole product's at place[i]. c is used only if `takes_c`.
   Copies `schedule`; the other arguments must outlive the unit. */
bool smma_planned_open(smma_planned_unit *unit, const smma_planned *target, const smma_plan *plan,
                       const smma_schedule *schedule, size_t k, const smma_instruction *as, const size_t *place,
                       bool takes_c, const smma_planned_factors *factors, smma_error *error);
void smma_planned_close(smma_planned_unit *unit);

#endif
