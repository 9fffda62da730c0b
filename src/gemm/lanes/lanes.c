#include "gemm/lanes/lanes.h"

#include "gemm/families.h"

uint32_t SMMA_OF_KERNEL(lanes)(const smma_lane_task *task, smma_lanes *lanes) {
  return lane_compute(task, lanes, SMMA_LANES);
}
