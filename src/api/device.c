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

/* ---- Memory ---- */

/* The device, if its memory has addresses, and locked. */
static const smma_device *enter(const char *name, char why[SMMA_DEVICE_MESSAGE]) {
  const smma_device *device = smma_device_open(name ? name : "", why);
  if (!device) return NULL;
  if (!device->driver->holds) {
    snprintf(why, SMMA_DEVICE_MESSAGE, "the memory of %.64s has no addresses that mean anything outside; cuda's has",
             device->driver->name);
    return NULL;
  }
  smma_device_lock(device);
  return device;
}

static void say(char *message, size_t size, const char *why) {
  if (message) snprintf(message, size, "%s", why);
}

smma_status smma_device_allocate(const char *name, size_t bytes, void **memory, char *message, size_t message_size) {
  char why[SMMA_DEVICE_MESSAGE];
  const smma_device *device;
  if (!memory) return SMMA_INVALID_ARGUMENT;
  *memory = NULL;
  device = enter(name, why);
  if (!device) return say(message, message_size, why), SMMA_NO_KERNEL;
  *memory = device->driver->allocate(device->state, bytes, why);
  smma_device_unlock(device);
  return *memory ? SMMA_OK : (say(message, message_size, why), SMMA_DEVICE_FAILED);
}

void smma_device_release(const char *name, void *memory) {
  char why[SMMA_DEVICE_MESSAGE];
  const smma_device *device = memory ? enter(name, why) : NULL;
  if (!device) return;
  device->driver->release(device->state, memory);
  smma_device_unlock(device);
}

/* One way or the other. */
static smma_status copy(const char *name, void *to, const void *from, size_t bytes, bool to_device, char *message,
                        size_t message_size) {
  const void *there = to_device ? to : from;
  char why[SMMA_DEVICE_MESSAGE];
  const smma_device *device;
  bool done;
  if (bytes && (!to || !from)) return SMMA_INVALID_ARGUMENT;
  device = enter(name, why);
  if (!device) return say(message, message_size, why), SMMA_NO_KERNEL;
  done = bytes == 0 || device->driver->holds(device->state, there, why);
  if (!done) {
    smma_device_unlock(device);
    if (message) snprintf(message, message_size, "what is copied is not on the device: it is %s", why);
    return SMMA_INVALID_ARGUMENT;
  }
  done = device->driver->wait(device->state, why);
  if (to_device)
    done = done && device->driver->write(device->state, to, from, bytes, why);
  else
    done = done && device->driver->read(device->state, to, (void *)from, bytes, why);
  smma_device_unlock(device);
  return done ? SMMA_OK : (say(message, message_size, why), SMMA_DEVICE_FAILED);
}

smma_status smma_device_write(const char *name, void *memory, const void *from, size_t bytes, char *message,
                              size_t message_size) {
  return copy(name, memory, from, bytes, true, message, message_size);
}

smma_status smma_device_read(const char *name, void *to, const void *memory, size_t bytes, char *message,
                             size_t message_size) {
  return copy(name, to, memory, bytes, false, message, message_size);
}
