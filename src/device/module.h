/* Drivers are in modules, softmma-engine-NAME.so, which are loaded when one is asked for. */
#ifndef SMMA_DEVICE_MODULE_H
#define SMMA_DEVICE_MODULE_H

#include "device/device.h"

/* NULL, and why, where it is not there or cannot be used. */
const smma_driver *smma_load_driver(const char *name, char message[SMMA_DEVICE_MESSAGE]);

#endif
