/* Computes one element of a product with a plan on the reference core. This defines the meaning of plans. */
#ifndef SMMA_PLAN_ELEMENT_H
#define SMMA_PLAN_ELEMENT_H

#include "core/rule.h"
#include "plan/schedule.h"

/* The operands of an element. Arrays are indexed by k, except scale factors of blocks. Values are encodings, except
   a and b. */
typedef struct {
  smma_operation operation; /* c in D's format */
  const smma_schedule *schedule;
  const smma_number *a, *b;
  const smma_number *block_a, *block_b; /* scale factors of blocks, if the operation has them */
  const uint32_t *part_a, *part_b;      /* f32 scale factors of parts, at index k / part_k; or NULL */
  size_t part_k;
  uint64_t start; /* initial value of C, in the outer format */
} smma_plan_element;

/* Receives the value of an accumulator or register after a number of steps. May be NULL. */
typedef void smma_plan_watch(void *context, size_t steps, int place, uint64_t value);

/* Returns the sum, in the outer format. `registers`: room for schedule->registers values. */
uint64_t smma_plan_sum(const smma_plan_element *element, uint64_t *registers, smma_plan_watch *watch, void *context);

/* The f32 operands of an epilogue other than the sum. */
typedef struct {
  uint32_t alpha, beta, c, bias, scale_d;
} smma_epilogue_operands;

/* Applies the epilogue to a sum in f32; returns f32. */
uint32_t smma_plan_finish(const smma_plan *plan, smma_nan_policy nan, const smma_epilogue_operands *with, uint32_t sum);

#endif
