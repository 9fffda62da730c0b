/* Plans of libraries: from the configuration that a library has chosen for a product, by rules that are measured. */
#ifndef SMMA_PLAN_LIBRARY_H
#define SMMA_PLAN_LIBRARY_H

#include "isa/instruction.h"
#include "plan/plan.h"
#include "softmma/softmma.h"

/* The plan of a library, or NULL with one line: what is not known, or what has to be given. The caller frees it. */
smma_plan *smma_plan_of_library(const smma_plan_request *request, char *message, size_t message_size);

/* The index-th name that there is, "cublaslt:13.1/H100"; NULL behind the last. */
const char *smma_plan_library_name(size_t index);

#endif
