/* The core as OpenCL C: it compiles for the device unchanged. */
#include "core/draws.h"

/* Computes d[i] = c[i] + the dot product of rows i of a and b, which are decoded operands of an operation without scale
   factors. */
kernel void dot_add(global const smma_operation *operation, global const smma_number *a, global const smma_number *b,
                    global const ulong *c, global ulong *d) {
  size_t i = get_global_id(0);
  smma_operation o = *operation;
  smma_number x[SMMA_MAXIMUM_K], y[SMMA_MAXIMUM_K];
  smma_operands operands = {x, y, 0, 0};
  for (int k = 0; k < o.k; k++) {
    x[k] = a[i * o.k + k];
    y[k] = b[i * o.k + k];
  }
  d[i] = smma_dot_add(&o, operands, c[i]);
}

/* Generates test vectors on the device. */
kernel void generate(global const smma_operation *operation, smma_row_selection x, global smma_row *rows) {
  size_t i = get_global_id(0);
  smma_operation o = *operation;
  smma_row_recipe recipe = smma_row_recipe_of(&o);
  smma_draws draws = smma_draws_of(x.seed, x.first + i);
  smma_row row;
  smma_fill_row(&draws, &recipe, smma_kind_of_row(&x, x.first + i), &row);
  rows[i] = row;
}
