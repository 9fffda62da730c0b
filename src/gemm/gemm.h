/* Matrix products of any size on one operation: plan -> pack -> run -> threads. docs/architecture.md tells the whole.
 */
#ifndef SMMA_GEMM_GEMM_H
#define SMMA_GEMM_GEMM_H

#include "core/rule.h"
#include "softmma/softmma.h"

typedef struct smma_kernel smma_kernel;
typedef struct smma_kernel_family smma_kernel_family;

/* Checked arguments and what follows from them. Immutable while threads run. */
typedef struct {
  smma_operation operation;  /* c in D's format: the start is widened before */
  smma_gemm_arguments with;  /* leading dimensions filled in */
  size_t steps;              /* instruction steps along K */
  size_t steps_per_slice;    /* of split_k */
  size_t steps_per_interval; /* of promote_every; 0 for none */
  smma_format outer;         /* f32; f64 and s32 for those: accumulators, promoted and split sums */
  smma_format c_format;
  const smma_kernel_family *family; /* how steps are computed; NULL: by the core */
} smma_plan;

/* Fills in dense leading dimensions; checks that no matrix is missing and every index fits, at 8 bytes an element. */
smma_status smma_check_matrices(smma_gemm_arguments *arguments);

/* Fills the plan or says what is wrong with the arguments. */
smma_status smma_plan_make(const smma_operation *operation, const smma_gemm_arguments *arguments, smma_plan *plan);

/* SMMA_NO_MEMORY, SMMA_STOPPED or SMMA_OK. */
smma_status smma_plan_run(const smma_plan *plan);

#endif
