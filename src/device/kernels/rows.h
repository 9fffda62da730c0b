/* Computes the dot-product-adds of test vectors ("rows") on a device, one per work item. The codes of consecutive
   rows are contiguous. */
#ifndef SMMA_DEVICE_KERNELS_ROWS_H
#define SMMA_DEVICE_KERNELS_ROWS_H

#include "core/draws.h"
#include "device/kernels/words.h"

SMMA_CORE void smma_write_codes(smma_format format, SMMA_GLOBAL void *codes, int row, int count, const uint64_t *x) {
  const int bytes = smma_code_bytes(format);
  int i;
  for (i = 0; i < count; i++) smma_write_code(codes, bytes, (uint64_t)row * (uint64_t)count + (uint64_t)i, x[i]);
}

/* Generates the operands of the first `count` rows of a selection. */
SMMA_KERNEL smma_kernel_generate(smma_operation argument, int count, smma_row_selection selection, SMMA_GLOBAL void *a,
                                 SMMA_GLOBAL void *b, SMMA_GLOBAL void *c, SMMA_GLOBAL void *scale_a,
                                 SMMA_GLOBAL void *scale_b) {
  const smma_operation o = smma_operation_here(argument);
  const smma_row_recipe recipe = smma_row_recipe_of(&o);
  const int item = smma_item(0), of = item % SMMA_ROWS_TOGETHER, together = SMMA_ROWS_TOGETHER / SMMA_ROWS_APART;
  const int i = item - of + of % together * SMMA_ROWS_APART + of / together;
  const uint64_t index = selection.first + (uint64_t)i;
  smma_draws draws = smma_draws_of(selection.seed, index);
  smma_row row;
  if (i >= count) return;
  smma_fill_row(&draws, &recipe, smma_kind_of_row(&selection, index), &row);
  smma_write_codes(o.a, a, i, o.k, row.a);
  smma_write_codes(o.b, b, i, o.k, row.b);
  smma_write_codes(o.c, c, i, 1, &row.c);
  smma_write_codes(o.scale, scale_a, i, recipe.scales, row.scale_a);
  smma_write_codes(o.scale, scale_b, i, recipe.scales, row.scale_b);
}

SMMA_CORE void smma_read_numbers(smma_format format, SMMA_GLOBAL const void *codes, int row, int count,
                                 smma_number *out) {
  const smma_encoding f = smma_encoding_of(format);
  const int bytes = smma_code_bytes(format);
  int i;
  SMMA_UNROLL for (i = 0; i < count; i++) out[i] =
      smma_decode(f, smma_read_code(codes, bytes, (uint64_t)row * (uint64_t)count + (uint64_t)i));
}

/* Returns d of row i. */
SMMA_CORE uint64_t smma_row_of_codes(const smma_operation *o, int i, SMMA_GLOBAL const void *a,
                                     SMMA_GLOBAL const void *b, SMMA_GLOBAL const void *c,
                                     SMMA_GLOBAL const void *scale_a, SMMA_GLOBAL const void *scale_b) {
  const int scales = smma_scale_count(o->k, o->scale_block);
  smma_decoded x;
  smma_read_numbers(o->a, a, i, o->k, x.a);
  smma_read_numbers(o->b, b, i, o->k, x.b);
  smma_read_numbers(o->scale, scale_a, i, scales, x.scale_a);
  smma_read_numbers(o->scale, scale_b, i, scales, x.scale_b);
  return smma_dot_add(o, smma_operands_of(&x), smma_read_code(c, smma_code_bytes(o->c), (uint64_t)i));
}

/* Computes d of `count` rows. */
SMMA_KERNEL smma_kernel_rows(smma_operation argument, int count, SMMA_GLOBAL const void *a, SMMA_GLOBAL const void *b,
                             SMMA_GLOBAL const void *c, SMMA_GLOBAL const void *scale_a,
                             SMMA_GLOBAL const void *scale_b, SMMA_GLOBAL void *d) {
  const smma_operation o = smma_operation_here(argument);
  const int i = smma_item(0);
  if (i >= count) return;
  smma_write_code(d, smma_code_bytes(o.d), (uint64_t)i, smma_row_of_codes(&o, i, a, b, c, scale_a, scale_b));
}

/* Computes `count` rows, numbered from `first` on, and compares the results with d. Adds the number of mismatches to
   found[0], and lowers found[1] to the least number of a mismatch. With `any_nan`, all NaN are equal: see
   smma_same_result. */
SMMA_KERNEL smma_kernel_compare(smma_operation argument, int count, uint32_t first, int any_nan,
                                SMMA_GLOBAL const void *a, SMMA_GLOBAL const void *b, SMMA_GLOBAL const void *c,
                                SMMA_GLOBAL const void *scale_a, SMMA_GLOBAL const void *scale_b,
                                SMMA_GLOBAL const void *d, SMMA_GLOBAL uint32_t *found) {
  const smma_operation o = smma_operation_here(argument);
  const smma_encoding f = smma_encoding_of(o.d);
  const int i = smma_item(0);
  uint64_t x, y;
  if (i >= count) return;
  x = smma_read_code(d, smma_code_bytes(o.d), (uint64_t)i);
  y = smma_row_of_codes(&o, i, a, b, c, scale_a, scale_b);
  if (x == y || (any_nan && smma_decode(f, x).kind == SMMA_NAN && smma_decode(f, y).kind == SMMA_NAN)) return;
  smma_count_one(&found[0]);
  smma_lower_to(&found[1], first + (uint32_t)i);
}

#endif
