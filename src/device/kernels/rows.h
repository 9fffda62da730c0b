/* Dot-product-adds of rows on a device, one to an item. A row's codes lie behind those of the row before. */
#ifndef SMMA_DEVICE_KERNELS_ROWS_H
#define SMMA_DEVICE_KERNELS_ROWS_H

#include "core/draws.h"
#include "device/kernels/words.h"

SMMA_CORE void smma_read_codes(smma_format format, SMMA_GLOBAL const void *codes, int row, int count, uint64_t *out) {
  const int bytes = smma_code_bytes(format);
  int i;
  for (i = 0; i < count; i++) out[i] = smma_read_code(codes, bytes, (uint64_t)row * (uint64_t)count + (uint64_t)i);
}

SMMA_CORE void smma_write_codes(smma_format format, SMMA_GLOBAL void *codes, int row, int count, const uint64_t *x) {
  const int bytes = smma_code_bytes(format);
  int i;
  for (i = 0; i < count; i++) smma_write_code(codes, bytes, (uint64_t)row * (uint64_t)count + (uint64_t)i, x[i]);
}

/* d of `count` rows: of the operands in memory, or if they are `generated`, of the selection's, which are written
 * there.
 */
SMMA_KERNEL smma_kernel_rows(smma_operation argument, int count, smma_row_selection selection, int generated,
                             SMMA_GLOBAL void *a, SMMA_GLOBAL void *b, SMMA_GLOBAL void *c, SMMA_GLOBAL void *scale_a,
                             SMMA_GLOBAL void *scale_b, SMMA_GLOBAL void *d) {
  const smma_operation o = smma_operation_here(argument);
  const smma_row_recipe recipe = smma_row_recipe_of(&o);
  const int i = smma_item(0), scales = recipe.scales;
  smma_row row;
  if (i >= count) return;
  if (generated) {
    const uint64_t index = selection.first + (uint64_t)i;
    smma_draws draws = smma_draws_of(selection.seed, index);
    smma_fill_row(&draws, &recipe, smma_kind_of_row(&selection, index), &row);
    smma_write_codes(o.a, a, i, o.k, row.a);
    smma_write_codes(o.b, b, i, o.k, row.b);
    smma_write_codes(o.c, c, i, 1, &row.c);
    smma_write_codes(o.scale, scale_a, i, scales, row.scale_a);
    smma_write_codes(o.scale, scale_b, i, scales, row.scale_b);
  } else {
    smma_read_codes(o.a, a, i, o.k, row.a);
    smma_read_codes(o.b, b, i, o.k, row.b);
    smma_read_codes(o.c, c, i, 1, &row.c);
    smma_read_codes(o.scale, scale_a, i, scales, row.scale_a);
    smma_read_codes(o.scale, scale_b, i, scales, row.scale_b);
  }
  row.d = smma_row_compute(&o, &row);
  smma_write_codes(o.d, d, i, 1, &row.d);
}

#endif
