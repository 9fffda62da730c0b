/* Products whose operands and results are in a device's memory: kernels of the device do what gather.h and row.h do on
   the host. */
#ifndef SMMA_GEMM_RESIDENT_H
#define SMMA_GEMM_RESIDENT_H

#include "device/device.h"
#include "device/kernels/arguments.h"
#include "gemm/gemm.h"

/* A product on a device, as the functions below use it. */
typedef struct {
  const smma_multiplier *multiplier;
  void *program; /* the operation's kernels */
  char *message; /* the reason of a failure */
  void *order;   /* on the device: the plan's order of the indices k; NULL if it is ascending */
} smma_resident;

/* A section of D, and the layout of accumulators. */
typedef struct {
  size_t row, column;
  smma_extent extent;
} smma_resident_part;

/* Checks that every matrix is in the device's memory and aligned to its elements, and waits until kernels may read the
   matrices. Otherwise returns SMMA_INVALID_ARGUMENT or SMMA_DEVICE_FAILED, and `message` says why. */
smma_status smma_resident_check(const smma_multiplier *multiplier, char message[SMMA_DEVICE_MESSAGE]);

/* Uploads the plan's order of k to `order`, which the caller frees. Does nothing if the order is ascending. This and
   the following functions return false, with the reason in work->message, if they fail. */
bool smma_resident_begin(smma_resident *work);

/* What smma_resident_gather copies from each line. */
typedef enum {
  SMMA_RESIDENT_CODES,  /* elements along K */
  SMMA_RESIDENT_SCALES, /* scale factors of the instruction's blocks */
  SMMA_RESIDENT_FACTORS /* scale factors of a plan's blocks of K */
} smma_resident_what;

/* Copies `count` values of each of `lines` lines, starting at line `line` and index `first`, to the device's buffer
   `to`. There the values with one index are contiguous, and those with the next index begin `apart` values later. */
bool smma_resident_gather(const smma_resident *work, smma_resident_what what, bool of_a, size_t line, size_t lines,
                          size_t apart, size_t first, size_t count, void *to);

/* smma_resident_start sets the accumulators `sums` of a section from C. smma_resident_finish computes the section of D
   from its final sums. */
bool smma_resident_start(const smma_resident *work, const smma_resident_part *part, void *sums);
bool smma_resident_finish(const smma_resident *work, const smma_resident_part *part, void *sums);

#endif
