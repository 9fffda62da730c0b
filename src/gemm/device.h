/* Products on a device: the same tiles, plans and rows as in run.c, the steps of the instruction by kernels of
 * src/device. */
#ifndef SMMA_GEMM_DEVICE_H
#define SMMA_GEMM_DEVICE_H

#include "device/device.h"
#include "gemm/gemm.h"

/* The kernel that computes an operation fast on a device: its function's name; NULL for the core's. */
const char *smma_device_kernel(const smma_device *device, const smma_operation *operation);

/* SMMA_DEVICE_FAILED (with the arguments' message), SMMA_NO_MEMORY, SMMA_STOPPED or SMMA_OK. D is written at last. */
smma_status smma_compute_on_device(const smma_multiplier *multiplier);

#endif
