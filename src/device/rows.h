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

#endif
