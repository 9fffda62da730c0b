/* Memory of a device, for programs that keep matrices there: allocation, release, and copies to and from the host. */
#include "device/device.h"

#include <stdio.h>

#include "host/error.h"
#include "host/sized.h"
#include "softmma/device.h"
#include "softmma/softmma.h"

smma_status smma_device_describe(const char *driver, size_t index, smma_device_info *info, size_t size,
                                 smma_error *error) {
  char name[64], why[SMMA_DEVICE_MESSAGE];
  const smma_device *device;
  smma_device_info own = {.memory = 0};
  smma_clear_error(error);
  if (!driver || !info || !size) return smma_end_error(error, SMMA_INVALID_ARGUMENT);
  snprintf(name, sizeof name, "%s:%zu", driver, index);
  device = smma_device_open(name, why);
  if (!device) return smma_set_error(error, SMMA_NO_KERNEL, "%s", why);
  snprintf(own.name, sizeof own.name, "%s", device->is.name);
  snprintf(own.driver, sizeof own.driver, "%s", device->is.driver);
  own.memory = device->is.memory, own.has_f64 = device->is.has_f64;
  smma_give_struct(info, size, &own, sizeof own);
  return SMMA_OK;
}

/* ---- Memory ---- */

/* Opens and locks a device whose memory has addresses that host code can hold. Returns NULL with an error if the memory
   has no such addresses, or if the device cannot be used. */
static const smma_device *enter(const char *name, smma_error *error) {
  char why[SMMA_DEVICE_MESSAGE];
  const smma_device *device = smma_device_open(name ? name : "", why);
  if (device && device->driver->holds) return smma_device_lock(device), device;
  if (device)
    smma_set_error(error, SMMA_NO_KERNEL, "the memory of %.64s has no addresses that mean anything outside; cuda's has",
                   device->driver->name);
  else
    smma_set_error(error, SMMA_NO_KERNEL, "%s", why);
  return NULL;
}

smma_status smma_device_allocate(const char *name, size_t bytes, void **memory, smma_error *error) {
  char why[SMMA_DEVICE_MESSAGE];
  const smma_device *device;
  smma_clear_error(error);
  if (!memory) return smma_end_error(error, SMMA_INVALID_ARGUMENT);
  *memory = NULL;
  device = enter(name, error);
  if (!device) return SMMA_NO_KERNEL;
  *memory = device->driver->allocate(device->state, bytes, why);
  smma_device_unlock(device);
  return *memory ? SMMA_OK : smma_set_error(error, SMMA_DEVICE_FAILED, "%s", why);
}

void smma_device_release(const char *name, void *memory) {
  const smma_device *device = memory ? enter(name, NULL) : NULL;
  if (!device) return;
  device->driver->release(device->state, memory);
  smma_device_unlock(device);
}

/* Copies `bytes` bytes to the device if `to_device`, otherwise to the host. Before that, waits for all work on the
   device. */
static smma_status copy(const char *name, void *to, const void *from, size_t bytes, bool to_device, smma_error *error) {
  const void *there = to_device ? to : from;
  char why[SMMA_DEVICE_MESSAGE];
  const smma_device *device;
  bool done;
  smma_clear_error(error);
  if (bytes && (!to || !from)) return smma_end_error(error, SMMA_INVALID_ARGUMENT);
  device = enter(name, error);
  if (!device) return SMMA_NO_KERNEL;
  if (bytes && !device->driver->holds(device->state, there, why)) {
    smma_device_unlock(device);
    return smma_set_error(error, SMMA_INVALID_ARGUMENT, "the memory to copy is not on the device: it is %s", why);
  }
  done = device->driver->wait(device->state, why);
  if (to_device)
    done = done && device->driver->write(device->state, to, from, bytes, why);
  else
    done = done && device->driver->read(device->state, to, (void *)from, bytes, why);
  smma_device_unlock(device);
  return done ? SMMA_OK : smma_set_error(error, SMMA_DEVICE_FAILED, "%s", why);
}

smma_status smma_device_write(const char *name, void *memory, const void *from, size_t bytes, smma_error *error) {
  return copy(name, memory, from, bytes, true, error);
}

smma_status smma_device_read(const char *name, void *to, const void *memory, size_t bytes, smma_error *error) {
  return copy(name, to, memory, bytes, false, error);
}
