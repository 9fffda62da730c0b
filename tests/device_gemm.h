/* Tests products of matrices that are in a device's memory. */
#ifndef SOFTMMA_TESTS_DEVICE_GEMM_H
#define SOFTMMA_TESTS_DEVICE_GEMM_H

#include <stdbool.h>

#include "softmma/softmma.h"

/* Reports whether the device that a kernel names has memory with addresses. */
bool has_addresses(const char *kernel);

/* Calls smma_gemm with copies of all matrices on the device that `arguments->kernel` names, each in a block of exactly
   its size. Copies D back, and C if C and D are one matrix. */
smma_status gemm_on_device(const smma_instruction *instruction, const smma_gemm_arguments *arguments);

#endif
