/* Products on a device: the same tiles, plans and rows as in run.c, the steps of the instruction by kernels of
 * src/device. */
#ifndef SMMA_GEMM_DEVICE_H
#define SMMA_GEMM_DEVICE_H

#include "device/device.h"
#include "gemm/gemm.h"

/* SMMA_DEVICE_FAILED (with the arguments' error), SMMA_NO_MEMORY, SMMA_STOPPED or SMMA_OK. D is written at last.
   Before its first product of an operation the device is checked. */
smma_status smma_compute_on_device(const smma_multiplier *multiplier);
smma_status smma_compute_unchecked(const smma_multiplier *multiplier);

/* Whether the device's product of generated operands has the core's bits: drivers and their compilers are not ours. */
smma_status smma_check_device(const smma_device *device, const smma_operation *operation,
                              char message[SMMA_DEVICE_MESSAGE]);

#endif
