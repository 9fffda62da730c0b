/* A test vector ("row"): the operands and the result of one dot-product-add, as encodings. */
#ifndef SMMA_CORE_ROW_H
#define SMMA_CORE_ROW_H

#include "rule.h"

/* Only the elements that the operation has are read. `flags` holds exception flags (core/flags.h) if the rows have
 * them. */
typedef struct {
  uint64_t a[SMMA_MAXIMUM_K], b[SMMA_MAXIMUM_K], c, scale_a[SMMA_MAXIMUM_ROUNDED_K], scale_b[SMMA_MAXIMUM_ROUNDED_K], d,
      flags;
} smma_row;

SMMA_CORE void smma_decode_codes(smma_format format, const uint64_t *code, int count, smma_number *out) {
  smma_encoding f = smma_encoding_of(format);
  int i;
  for (i = 0; i < count; i++) out[i] = smma_decode(f, code[i]);
}

SMMA_CORE void smma_row_decode(const smma_operation *o, const smma_row *row, smma_decoded *x) {
  int scales = smma_scale_count(o->k, o->scale_block);
  smma_decode_codes(o->a, row->a, o->k, x->a);
  smma_decode_codes(o->b, row->b, o->k, x->b);
  smma_decode_codes(o->scale, row->scale_a, scales, x->scale_a);
  smma_decode_codes(o->scale, row->scale_b, scales, x->scale_b);
}

/* Computes d of a test vector with the model. */
SMMA_CORE uint64_t smma_row_compute(const smma_operation *o, const smma_row *row) {
  smma_decoded x;
  smma_row_decode(o, row, &x);
  return smma_dot_add(o, smma_operands_of(&x), row->c);
}

/* Reports whether two results of an operation agree: bit for bit, or both NaN if the unit's NaN payloads are not
   known. */
SMMA_CORE bool smma_same_result(const smma_operation *o, uint64_t expected, uint64_t got) {
  smma_encoding d = smma_encoding_of(o->d);
  if (expected == got) return true;
  return o->rule.nan == SMMA_NAN_QUIET && smma_decode(d, expected).kind == SMMA_NAN &&
         smma_decode(d, got).kind == SMMA_NAN;
}

/* Reports whether two results differ in bits and both are NaN. */
SMMA_CORE bool smma_differs_in_nan(smma_format format, uint64_t expected, uint64_t got) {
  smma_encoding d = smma_encoding_of(format);
  return expected != got && smma_decode(d, expected).kind == SMMA_NAN && smma_decode(d, got).kind == SMMA_NAN;
}

#endif
