/* The kernel that --kernel names. */
#ifndef SMMA_CLI_KERNEL_H
#define SMMA_CLI_KERNEL_H

/* Ends the program with one line if this CPU does not have the kernel of --kernel. NULL stands for the fastest. */
void smma_check_kernel(const char *kernel);

/* Writes the kernels of this CPU, fastest first, such as "avx2, portable, core". */
const char *smma_kernel_list(char text[128]);

#endif
