#include "device/device.h"

#include <stdio.h>

#include "softmma/softmma.h"

smma_status smma_device_describe(const char *driver, size_t index, smma_device_info *info, char *message,
                                 size_t message_size) {
  char name[64], why[SMMA_DEVICE_MESSAGE];
  const smma_device *device;
  if (!driver || !info || info->size != sizeof *info) return SMMA_INVALID_ARGUMENT;
  snprintf(name, sizeof name, "%s:%zu", driver, index);
  device = smma_device_open(name, why);
  if (!device) {
    if (message) snprintf(message, message_size, "%s", why);
    return SMMA_NO_KERNEL;
  }
  snprintf(info->name, sizeof info->name, "%s", device->is.name);
  snprintf(info->driver, sizeof info->driver, "%s", device->is.driver);
  info->memory = device->is.memory, info->has_f64 = device->is.has_f64;
  return SMMA_OK;
}
