/* Drivers: a table of functions that run the kernels of this folder on a device. A module softmma-engine-NAME.so
   exports one table as smma_driver_of_module. docs/architecture.md has the overview.

   Functions that return false or NULL have written a one-line reason into `message`. Only one thread uses a device
   at a time; kernels run in the order of their launches. */
#ifndef SMMA_DEVICE_DRIVER_H
#define SMMA_DEVICE_DRIVER_H

#include <stddef.h>

#include "core/rule.h"

/* Version of this interface. Increase it with every change to this file. */
enum { SMMA_DRIVER_ABI = 4 };

enum { SMMA_DEVICE_MESSAGE = 256 };

typedef struct {
  char name[128], driver[128]; /* for example "NVIDIA H200" and "CUDA 13.0, driver 580.65" */
  uint64_t memory;             /* bytes of memory */
  uint64_t largest;            /* bytes of the largest buffer */
  bool has_f64;                /* the device computes binary64; otherwise only the core's kernel is available */
  int width;                   /* SMMA_WIDTH of the device's kernels: lanes per work item */
  size_t shared;               /* bytes of shared memory per group, if the driver has the kernels of src/device/cuda */
  bool fast_f64;               /* binary64 runs at half or a quarter of binary32's rate */
} smma_device_description;

/* An argument of a kernel: a buffer, or `bytes` bytes at `value`. */
typedef struct {
  void *buffer;
  const void *value;
  size_t bytes;
} smma_kernel_argument;

typedef struct smma_driver {
  int abi;
  const char *name; /* name of the driver, for example "opencl" */
  /* Returns the number of devices, or 0 with the reason in `message`. */
  size_t (*count)(char message[SMMA_DEVICE_MESSAGE]);
  /* Opens device number `index`, sets `*is`, and returns the state that the other functions take as `device`. */
  void *(*open)(size_t index, smma_device_description *is, char message[SMMA_DEVICE_MESSAGE]);
  void (*close)(void *device);
  void *(*allocate)(void *device, size_t bytes, char message[SMMA_DEVICE_MESSAGE]);
  void (*release)(void *device, void *buffer); /* `buffer` may be NULL */
  /* Copy between host and device; both return when the copy is complete. */
  bool (*write)(void *device, void *buffer, const void *from, size_t bytes, char message[SMMA_DEVICE_MESSAGE]);
  bool (*read)(void *device, void *to, void *buffer, size_t bytes, char message[SMMA_DEVICE_MESSAGE]);
  /* Returns the kernels for an operation, compiled if needed. They stay until the device is closed. The bytes of equal
     operations are equal. */
  void *(*program)(void *device, const smma_operation *operation, char message[SMMA_DEVICE_MESSAGE]);
  /* Starts `kernel` for items[0] x items[1] work items, in groups of `group` along the first axis; `group` divides
     items[0]. */
  bool (*launch)(void *device, void *program, const char *kernel, const size_t items[2], size_t group,
                 const smma_kernel_argument *arguments, size_t count, char message[SMMA_DEVICE_MESSAGE]);
  /* Measure the time, by the device's clock, of kernels launched between the two calls. stop_clock waits for the
     kernels and sets `*seconds`. */
  bool (*start_clock)(void *device, char message[SMMA_DEVICE_MESSAGE]);
  bool (*stop_clock)(void *device, double *seconds, char message[SMMA_DEVICE_MESSAGE]);
  /* The next three functions are NULL unless the device's buffers have addresses that other libraries can use. `holds`
     reports whether kernels can use the memory at an address; if not, `message` continues the phrase "A is". `wait`
     returns when all work on the device has finished, including work of other libraries. `leave` restores the state
     that the calling thread had before it used the device. */
  bool (*holds)(void *device, const void *address, char message[SMMA_DEVICE_MESSAGE]);
  bool (*wait)(void *device, char message[SMMA_DEVICE_MESSAGE]);
  void (*leave)(void *device);
} smma_driver;

typedef const smma_driver *smma_driver_getter(void);

#endif
