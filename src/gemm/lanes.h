/* Computes dot-product-adds of several test vectors at once, one per lane: the core's algorithms as plain loops over
   lanes, which compilers vectorise. Operands may have any exponents, and may be infinite or NaN. */
#ifndef SMMA_GEMM_LANES_H
#define SMMA_GEMM_LANES_H

#include <stddef.h>
#include <string.h>

#include "core/rule.h"

/* Number of test vectors that are computed together. */
enum { SMMA_LANES = 16 };

/* Encodings of one operand: entry [k][i] is element k of lane i. */
typedef union {
  uint32_t code[SMMA_MAXIMUM_K][SMMA_LANES];
  double f64[SMMA_MAXIMUM_K][SMMA_LANES]; /* used if the format is f64 */
} smma_lane_codes;

/* Operands and results of all lanes. */
typedef struct {
  smma_lane_codes a, b, scale_a, scale_b;
  uint64_t c[SMMA_LANES], d[SMMA_LANES];
} smma_lanes;

/* A task for lanes: to compute one block of an operation, or the whole operation. */
typedef struct {
  const smma_operation *operation;
  int block;              /* the fused block, or SMMA_ALL_BLOCKS for the whole dot-product-add */
  smma_format start, end; /* formats of c (start) and d (end): those of the operation, or formats that hold their
                             numbers without loss */
} smma_lane_task;

enum { SMMA_ALL_BLOCKS = -1 };

/* Computes d of each lane. Returns a mask of the lanes that the core must compute, because their d may be wrong. The
   thread must round to nearest and must not flush subnormals. */
typedef uint32_t smma_lane_function(const smma_lane_task *task, smma_lanes *lanes);

/* Returns d of one dot-product-add of T-FDPA that smma_lanes_take accepts. Each lane computes one product of a block.
   The arguments a and b are arrays of encodings in their containers. The same requirements on the thread apply. */
typedef uint32_t smma_row_function(const smma_operation *operation, const void *a, const void *b, uint32_t c);

/* Reports whether lanes compute an operation; otherwise only the core does. */
bool smma_lanes_take(const smma_operation *operation);

/* smma_lane_function_here and smma_row_function_here return the fastest function for this CPU, or NULL if no kernel is
   usable, for example on a big-endian machine. smma_compute_one_lane computes lane 0 only, on every machine. */
smma_lane_function *smma_lane_function_here(void);
smma_row_function *smma_row_function_here(void);
uint32_t smma_compute_one_lane(const smma_lane_task *task, smma_lanes *lanes);

#endif
