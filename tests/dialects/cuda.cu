/* The core as CUDA C++: it compiles for the device unchanged. */
#include "core/draws.h"

/* Computes d[i] = c[i] + the dot product of rows i of a and b, which are decoded operands of an operation without scale
   factors. */
extern "C" __global__ void dot_add(smma_operation operation, const smma_number *a, const smma_number *b,
                                   const uint64_t *c, uint64_t *d, int count) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  smma_operands operands = {a + i * operation.k, b + i * operation.k, nullptr, nullptr};
  d[i] = smma_dot_add(&operation, operands, c[i]);
}

/* Computes one dot product on the host, with the same compiler. */
extern "C" uint64_t dot_add_on_host(const smma_operation *operation, smma_operands operands, uint64_t c) {
  return smma_dot_add(operation, operands, c);
}

/* Generates test vectors on the device. */
extern "C" __global__ void generate(smma_operation operation, smma_row_selection x, smma_row *row, int count) {
  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count) return;
  smma_row_recipe recipe = smma_row_recipe_of(&operation);
  smma_draws draws = smma_draws_of(x.seed, x.first + (uint64_t)i);
  smma_fill_row(&draws, &recipe, smma_kind_of_row(&x, x.first + (uint64_t)i), &row[i]);
}
