/* Which kernel of src/device computes an operation fast on a device. */
#ifndef SMMA_GEMM_DEVICE_CHOICE_H
#define SMMA_GEMM_DEVICE_CHOICE_H

#include "device/cuda/choice.h"
#include "device/driver.h"

typedef struct {
  const char *kernel; /* its function's name; NULL: the core's alone */
  bool in_panels;     /* it reads operands in panels */
  smma_panels panels;
} smma_device_choice;

smma_device_choice smma_device_choose(const smma_device_description *device, const smma_operation *operation);

#endif
