/* Devices: which there are, their memory, and rows computed there. Products are computed there by smma_gemm, whose
 * member `kernel` names a device.
 *
 * This header may change in any version, unlike softmma.h. The rules of softmma.h for threads, errors and structs
 * apply. */
#ifndef SOFTMMA_DEVICE_H
#define SOFTMMA_DEVICE_H

#include "softmma/softmma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What computes products besides this CPU, through the module of a driver: "opencl" or "cuda". */
typedef struct {
  char name[128], driver[128]; /* "NVIDIA H200", "OpenCL 3.0 CUDA, driver 580.65" */
  bool has_f64;                /* without binary64 kernels are slow */
  unsigned long long memory;   /* bytes */
} smma_device_info;

/* Number `index`, from 0 on, of a driver's devices, which `kernel` names "DRIVER:index". `size` is sizeof *info: no
 * more is written, and what this library does not know is zero. SMMA_NO_KERNEL where there is none, or it cannot be
 * used. The device stays open until the process ends; in a child that is forked meanwhile it cannot be used. */
SMMA_API smma_status smma_device_describe(const char *driver, size_t index, smma_device_info *info, size_t size,
                                          smma_error *error);

/* Memory of a device ("cuda", "cuda:1"), for programs that have no other way to it: smma_gemm takes addresses of it
 * with `on_device`. Copies are complete on return, and begin when all that was started on the device is done. Errors:
 * SMMA_NO_KERNEL, for drivers whose memory has no addresses, too; SMMA_DEVICE_FAILED; SMMA_INVALID_ARGUMENT for memory
 * that is not the device's. Release does nothing with NULL. */
SMMA_API smma_status smma_device_allocate(const char *device, size_t bytes, void **memory, smma_error *error);
SMMA_API void smma_device_release(const char *device, void *memory);
SMMA_API smma_status smma_device_write(const char *device, void *memory, const void *from, size_t bytes,
                                       smma_error *error);
SMMA_API smma_status smma_device_read(const char *device, void *to, const void *memory, size_t bytes,
                                      smma_error *error);

/* As smma_dot_rows, on a device: "opencl", "cuda:1". Errors besides: SMMA_NO_KERNEL, SMMA_DEVICE_FAILED. */
SMMA_API smma_status smma_dot_rows_on(const char *device, const smma_instruction *instruction, const smma_batch *batch,
                                      smma_error *error);

#ifdef __cplusplus
}
#endif

#endif
