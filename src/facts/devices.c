#include "device/device.h"
#include "facts/facts.h"
#include "softmma/device.h"
#include "unit/child.h"

/* Appends a device, or, if `info` is NULL, the reason why it is none. */
static void append_device(smma_datum *list, const char *kernel, const smma_device_info *info, const char *why) {
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "kernel", kernel);
  if (info) {
    smma_put_text(record, "name", info->name);
    smma_put_text(record, "driver", info->driver);
    smma_put_count(record, "memory", info->memory);
    smma_put_flag(record, "binary64", info->has_f64);
  } else {
    smma_put_text(record, "why_not", why);
  }
  smma_datum_append(list, record);
}

static void append_devices_of(smma_datum *list, const char *driver) {
  char why[SMMA_DEVICE_MESSAGE] = "", kernel[64];
  smma_error error;
  smma_device_info info;
  const size_t count = smma_device_count(driver, why);
  if (!count) append_device(list, driver, NULL, why);
  for (size_t i = 0; i < count; i++) {
    const bool usable = smma_device_describe(driver, i, &info, sizeof info, &error) == SMMA_OK;
    snprintf(kernel, sizeof kernel, "%s:%zu", driver, i);
    append_device(list, kernel, usable ? &info : NULL, error.text);
  }
}

static void search(void *driver) { append_devices_of(NULL, driver); }

/* Tests in a child process whether a driver can list its devices. A vendor's libraries may end the process that calls
   them (PoCL does if there is no /sys), or hang. */
static bool can_list_devices(const char *driver, char why[SMMA_DEVICE_MESSAGE]) {
  const double timeout_seconds = 60;
  char end[128];
  if (smma_child_survives(search, (void *)driver, timeout_seconds, end, sizeof end)) return true;
  if (*end)
    snprintf(why, SMMA_DEVICE_MESSAGE, "a process that searched its libraries for devices %s", end);
  else
    snprintf(why, SMMA_DEVICE_MESSAGE, "its libraries have not answered for %g seconds", timeout_seconds);
  return false;
}

smma_datum *smma_devices_datum(void) {
  smma_datum *list = smma_datum_list();
  for (size_t d = 0; smma_drivers[d]; d++) {
    char why[SMMA_DEVICE_MESSAGE];
    if (can_list_devices(smma_drivers[d], why))
      append_devices_of(list, smma_drivers[d]);
    else
      append_device(list, smma_drivers[d], NULL, why);
  }
  return list;
}
