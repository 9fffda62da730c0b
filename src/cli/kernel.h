/* The kernel that --kernel names. */
#ifndef SMMA_CLI_KERNEL_H
#define SMMA_CLI_KERNEL_H

#include "host/error.h"

/* Fails if this machine does not have the kernel of --kernel. NULL stands for the fastest. */
bool smma_check_kernel(const char *kernel, smma_error *error);

/* Writes the kernels of this CPU, fastest first, such as "avx2, portable, core". */
const char *smma_kernel_list(char text[128]);

#endif
