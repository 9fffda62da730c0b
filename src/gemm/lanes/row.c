#include "gemm/lanes/row.h"

#include "gemm/families.h"

uint32_t SMMA_OF_KERNEL(row)(const smma_operation *operation, const void *a, const void *b, uint32_t c) {
  return lane_row(operation, a, b, c);
}
