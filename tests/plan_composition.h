/* One element of a product with a plan, composed from calls of the instruction as docs/plans.md defines it:
   recursively, one level at a time, without the library's schedule. */
#ifndef SOFTMMA_TESTS_PLAN_COMPOSITION_H
#define SOFTMMA_TESTS_PLAN_COMPOSITION_H

#include "core/rule.h"
#include "plan/plan.h"

/* Operands of an element. a, b, c and scale factors of blocks are encodings; part_a and part_b are factors in FP32. */
typedef struct {
  const smma_plan *plan; /* a plan that the operation can follow with this K */
  smma_operation operation;
  size_t k;
  const uint64_t *a, *b, *scale_a, *scale_b;
  const float *part_a, *part_b;
  uint64_t c;
  float alpha, beta, bias, scale_d;
} plan_operands;

/* Returns D, in the plan's format. */
uint64_t compose_plan(const plan_operands *x);

#endif
