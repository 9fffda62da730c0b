/* Products whose matrices are in a device's memory. */
#ifndef SOFTMMA_TESTS_DEVICE_GEMM_H
#define SOFTMMA_TESTS_DEVICE_GEMM_H

#include <stdbool.h>

#include "softmma/softmma.h"

/* Whether the device that a kernel names has memory with addresses. */
bool has_addresses(const char *kernel);

/* smma_gemm with copies of all matrices on the device that `arguments->kernel` names, each as long as it must be; D,
   and C where they are one, is copied back. */
smma_status gemm_on_device(const smma_instruction *instruction, const smma_gemm_arguments *arguments);

#endif
