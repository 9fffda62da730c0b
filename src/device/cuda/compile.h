/* Compiles kernels with the operation as a constant by NVRTC, if its library is found at run time. The same kernels,
   compiled ahead, take the operation as an argument. They have room for SMMA_MAXIMUM_ROUNDED_K products in a sum, so a
   longer operation needs NVRTC. */
#ifndef SMMA_DEVICE_CUDA_COMPILE_H
#define SMMA_DEVICE_CUDA_COMPILE_H

#include "core/rule.h"

/* Loads NVRTC's library and reports whether it is found. Only one thread at a time may call this and the following
   functions. */
bool smma_cuda_has_compiler(void);

/* Groups of kernels, each compiled together at run time. SMMA_CUDA_PARTS is their number. */
typedef enum { SMMA_CUDA_CORE, SMMA_CUDA_ROWS, SMMA_CUDA_PARTS } smma_cuda_part;

/* Returns the group to compile at run time for `kernel` and an operation: SMMA_CUDA_ROWS for the kernels of rows.h;
   SMMA_CUDA_CORE if only the core's kernel computes the operation. Returns SMMA_CUDA_PARTS if the kernels of the build
   suffice. */
smma_cuda_part smma_cuda_part_of(const char *kernel, const smma_operation *operation);

/* Compiles a group of kernels for an operation and a compute capability. Returns the machine code, which the caller
   frees, or NULL if NVRTC is not found or cannot compile. `log`, if not NULL, receives NVRTC's log (the caller frees
   it) with the registers and memory that kernels take. */
void *smma_cuda_compile(smma_cuda_part part, const smma_operation *operation, int major, int minor, char **log);

#endif
