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

/* Describes device number `index`, from 0 on, of a driver; `kernel` names it as "DRIVER:index". `size` is sizeof *info:
 * no more is written, and members that this library does not know are zero. The device stays open until the process
 * ends, and a child that is forked meanwhile cannot use it. Errors: SMMA_NO_KERNEL if there is no such device or it
 * cannot be used. */
SMMA_API smma_status smma_device_describe(const char *driver, size_t index, smma_device_info *info, size_t size,
                                          smma_error *error);

/* Allocates `bytes` bytes in the memory of `device` ("cuda", "cuda:1"), for programs that have no other way to it.
 * smma_gemm takes such addresses with `on_device`. `*memory` is NULL on an error. Errors: SMMA_INVALID_ARGUMENT if
 * `memory` is NULL; SMMA_NO_KERNEL if the device cannot be used, or its driver's memory has no addresses;
 * SMMA_DEVICE_FAILED. */
SMMA_API smma_status smma_device_allocate(const char *device, size_t bytes, void **memory, smma_error *error);

/* Releases memory that smma_device_allocate returned. Does nothing if `memory` is NULL. */
SMMA_API void smma_device_release(const char *device, void *memory);

/* Copies `bytes` bytes from the host to the device. Waits for all earlier work on the device; the copy is complete on
 * return. Errors: SMMA_INVALID_ARGUMENT if a pointer is NULL and `bytes` is not 0, or if `memory` is not the device's;
 * SMMA_NO_KERNEL as smma_device_allocate; SMMA_DEVICE_FAILED. */
SMMA_API smma_status smma_device_write(const char *device, void *memory, const void *from, size_t bytes,
                                       smma_error *error);

/* Copies `bytes` bytes from the device to the host; otherwise as smma_device_write. */
SMMA_API smma_status smma_device_read(const char *device, void *to, const void *memory, size_t bytes,
                                      smma_error *error);

/* Computes rows as smma_dot_rows does, on a device: "opencl", "cuda:1". Further errors: SMMA_NO_KERNEL,
 * SMMA_DEVICE_FAILED. */
SMMA_API smma_status smma_dot_rows_on(const char *device, const smma_instruction *instruction, const smma_batch *batch,
                                      smma_error *error);

#ifdef __cplusplus
}
#endif

#endif
