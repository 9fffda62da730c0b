/* Dot-product-adds of rows on a device. */
#ifndef SMMA_DEVICE_ROWS_H
#define SMMA_DEVICE_ROWS_H

#include "core/generated.h"
#include "device/device.h"
#include "softmma/softmma.h"

/* d of a batch of rows: of its operands, or of the first rows of a selection, if there is one, whose operands are
   written to the batch. The device is locked. False with one line. */
bool smma_device_rows(const smma_device *device, const smma_operation *operation, const smma_row_selection *selection,
                      const smma_batch *batch, char message[SMMA_DEVICE_MESSAGE]);

/* How many rows' results differ, and the number of the first; any if there is none. */
typedef struct {
  uint32_t rows, first;
} smma_device_difference;

/* Two operations of the same formats and K compared on the first `count` rows of a selection, fewer than 2^32, which
   never leave the device. Where `any_nan`, two NaN are the same. The device is locked. False with one line. */
bool smma_device_compare(const smma_device *device, const smma_operation operation[2], bool any_nan,
                         const smma_row_selection *selection, size_t count, smma_device_difference *found,
                         char message[SMMA_DEVICE_MESSAGE]);

#endif
