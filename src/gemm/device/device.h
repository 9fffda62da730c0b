/* Products on a device. They are divided, follow plans and finish rows as in run.c, but kernels of src/device compute
   the instruction steps. */
#ifndef SMMA_GEMM_DEVICE_H
#define SMMA_GEMM_DEVICE_H

#include "device/device.h"
#include "gemm/gemm.h"

/* Compute a product on the multiplier's device. They return SMMA_OK, SMMA_STOPPED, SMMA_NO_MEMORY or, with a message in
   the arguments' error, SMMA_DEVICE_FAILED. They write D last. Before the device's first product of an operation,
   smma_compute_on_device calls smma_check_device; smma_compute_unchecked does not. */
smma_status smma_compute_on_device(const smma_multiplier *multiplier);
smma_status smma_compute_unchecked(const smma_multiplier *multiplier);

/* Compares the device's product of generated operands with the core's, because drivers and their compilers are outside
   our control. Returns SMMA_DEVICE_FAILED with a message if a bit differs or the device fails. */
smma_status smma_check_device(const smma_device *device, const smma_operation *operation,
                              char message[SMMA_DEVICE_MESSAGE]);

#endif
