/* Devices: their names, their memory, and test vectors computed on them. To compute a product on a device, call
 * smma_gemm and name the device in its member `kernel`.
 *
 * This header may change in any version, unlike softmma.h. The rules of softmma.h for threads, errors and structs
 * apply. */
#ifndef SOFTMMA_DEVICE_H
#define SOFTMMA_DEVICE_H

#include "softmma/softmma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A device that computes products instead of this CPU, through the module of a driver: "opencl" or "cuda". */
typedef struct {
  char name[128], driver[128]; /* for example "NVIDIA H200" and "OpenCL 3.0 CUDA, driver 580.65" */
  bool has_f64;                /* whether the device has binary64; without it kernels are slow */
  unsigned long long memory;   /* size of the memory in bytes */
} smma_device_info;

/* Describes device number `index`, counted from 0, of a driver; member `kernel` names it as "DRIVER:index". `size` is
 * sizeof *info: the function writes at most `size` bytes, and sets members that this library does not know to zero. The
 * device stays open until the process ends, and a child forked after this call cannot use it. Errors: SMMA_NO_KERNEL if
 * there is no such device or it cannot be used. */
SMMA_API smma_status smma_device_describe(const char *driver, size_t index, smma_device_info *info, size_t size,
                                          smma_error *error);

/* Allocates `bytes` bytes in the memory of `device` ("cuda", "cuda:1"), for programs that do not use its driver.
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

/* Computes test vectors on a device ("opencl", "cuda:1"), with the results of smma_dot_rows. Errors: as smma_dot_rows,
 * SMMA_NO_KERNEL, SMMA_DEVICE_FAILED. */
SMMA_API smma_status smma_dot_rows_on(const char *device, const smma_instruction *instruction, const smma_batch *batch,
                                      smma_error *error);

#ifdef __cplusplus
}
#endif

#endif
