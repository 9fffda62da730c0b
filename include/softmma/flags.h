/* Exception flags of IEEE 754 for dot-product-adds.
 *
 * This header may change in any version, unlike softmma.h. The rules of softmma.h for threads, errors and structs
 * apply. */
#ifndef SOFTMMA_FLAGS_H
#define SOFTMMA_FLAGS_H

#include "softmma/softmma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The flags, with the bits of SoftFloat and TestFloat. No matrix unit divides, so SMMA_FLAG_DIVIDE_BY_ZERO is never
 * set. */
enum {
  SMMA_FLAG_INEXACT = 1,
  SMMA_FLAG_UNDERFLOW = 2,
  SMMA_FLAG_OVERFLOW = 4,
  SMMA_FLAG_DIVIDE_BY_ZERO = 8,
  SMMA_FLAG_INVALID = 16
};

/* When a nonzero result below the least normal magnitude counts as tiny (IEEE 754-2019, section 7.5). */
typedef enum {
  SMMA_TININESS_OF_UNIT = 0, /* before rounding on Arm, Apple and Power, after rounding on all other units */
  SMMA_TININESS_BEFORE_ROUNDING = 1,
  SMMA_TININESS_AFTER_ROUNDING = 2 /* rounded as if exponents had no lower end */
} smma_tininess;

/* Returns when the unit of an instruction detects tininess; SMMA_TININESS_OF_UNIT if the instruction has no flags, and
 * for NULL. */
SMMA_API smma_tininess smma_tininess_of(const smma_instruction *instruction);

/* Computes the exception flags of every row of a batch: the OR of the flags that IEEE 754 defines for the operations
 * of the instruction's rule. Underflow is set if a result is tiny and inexact. 0 times infinity is invalid also if the
 * addend is a quiet NaN. `flags` receives one byte a row. d, unless it is NULL, receives the results of smma_dot_rows;
 * d may be c if their formats are the same. Otherwise the arrays must not overlap.
 *
 * Rules that have flags consist of additions, multiplications, fused multiply-adds, conversions and sums of two
 * products, each rounded once with subnormals (docs/hardware-design.md). Errors: as smma_dot_rows;
 * SMMA_INVALID_ARGUMENT also for an instruction with another rule, even if the batch has no rows. */
SMMA_API smma_status smma_dot_flags(const smma_instruction *instruction, const smma_batch *batch,
                                    smma_tininess tininess, int threads, unsigned char *flags, smma_error *error);

#ifdef __cplusplus
}
#endif

#endif
