/* Computes dot-product-adds of test vectors ("rows") on a device. */
#ifndef SMMA_DEVICE_ROWS_H
#define SMMA_DEVICE_ROWS_H

#include "core/generated.h"
#include "device/device.h"
#include "softmma/softmma.h"

/* Computes d for a batch of rows on a device that the caller has locked. With a selection, first generates the
   selection's operands and stores them in the batch. Returns false with a one-line reason in `message` if the device
   fails. */
bool smma_device_rows(const smma_device *device, const smma_operation *operation, const smma_row_selection *selection,
                      const smma_batch *batch, char message[SMMA_DEVICE_MESSAGE]);

/* `rows`: the number of rows whose results differ; `first`: the number of the first such row (UINT32_MAX if all
   agree). */
typedef struct {
  uint32_t rows, first;
} smma_device_difference;

/* Compares two operations with the same formats and K on the first `count` rows (fewer than 2^32) of a selection. The
   rows never leave the device, which the caller has locked. With `any_nan`, all NaN are equal. Returns false with a
   one-line reason in `message` if the device fails. */
bool smma_device_compare(const smma_device *device, const smma_operation operation[2], bool any_nan,
                         const smma_row_selection *selection, size_t count, smma_device_difference *found,
                         char message[SMMA_DEVICE_MESSAGE]);

#endif
