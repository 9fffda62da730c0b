/* Devices by name: modules of drivers, opened when they are first asked for. */
#ifndef SMMA_DEVICE_DEVICE_H
#define SMMA_DEVICE_DEVICE_H

#include "device/driver.h"

typedef struct smma_device {
  const smma_driver *driver;
  void *state;
  smma_device_description is;
} smma_device;

/* Whether a kernel's name is a device's: "opencl" or "cuda", alone or with a number from 0 on ("cuda:1"). */
bool smma_is_device_name(const char *name);

/* The device of that name; NULL with one line that says why it cannot be used. It stays open until the process ends. */
const smma_device *smma_device_open(const char *name, char message[SMMA_DEVICE_MESSAGE]);

/* For products, which use a device one at a time. */
void smma_device_lock(const smma_device *device);
void smma_device_unlock(const smma_device *device);

/* The driver's. While a device is timed (timing NULL: not), each kernel is waited for, and the seconds that it takes by
   the device's clock are added to *timing. */
bool smma_device_launch(const smma_device *device, void *program, const char *kernel, const size_t items[2],
                        size_t group, const smma_kernel_argument *arguments, size_t count,
                        char message[SMMA_DEVICE_MESSAGE]);
void smma_device_time(const smma_device *device, double *timing);

/* Whether products of this operation were found right; and that they were, false without memory. */
bool smma_device_is_checked(const smma_device *device, const smma_operation *operation);
bool smma_device_set_checked(const smma_device *device, const smma_operation *operation);

/* How many devices the driver of that name has; 0 with the reason. Number `index` of them is named "NAME:index". */
size_t smma_device_count(const char *driver, char message[SMMA_DEVICE_MESSAGE]);

/* The drivers that may be there, ended by NULL. */
extern const char *const smma_drivers[];

#endif
