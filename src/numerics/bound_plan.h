/* What a plan does with sums between the chains and behind them, and how far they may be from the exact ones. */
#ifndef SMMA_NUMERICS_BOUND_PLAN_H
#define SMMA_NUMERICS_BOUND_PLAN_H

#include "numerics/bound_sum.h"
#include "plan/schedule.h"

/* Sums of nothing, in a format. */
smma_bound_sum smma_bound_empty(smma_format format);

void smma_bound_round_to(smma_format format, double slack, int lane, smma_bound_sum *sum);

/* A task: `from` goes to `to` or is added to it, in the outer format. Scale factors of the part, where it has them: of
   A's row, and of B's columns. */
void smma_bound_task(const smma_task *task, smma_format outer, double slack, double scale_a, const double *scale_b,
                     const smma_bound_sum *from, smma_bound_sum *to);

/* What operations take beside the sum; alpha to scale_d as FP32 has them. */
typedef struct {
  double alpha, beta, c, bias, scale_d;
} smma_bound_operands;

void smma_bound_epilogue(const smma_epilogue *operation, smma_format outer, double slack,
                         const smma_bound_operands *with, int lane, smma_bound_sum *sum);

#endif
