/* Computes dot-product-adds of test vectors ("rows") on a device. */
#ifndef SMMA_DEVICE_ROWS_H
#define SMMA_DEVICE_ROWS_H

#include "core/generated.h"
#include "device/device.h"
#include "softmma/softmma.h"

/* Computes d for a batch of rows. With a selection, it first generates the selection's operands and stores them in
   the batch. It locks the device. Returns false with a one-line reason. */
bool smma_device_rows(const smma_device *device, const smma_operation *operation, const smma_row_selection *selection,
                      const smma_batch *batch, char message[SMMA_DEVICE_MESSAGE]);

/* The number of rows whose results differ, and the number of the first such row (undefined if all agree). */
typedef struct {
  uint32_t rows, first;
} smma_device_difference;

/* Compares two operations with the same formats and K on the first `count` rows (fewer than 2^32) of a selection,
   which never leave the device. With `any_nan`, all NaN are equal. It locks the device. Returns false with a
   one-line reason. */
bool smma_device_compare(const smma_device *device, const smma_operation operation[2], bool any_nan,
                         const smma_row_selection *selection, size_t count, smma_device_difference *found,
                         char message[SMMA_DEVICE_MESSAGE]);

#endif
