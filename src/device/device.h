/* Opens devices by name. Their drivers are in modules, loaded at first use. */
#ifndef SMMA_DEVICE_DEVICE_H
#define SMMA_DEVICE_DEVICE_H

#include "device/driver.h"

typedef struct smma_device {
  const smma_driver *driver;
  void *state;
  smma_device_description is;
} smma_device;

/* Reports whether a name, given where a kernel is chosen, is that of a device: "opencl" or "cuda", alone or with a
   number from 0 on ("cuda:1"). */
bool smma_is_device_name(const char *name);

/* Opens the device of that name at its first use and returns it, or NULL with a one-line reason in `message` if it
   cannot be used. It stays open until the process ends. */
const smma_device *smma_device_open(const char *name, char message[SMMA_DEVICE_MESSAGE]);

/* Lock and unlock a device, so that one thread at a time uses it. Unlocking also restores the thread's CUDA context. */
void smma_device_lock(const smma_device *device);
void smma_device_unlock(const smma_device *device);

/* Returns the driver's kernels for an operation, or NULL with the reason in `message`. They are compiled at the first
   call for the operation. */
void *smma_device_program(const smma_device *device, const smma_operation *operation,
                          char message[SMMA_DEVICE_MESSAGE]);

/* smma_device_launch launches a kernel with the driver. While the device is timed, the call waits for the kernel and
   adds its seconds, by the device's clock, to `*timing` of smma_device_time. smma_device_time starts timing, or ends it
   if `timing` is NULL. */
bool smma_device_launch(const smma_device *device, void *program, const char *kernel, const size_t items[2],
                        size_t group, const smma_kernel_argument *arguments, size_t count,
                        char message[SMMA_DEVICE_MESSAGE]);
void smma_device_time(const smma_device *device, double *timing);

/* smma_device_is_checked reports whether a product of this operation has been compared with the core and was correct.
   smma_device_set_checked records this; it returns false if memory runs out. */
bool smma_device_is_checked(const smma_device *device, const smma_operation *operation);
bool smma_device_set_checked(const smma_device *device, const smma_operation *operation);

/* Returns the number of devices of the driver of that name, or 0 with the reason in `message`. Device number i is named
   "NAME:i". */
size_t smma_device_count(const char *driver, char message[SMMA_DEVICE_MESSAGE]);

/* Names of the drivers that may be installed; NULL-terminated. */
extern const char *const smma_drivers[];

#endif
