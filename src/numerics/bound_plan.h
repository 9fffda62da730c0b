/* Error bounds for the steps of a plan that follow the instructions: additions of partial sums, and the epilogue. */
#ifndef SMMA_NUMERICS_BOUND_PLAN_H
#define SMMA_NUMERICS_BOUND_PLAN_H

#include "numerics/bound_sum.h"
#include "plan/schedule.h"

/* Accounts for a rounding of the unit's sum to a format, to nearest even. */
void smma_bound_round_to(smma_format format, double slack, int lane, smma_bound_sum *sum);

/* Bounds a task of the schedule: moves `from` to `to` or adds it to `to`, in the outer format. If the part has scale
   factors, `scale_a` is the factor of A's row, and `scale_b` has the factors of B's columns. */
void smma_bound_task(const smma_task *task, smma_format outer, double slack, double scale_a, const double *scale_b,
                     const smma_bound_sum *from, smma_bound_sum *to);

/* The operands of epilogue operations, except the sum. All are FP32 values. */
typedef struct {
  double alpha, beta, c, bias, scale_d;
} smma_bound_operands;

/* Bounds one operation of the epilogue on the sum in one lane. */
void smma_bound_epilogue(const smma_epilogue *operation, smma_format outer, double slack,
                         const smma_bound_operands *with, int lane, smma_bound_sum *sum);

#endif
