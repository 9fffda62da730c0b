/* Loads drivers at first use from their modules, softmma-engine-NAME.so. */
#ifndef SMMA_DEVICE_MODULE_H
#define SMMA_DEVICE_MODULE_H

#include "device/device.h"

/* Returns the driver of that name, or NULL with the reason if it is missing or cannot be used. */
const smma_driver *smma_load_driver(const char *name, char message[SMMA_DEVICE_MESSAGE]);

#endif
