/* NaN and infinity in A, B and scale factors, for all families alike, beside their sums.

   A family counts such an operand as zero. What it does to an element of D is what the sum of the products of classes
   does in IEEE arithmetic, where the class of a number is 0, 1 or -1, an infinity, or NaN: every rule says so (SPEC:
   NaN and infinities come before all else), and an accumulator that is not finite stays as it is while products are.
   The products of classes are computed as FP32 chains, by the family of the same kernel that computes these. */
#ifndef SMMA_GEMM_SPECIAL_H
#define SMMA_GEMM_SPECIAL_H

#include "gemm/kernel.h"

/* The family that multiplies classes; NULL where this is not how the plan treats them: its own family takes every
   operand (FMA, FTZ-AddMul), there are no such numbers (integers), or the NaN is an operand's. */
const smma_kernel_family *smma_special_family(const smma_operation *operation, const char *kernel);

/* Floats of working memory, at an address for vectors; 0 without such a family. */
size_t smma_special_space(const smma_plan *plan);

/* Has accumulators that are not finite count as zero for the family, and says whether there are any; `before` keeps
   what they were. */
bool smma_hide_special(size_t count, float *accumulator, float *before);

/* Behind the family's sums: puts back, outside of special rows and columns, what was hidden; and puts into special rows
   and columns what their operands and accumulators bring. Where a sum has become infinite otherwise, which must have
   come first, the core computes the element. */
void smma_restore_special(const smma_core_run *run, const float *before, smma_number *core);
void smma_run_special(const smma_core_run *run, const float *before, float *space, smma_number *core);

#endif
