#include "device/device.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/module.h"

const char *const smma_drivers[] = {"cuda", "opencl", NULL};

typedef struct checked {
  smma_operation operation;
  struct checked *next;
} checked;

/* An open device and the number in its name. The library keeps devices open, because opening one takes too long for
 * each product. */
typedef struct entry {
  smma_device device;
  size_t index;
  pid_t process; /* the process that opened the device; drivers do not survive a fork */
  pthread_mutex_t used;
  checked *checked; /* operations whose products were compared with the core's and were equal */
  double *timing;   /* where the seconds that kernels take are added; NULL: kernels are not timed */
  struct entry *next;
} entry;

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static entry *opened;

/* Parses a device's name, "NAME" or "NAME:INDEX". Returns false if it is malformed or NAME is not a driver's. */
static bool take_apart(const char *name, const char **driver, size_t *index) {
  const size_t length = strcspn(name, ":");
  char *end;
  *index = 0;
  for (*driver = NULL; name[length] == ':';) {
    if (!isdigit((unsigned char)name[length + 1])) return false;
    *index = strtoul(name + length + 1, &end, 10);
    if (*end) return false;
    break;
  }
  for (size_t i = 0; smma_drivers[i]; i++)
    if (strlen(smma_drivers[i]) == length && strncmp(name, smma_drivers[i], length) == 0) *driver = smma_drivers[i];
  return *driver;
}

bool smma_is_device_name(const char *name) {
  const char *driver;
  size_t index;
  return name && take_apart(name, &driver, &index);
}

static const smma_device *open_entry(const char *name, size_t index, char message[SMMA_DEVICE_MESSAGE]) {
  entry *e = calloc(1, sizeof *e);
  if (!e) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "too little memory");
    return NULL;
  }
  e->index = index, e->process = getpid();
  e->device.driver = smma_load_driver(name, message);
  if (e->device.driver) e->device.state = e->device.driver->open(index, &e->device.is, message);
  if (!e->device.state) {
    free(e);
    return NULL;
  }
  pthread_mutex_init(&e->used, NULL);
  e->next = opened, opened = e;
  return &e->device;
}

/* Returns the entry whose first member is the device. */
static entry *entry_of(const smma_device *device) { return (entry *)device; }

const smma_device *smma_device_open(const char *name, char message[SMMA_DEVICE_MESSAGE]) {
  const smma_device *device = NULL;
  const char *driver;
  size_t index;
  if (!take_apart(name, &driver, &index)) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "'%.64s' is no device: cuda, opencl, or one of them with a number (cuda:1)",
             name);
    return NULL;
  }
  pthread_mutex_lock(&changing);
  for (entry *e = opened; e && !device; e = e->next)
    if (e->index == index && strcmp(e->device.driver->name, driver) == 0) device = &e->device;
  if (!device)
    device = open_entry(driver, index, message);
  else if (entry_of(device)->process != getpid()) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "%.64s was opened before this process was forked, and does not survive that",
             name);
    device = NULL;
  }
  pthread_mutex_unlock(&changing);
  return device;
}

void smma_device_lock(const smma_device *device) { pthread_mutex_lock(&entry_of(device)->used); }
void smma_device_unlock(const smma_device *device) {
  if (device->driver->leave) device->driver->leave(device->state);
  pthread_mutex_unlock(&entry_of(device)->used);
}

void smma_device_time(const smma_device *device, double *timing) { entry_of(device)->timing = timing; }

bool smma_device_launch(const smma_device *device, void *program, const char *kernel, const size_t items[2],
                        size_t group, const smma_kernel_argument *arguments, size_t count,
                        char message[SMMA_DEVICE_MESSAGE]) {
  const smma_driver *driver = device->driver;
  double *timing = entry_of(device)->timing, seconds = 0;
  if (timing && !driver->start_clock(device->state, message)) return false;
  if (!driver->launch(device->state, program, kernel, items, group, arguments, count, message)) return false;
  if (!timing) return true;
  if (!driver->stop_clock(device->state, &seconds, message)) return false;
  *timing += seconds;
  return true;
}

/* Returns a copy of the operation in which the bytes that its algorithm does not use are zero. Devices compare
   operations by their bytes, and callers do not set these. */
static smma_operation used_part(const smma_operation *operation) {
  smma_operation copy = *operation;
  const size_t used = (size_t)smma_used_bytes(&operation->rule);
  memset((unsigned char *)&copy.rule + used, 0, sizeof copy.rule - used);
  return copy;
}

void *smma_device_program(const smma_device *device, const smma_operation *operation,
                          char message[SMMA_DEVICE_MESSAGE]) {
  const smma_operation used = used_part(operation);
  return device->driver->program(device->state, &used, message);
}

bool smma_device_is_checked(const smma_device *device, const smma_operation *operation) {
  const smma_operation used = used_part(operation);
  const checked *c;
  pthread_mutex_lock(&changing);
  for (c = entry_of(device)->checked; c && memcmp(&c->operation, &used, sizeof used) != 0;) c = c->next;
  pthread_mutex_unlock(&changing);
  return c;
}

bool smma_device_set_checked(const smma_device *device, const smma_operation *operation) {
  checked *c = malloc(sizeof *c);
  if (!c) return false;
  c->operation = used_part(operation);
  pthread_mutex_lock(&changing);
  c->next = entry_of(device)->checked, entry_of(device)->checked = c;
  pthread_mutex_unlock(&changing);
  return true;
}

size_t smma_device_count(const char *driver, char message[SMMA_DEVICE_MESSAGE]) {
  const smma_driver *d = smma_load_driver(driver, message);
  return d ? d->count(message) : 0;
}
