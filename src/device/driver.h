/* Drivers: what runs the kernels of this folder on a device, behind one table of functions. A module
   softmma-engine-NAME.so exports one as smma_driver_of_module. docs/architecture.md tells the whole.

   Functions that return false or NULL have written one line, why, into `message`. A device is used by one thread at a
   time; what is launched is done in the order of the calls. */
#ifndef SMMA_DEVICE_DRIVER_H
#define SMMA_DEVICE_DRIVER_H

#include <stddef.h>

#include "core/rule.h"

/* Changes with whatever changes in this file. */
enum { SMMA_DRIVER_ABI = 4 };

enum { SMMA_DEVICE_MESSAGE = 256 };

typedef struct {
  char name[128], driver[128]; /* "NVIDIA H200", "CUDA 13.0, driver 580.65" */
  uint64_t memory;             /* bytes */
  uint64_t largest;            /* of one buffer */
  bool has_f64;                /* whether it computes binary64; without, only the core's kernel is to be had */
  int width;                   /* SMMA_WIDTH of its kernels: lanes that an item computes */
  size_t shared;               /* bytes that a group shares, where the driver has the kernels of src/device/cuda */
  bool fast_f64;               /* whether binary64 is half as fast as binary32, or a quarter */
} smma_device_description;

/* An argument of a kernel: a buffer, or `bytes` bytes at `value`. */
typedef struct {
  void *buffer;
  const void *value;
  size_t bytes;
} smma_kernel_argument;

typedef struct smma_driver {
  int abi;
  const char *name; /* "opencl" */
  /* How many devices there are; 0 with the reason. */
  size_t (*count)(char message[SMMA_DEVICE_MESSAGE]);
  /* Number `index`, to be used. */
  void *(*open)(size_t index, smma_device_description *is, char message[SMMA_DEVICE_MESSAGE]);
  void (*close)(void *device);
  void *(*allocate)(void *device, size_t bytes, char message[SMMA_DEVICE_MESSAGE]);
  void (*release)(void *device, void *buffer); /* nothing with NULL */
  /* The copy is complete on return. */
  bool (*write)(void *device, void *buffer, const void *from, size_t bytes, char message[SMMA_DEVICE_MESSAGE]);
  bool (*read)(void *device, void *to, void *buffer, size_t bytes, char message[SMMA_DEVICE_MESSAGE]);
  /* The kernels for an operation. It stays until the device is closed. */
  void *(*program)(void *device, const smma_operation *operation, char message[SMMA_DEVICE_MESSAGE]);
  /* Starts `kernel` for items[0] x items[1] items, `group` of the first axis together, which divides them. */
  bool (*launch)(void *device, void *program, const char *kernel, const size_t items[2], size_t group,
                 const smma_kernel_argument *arguments, size_t count, char message[SMMA_DEVICE_MESSAGE]);
  /* What is launched between the two takes so many seconds by the device's clock. The second waits for it. */
  bool (*start_clock)(void *device, char message[SMMA_DEVICE_MESSAGE]);
  bool (*stop_clock)(void *device, double *seconds, char message[SMMA_DEVICE_MESSAGE]);
  /* Where buffers are addresses that other libraries know, too; else these three are NULL. Whether kernels can use what
     is at an address; `message` goes on behind "A is". What returns when everything that was started on the device is
     done, whoever started it. And what gives the calling thread the state back that it had before it used the device.
   */
  bool (*holds)(void *device, const void *address, char message[SMMA_DEVICE_MESSAGE]);
  bool (*wait)(void *device, char message[SMMA_DEVICE_MESSAGE]);
  void (*leave)(void *device);
} smma_driver;

typedef const smma_driver *smma_driver_getter(void);

#endif
