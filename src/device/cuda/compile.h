/* Compiles kernels with the operation as a constant by NVRTC, if its library is found at run time. Otherwise the
   same kernels, compiled ahead, take the operation as an argument. */
#ifndef SMMA_DEVICE_CUDA_COMPILE_H
#define SMMA_DEVICE_CUDA_COMPILE_H

#include "core/rule.h"

/* Reports whether NVRTC's library is found. This and the following functions must not run in several threads at
   once. */
bool smma_cuda_has_compiler(void);

/* Kernels that are compiled together. */
typedef enum { SMMA_CUDA_CORE, SMMA_CUDA_ROWS, SMMA_CUDA_PARTS } smma_cuda_part;

/* Returns which kernels must be compiled at run time for `kernel` and an operation: the kernels of rows, or the core's
   kernel if no other kernel computes the operation. Returns SMMA_CUDA_PARTS if the kernels of the build suffice. */
smma_cuda_part smma_cuda_part_of(const char *kernel, const smma_operation *operation);

/* Returns machine code for a compute capability, which the caller frees, or NULL without NVRTC, or if NVRTC does not
   know the GPU. `log`, if not NULL, receives the registers and memory that kernels take. */
void *smma_cuda_compile(smma_cuda_part part, const smma_operation *operation, int major, int minor, char **log);

#endif
