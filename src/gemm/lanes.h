/* Dot-product-adds of many rows together, a row to a lane: the algorithms of the core in plain loops over lanes, which
   compilers make vectors of. They compute any operands: exponents of any distance, infinity, NaN. */
#ifndef SMMA_GEMM_LANES_H
#define SMMA_GEMM_LANES_H

#include <stddef.h>
#include <string.h>

#include "core/rule.h"

enum { SMMA_LANES = 16 };

/* Encodings, element k of lane i at [k][i]. */
typedef union {
  uint32_t code[SMMA_MAXIMUM_K][SMMA_LANES];
  double f64[SMMA_MAXIMUM_K][SMMA_LANES]; /* where the format is f64 */
} smma_lane_codes;

typedef struct {
  smma_lane_codes a, b, scale_a, scale_b;
  uint64_t c[SMMA_LANES], d[SMMA_LANES];
} smma_lanes;

/* What is computed of an operation. */
typedef struct {
  const smma_operation *operation;
  int block;              /* the fused block, or SMMA_ALL_BLOCKS: the whole dot-product-add */
  smma_format start, end; /* formats of c and d: the operation's, or others without loss */
} smma_lane_task;

enum { SMMA_ALL_BLOCKS = -1 };

/* Computes d of each lane. Returns the lanes, as bits, that it leaves to the core. The thread rounds to nearest and
   keeps subnormals. */
typedef uint32_t smma_lane_function(const smma_lane_task *task, smma_lanes *lanes);

/* One dot-product-add of T-FDPA that lanes take, its products side by side; a and b are encodings in their containers.
   The same demands on the thread. */
typedef uint32_t smma_row_function(const smma_operation *operation, const void *a, const void *b, uint32_t c);

/* Whether they compute an operation; else only the core does. */
bool smma_lanes_take(const smma_operation *operation);

/* The fastest of this CPU, the second NULL if there is none; and one that computes lane 0 alone. */
smma_lane_function *smma_lane_function_here(void);
smma_row_function *smma_row_function_here(void);
uint32_t smma_compute_one_lane(const smma_lane_task *task, smma_lanes *lanes);

#endif
