/* A plan for one K and instruction: chains of instruction steps one behind another, and what is done with their results
   between. */
#ifndef SMMA_PLAN_SCHEDULE_H
#define SMMA_PLAN_SCHEDULE_H

#include "core/rule.h"
#include "plan/plan.h"
#include "softmma/softmma.h"

/* A place of accumulators: the instruction's own, or a register from 0 on. */
enum { SMMA_IN_ACCUMULATOR = -1 };

/* What is in the instruction's accumulators is +0 after it went elsewhere. */
typedef enum {
  SMMA_TASK_CLEAR, /* to = +0 */
  SMMA_TASK_MOVE,  /* to = from */
  SMMA_TASK_FOLD   /* to = to + from, as `with` says */
} smma_task_kind;

typedef struct {
  size_t step; /* it is done behind so many steps */
  smma_task_kind kind;
  int to, from;
  smma_with with;
  int stored, total; /* what `from` is rounded to before, and `to` after: a format or SMMA_STORED_AS_IS */
  size_t k;          /* the first index of what `from` sums, which its scale factors go by */
} smma_task;

typedef struct {
  size_t k_per_step;
  size_t steps;
  size_t *k;       /* steps * k_per_step: the index of each product; SMMA_NO_PRODUCT where +0 stands for it */
  bool in_order;   /* they are 0, 1, 2, ... and +0 behind K */
  smma_task *task; /* in order of their steps */
  size_t tasks;
  size_t registers;
  int start;  /* what C starts, if anything: the first chain or a register */
  int result; /* where the sum is at last */
} smma_schedule;

#define SMMA_NO_PRODUCT SIZE_MAX

/* The schedule of an operation; SMMA_INVALID_PLAN or SMMA_NO_MEMORY with an error that says why the plan cannot be
   followed. */
smma_status smma_schedule_make(const smma_plan *plan, const smma_operation *operation, size_t k,
                               smma_schedule *schedule, smma_error *error);

/* What accumulators are held and added in: f32, but f64 and s32 for those. */
smma_format smma_outer_format(smma_format d);
void smma_schedule_free(smma_schedule *schedule);

#endif
