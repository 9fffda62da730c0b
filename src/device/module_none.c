/* Replaces module.c on Windows, which has no device engines. */
#include <stdio.h>

#include "device/module.h"

const smma_driver *smma_load_driver(const char *name, char message[SMMA_DEVICE_MESSAGE]) {
  snprintf(message, SMMA_DEVICE_MESSAGE, "softmma-engine-%s.so is not there: no engines are built for Windows", name);
  return NULL;
}
