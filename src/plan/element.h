/* One element of a product with a plan, by the core: what plans mean. */
#ifndef SMMA_PLAN_ELEMENT_H
#define SMMA_PLAN_ELEMENT_H

#include "core/rule.h"
#include "plan/schedule.h"

/* An element's operands, all but scale factors of blocks by their k. Encodings but for a and b. */
typedef struct {
  smma_operation operation; /* c in D's format */
  const smma_schedule *schedule;
  const smma_number *a, *b;
  const smma_number *block_a, *block_b; /* scale factors of blocks, where the operation has them */
  const uint32_t *part_a, *part_b;      /* those of parts in f32, number k / part_k; or NULL */
  size_t part_k;
  uint64_t start; /* what C begins with, in the outer format */
} smma_plan_element;

/* Is told what is in a place of accumulators, behind so many steps; NULL: nothing is told. */
typedef void smma_plan_watch(void *context, size_t steps, int place, uint64_t value);

/* The sum, in the outer format. `registers`: schedule->registers values to work in. */
uint64_t smma_plan_sum(const smma_plan_element *element, uint64_t *registers, smma_plan_watch *watch, void *context);

/* What an epilogue takes beside the sum, in f32. */
typedef struct {
  uint32_t alpha, beta, c, bias, scale_d;
} smma_epilogue_operands;

/* The epilogue of a sum in f32: f32. */
uint32_t smma_plan_finish(const smma_plan *plan, smma_nan_policy nan, const smma_epilogue_operands *with, uint32_t sum);

#endif
