/* Recorded choices of a library for matrix shapes. */
#ifndef SMMA_PLAN_SHAPES_H
#define SMMA_PLAN_SHAPES_H

#include <stdbool.h>

#include "softmma/softmma.h"

typedef struct {
  int slices, custom; /* slices 1: K is not split */
} smma_recorded_choice;

/* Finds the choice of cuBLASLt 12.8 on a GPU with the request's workspace. Returns false if the shape is not
   recorded. */
bool smma_find_recorded(const char *gpu, const smma_plan_request *request, smma_recorded_choice *choice);

/* Returns the workspaces for which the GPU's choices are recorded, "1 MiB and 32 MiB"; empty if there are no
   records. */
const char *smma_recorded_workspaces(const char *gpu);

#endif
