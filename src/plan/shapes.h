/* What a library chose for shapes that it was asked for. */
#ifndef SMMA_PLAN_SHAPES_H
#define SMMA_PLAN_SHAPES_H

#include <stdbool.h>

#include "softmma/softmma.h"

typedef struct {
  int slices, custom; /* 1: K is not split */
} smma_recorded_choice;

/* Of cuBLASLt 12.8 on a GPU, with the request's workspace; false where the shape is not recorded. */
bool smma_find_recorded(const char *gpu, const smma_plan_request *request, smma_recorded_choice *choice);

/* "1 MiB and 32 MiB": the workspaces with which the GPU's choices are recorded; empty without any. */
const char *smma_recorded_workspaces(const char *gpu);

#endif
