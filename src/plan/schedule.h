/* A plan applied to one K and one instruction: chains of instruction steps, and the tasks between them that move and
   add their results. */
#ifndef SMMA_PLAN_SCHEDULE_H
#define SMMA_PLAN_SCHEDULE_H

#include "core/rule.h"
#include "plan/plan.h"
#include "softmma/softmma.h"

/* The location of a sum: the instruction's accumulator, or a register, numbered from 0. */
enum { SMMA_IN_ACCUMULATOR = -1 };

/* A task between steps. After a task takes the value of the instruction's accumulator, the accumulator is +0. */
typedef enum {
  SMMA_TASK_CLEAR, /* to = +0 */
  SMMA_TASK_MOVE,  /* to = from */
  SMMA_TASK_FOLD   /* to = to + from, by the operation `with` */
} smma_task_kind;

typedef struct {
  size_t step; /* the task runs after this number of steps */
  smma_task_kind kind;
  int to, from;
  smma_with with;
  int stored, total; /* stored: format to which `from` is rounded before the task; total: format to which `to` is
                        rounded after it; or SMMA_STORED_AS_IS */
  size_t k;          /* the first index k in the sum `from`; selects its scale factors */
} smma_task;

typedef struct {
  size_t k_per_step;
  size_t steps;
  size_t *k;     /* steps * k_per_step entries: the index k of each product; SMMA_NO_PRODUCT: +0 instead of a product */
  bool in_order; /* the indices are 0, 1, 2, ..., then +0 after K */
  smma_task *task; /* in order of their steps */
  size_t tasks;
  size_t registers;
  int start;  /* the sum that C starts, if any: the first chain or a register */
  int result; /* where the final sum is held */
} smma_schedule;

#define SMMA_NO_PRODUCT SIZE_MAX

/* Makes the schedule of an operation. Returns SMMA_INVALID_PLAN or SMMA_NO_MEMORY with an error message if the plan
   cannot be followed. */
smma_status smma_schedule_make(const smma_plan *plan, const smma_operation *operation, size_t k,
                               smma_schedule *schedule, smma_error *error);

/* Returns the format in which accumulators are held and added: f64 if d is f64, s32 if d is s32, otherwise f32. */
smma_format smma_outer_format(smma_format d);
void smma_schedule_free(smma_schedule *schedule);

#endif
