/* Chooses the fast kernel of src/device for an operation on a device. */
#ifndef SMMA_GEMM_DEVICE_CHOICE_H
#define SMMA_GEMM_DEVICE_CHOICE_H

#include "device/cuda/choice.h"
#include "device/driver.h"

typedef struct {
  const char *kernel; /* name of the fast kernel's function; NULL: only the core's kernel computes */
  bool in_panels;     /* the fast kernel reads operands in panels */
  smma_panels panels; /* layout of the panels, if there are any */
} smma_device_choice;

smma_device_choice smma_device_choose(const smma_device_description *device, const smma_operation *operation);

#endif
