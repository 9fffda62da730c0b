/* Operands and results in a device's memory: the functions of gather.h and row.h, computed by kernels of the device. */
#ifndef SMMA_GEMM_RESIDENT_H
#define SMMA_GEMM_RESIDENT_H

#include "device/device.h"
#include "device/kernels/arguments.h"
#include "gemm/gemm.h"

/* State of the functions below. */
typedef struct {
  const smma_multiplier *multiplier;
  void *program;
  char *message;
  void *order; /* on the device: the plan's order of the indices k; NULL if it is ascending */
} smma_resident;

/* A section of D, and the layout of accumulators. */
typedef struct {
  size_t row, column;
  smma_extent extent;
} smma_resident_part;

/* Checks that every matrix is in the device's memory and aligned to its elements, and waits until kernels may read
   it. On failure `message` explains why. */
smma_status smma_resident_check(const smma_multiplier *multiplier, char message[SMMA_DEVICE_MESSAGE]);

/* Uploads the plan's order of k to `order`, which the caller frees. On failure returns false and sets the message. */
bool smma_resident_begin(smma_resident *work);

/* Gathers operands of `lines` lines, starting at line `line`, into `to`. From each line it copies `count` elements
   along K or `count` scale factors, starting at index `first`, or the factor of block `first` of K. In `to`, the values
   of an index begin `apart` elements after those of the previous index. */
typedef enum { SMMA_RESIDENT_CODES, SMMA_RESIDENT_SCALES, SMMA_RESIDENT_FACTORS } smma_resident_what;
bool smma_resident_gather(const smma_resident *work, smma_resident_what what, bool of_a, size_t line, size_t lines,
                          size_t apart, size_t first, size_t count, void *to);

/* smma_resident_start sets accumulators from C, which is on the device. smma_resident_finish computes D from the final
   sums. */
bool smma_resident_start(const smma_resident *work, const smma_resident_part *part, void *sums);
bool smma_resident_finish(const smma_resident *work, const smma_resident_part *part, void *sums);

#endif
