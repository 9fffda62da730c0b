/* Plans of libraries: from the configuration that a library has chosen for a product, by rules that are measured. */
#ifndef SMMA_PLAN_LIBRARY_H
#define SMMA_PLAN_LIBRARY_H

#include "isa/instruction.h"
#include "plan/plan.h"
#include "softmma/softmma.h"

/* The plan of a library, or NULL: SMMA_NOT_FOUND with what is not known, SMMA_INVALID_ARGUMENT with what has to be
   given. The caller frees it. */
smma_plan *smma_plan_of_library(const smma_plan_request *request, smma_error *error);

/* The index-th name that there is, "cublaslt:13.1/H100"; NULL behind the last. */
const char *smma_plan_library_name(size_t index);

/* The index-th kernel of a library, as a request for its plan without slices: name, and algorithm, stages and option
   where these say which kernel it is. False behind the last. */
bool smma_plan_library_kernel(const char *name, size_t index, smma_plan_request *request);

#endif
