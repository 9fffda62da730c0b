/* Operands and results in a device's memory: what gather.h and row.h do on the host, by kernels of the device. */
#ifndef SMMA_GEMM_RESIDENT_H
#define SMMA_GEMM_RESIDENT_H

#include "device/device.h"
#include "device/kernels/arguments.h"
#include "gemm/gemm.h"

/* What the functions below work with. */
typedef struct {
  const smma_multiplier *multiplier;
  void *program;
  char *message;
  void *order; /* on the device: where a plan takes k in another order, its indices; else NULL */
} smma_resident;

/* A part of D, and how accumulators lie. */
typedef struct {
  size_t row, column;
  smma_extent extent;
} smma_resident_part;

/* Whether every matrix is in the device's memory, aligned to its elements, and kernels may read it now. Else a line. */
smma_status smma_resident_check(const smma_multiplier *multiplier, char message[SMMA_DEVICE_MESSAGE]);

/* Brings the order of k to the device; false with a line. Freed by the caller. */
bool smma_resident_begin(smma_resident *work);

/* What kernels read of an operand: `count` indices k, scale factors or, of parts of K with factors, one, from `first`
   on, of `lines` lines from `line` on; `apart` there. */
typedef enum { SMMA_RESIDENT_CODES, SMMA_RESIDENT_SCALES, SMMA_RESIDENT_FACTORS } smma_resident_what;
bool smma_resident_gather(const smma_resident *work, smma_resident_what what, bool of_a, size_t line, size_t lines,
                          size_t apart, size_t first, size_t count, void *to);

/* Accumulators from C, which is there; D from the sums at last. */
bool smma_resident_start(const smma_resident *work, const smma_resident_part *part, void *sums);
bool smma_resident_finish(const smma_resident *work, const smma_resident_part *part, void *sums);

#endif
