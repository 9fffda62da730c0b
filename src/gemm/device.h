/* Products on a device: same tiles, plans and rows as in run.c, but kernels of src/device compute the instruction
 * steps. */
#ifndef SMMA_GEMM_DEVICE_H
#define SMMA_GEMM_DEVICE_H

#include "device/device.h"
#include "gemm/gemm.h"

/* Compute a product on a device. They return SMMA_DEVICE_FAILED (with the arguments' error), SMMA_NO_MEMORY,
   SMMA_STOPPED or SMMA_OK, and write D after everything else. smma_compute_on_device first checks the device before
   its first product of an operation. */
smma_status smma_compute_on_device(const smma_multiplier *multiplier);
smma_status smma_compute_unchecked(const smma_multiplier *multiplier);

/* Checks that the device's product of generated operands has the core's bits: drivers and their compilers are
   outside our control. */
smma_status smma_check_device(const smma_device *device, const smma_operation *operation,
                              char message[SMMA_DEVICE_MESSAGE]);

#endif
