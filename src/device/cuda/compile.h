/* Kernels with the operation as a constant, compiled for a GPU by NVRTC where its library is found at run time. Else
   the same kernels serve that were compiled ahead, with the operation as an argument. */
#ifndef SMMA_DEVICE_CUDA_COMPILE_H
#define SMMA_DEVICE_CUDA_COMPILE_H

#include "core/rule.h"

/* Whether NVRTC's library is there. Not for several threads at once, as what follows. */
bool smma_cuda_has_compiler(void);

/* What is compiled together. */
typedef enum { SMMA_CUDA_CORE, SMMA_CUDA_ROWS, SMMA_CUDA_PARTS } smma_cuda_part;

/* The part that a kernel is worth compiling in for an operation: rows, and the core's where no other computes; else
   SMMA_CUDA_PARTS. */
smma_cuda_part smma_cuda_part_of(const char *kernel, const smma_operation *operation);

/* Machine code for a compute capability, to be freed; NULL without NVRTC, or where it does not know the GPU. `log` gets
   what registers and memory kernels take, if it is not NULL. */
void *smma_cuda_compile(smma_cuda_part part, const smma_operation *operation, int major, int minor, char **log);

#endif
