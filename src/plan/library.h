/* Plans of libraries, derived by measured rules from the configuration that a library has chosen for a product. */
#ifndef SMMA_PLAN_LIBRARY_H
#define SMMA_PLAN_LIBRARY_H

#include "isa/instruction.h"
#include "plan/plan.h"
#include "softmma/softmma.h"

/* Returns the plan of a library, which the caller frees. Returns NULL with SMMA_NOT_FOUND and the missing knowledge,
   or with SMMA_INVALID_ARGUMENT and the missing argument. */
smma_plan *smma_plan_of_library(const smma_plan_request *request, smma_error *error);

/* Returns the index-th library name, "cublaslt:13.1/H100", or NULL after the last. */
const char *smma_plan_library_name(size_t index);

/* Fills a request for the plan of a library's index-th kernel without slices: the name, and algorithm, stages and
   option if they identify the kernel. Returns false after the last. */
bool smma_plan_library_kernel(const char *name, size_t index, smma_plan_request *request);

/* Reports whether plans of a library can be of this instruction: of the architecture of its GPU, or an FMA, as CUDA
   cores compute it. smma_plan_of_library refuses other instructions whatever the configuration is. */
bool smma_plan_library_suits(const char *name, const smma_instruction *instruction);

#endif
