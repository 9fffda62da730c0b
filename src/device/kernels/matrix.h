/* Reads and writes the caller's matrices in the device's memory, as src/gemm/gather.c, element.c and row.c do on the
   host. Only for drivers whose memory has addresses. */
#ifndef SMMA_DEVICE_MATRIX_H
#define SMMA_DEVICE_MATRIX_H

#include "core/range.h"
#include "device/kernels/fold.h"

SMMA_CORE smma_number smma_number_of_f64(uint64_t bits) { return smma_decode(smma_encoding_of(SMMA_F64), bits); }

/* Copies one element per work item: line smma_item(0) (a row of A or column of B), position smma_item(1) along K.
   Applies the order of k and the factor. Positions beyond K get `behind`; absent lines get +0. */
SMMA_KERNEL smma_kernel_gather(smma_gather_task t, SMMA_GLOBAL const void *from, SMMA_GLOBAL const uint64_t *order,
                               SMMA_GLOBAL void *to) {
  const int line = smma_item(0), item = smma_item(1), bytes = smma_code_bytes((smma_format)t.format);
  const smma_encoding f = smma_encoding_of((smma_format)t.format);
  const uint64_t k = t.k + (uint64_t)item;
  uint64_t code = line < t.lines ? t.behind : 0;
  if (line < t.lines && k < t.count) {
    const uint64_t index = t.ordered ? order[k] : k;
    code = index == ~(uint64_t)0 ? 0 : smma_read_code(from, bytes, t.first + line * t.line_step + index * t.k_step);
    if (t.scaled) code = smma_encode_product(f, smma_decode(f, code), smma_number_of_f64(t.factor));
  }
  smma_write_code(to, bytes, (uint64_t)item * t.apart + line, code);
}

SMMA_CORE uint64_t smma_at_place(smma_part_place x, int i, int j) {
  return x.first + i * x.row_step + j * x.column_step;
}

/* Returns x, or the rule's NaN if x is a NaN. */
SMMA_CORE uint64_t smma_with_one_nan(const smma_rule *rule, smma_format format, uint64_t x) {
  const smma_encoding f = smma_encoding_of(format);
  return format != SMMA_S32 && smma_decode(f, x).kind == SMMA_NAN ? smma_nan_of(f, rule->nan) : x;
}

/* Sets the accumulator of one element per work item to C times `beta` (a binary64), rounded to C's format, then to
   D's. */
SMMA_KERNEL smma_kernel_start(smma_operation argument, smma_extent e, smma_part_place c, int outer_format,
                              uint64_t beta, SMMA_GLOBAL const void *from, SMMA_GLOBAL void *sums) {
  const smma_operation o = smma_operation_here(argument);
  const smma_format format = (smma_format)c.format, outer = (smma_format)outer_format;
  const smma_encoding f = smma_encoding_of(format);
  const uint64_t one = (uint64_t)1023 << 52;
  const int i = smma_item(1), j = smma_item(0);
  uint64_t x;
  if (i >= e.rows || j >= e.columns) return;
  x = smma_read_code(from, smma_code_bytes(format), smma_at_place(c, i, j));
  if (beta != one) x = smma_encode_product(f, smma_decode(f, x), smma_number_of_f64(beta));
  x = smma_reformat(o.d, outer, o.rule.nan, smma_reformat(format, o.d, o.rule.nan, x));
  if (smma_has_one_nan(o.rule.nan)) x = smma_with_one_nan(&o.rule, outer, x);
  smma_write_code(sums, smma_code_bytes(outer), (uint64_t)i * e.columns_apart + j, x);
}

/* Converts a double to an integer, rounded to nearest, that wraps or saturates like the instruction's accumulator. */
SMMA_DEVICE uint64_t smma_finished_integer(smma_integer_overflow overflow, double x) {
  if (overflow == SMMA_INTEGER_WRAPS && isfinite(x))
    return smma_integer_encode(overflow, (int64_t)fmod(rint(x), 4294967296.0));
  return smma_encode_number(smma_encoding_of(SMMA_S32), smma_number_of_f64(smma_f64_bits(x)), SMMA_ROUND_NEAREST_EVEN,
                            SMMA_OVERFLOW_SATURATE);
}

/* Returns alpha * sum + beta * c in binary64, or beta * c if K is 0. */
SMMA_DEVICE double smma_finished_double(const smma_finish_task *t, double sum, double c) {
  const double d = smma_f64_of(t->beta) * c;
  return t->summed ? smma_f64_fma(smma_f64_of(t->alpha), sum, d) : d;
}

SMMA_DEVICE float smma_finished_float(const smma_rule *rule, const smma_finish_task *t, float x, float c, int j,
                                      SMMA_GLOBAL const float *bias) {
  const float alpha = (float)smma_f64_of(t->alpha), beta = (float)smma_f64_of(t->beta);
  for (int n = 0; n < t->count; n++) {
    const smma_format format = (smma_format)t->format[n];
    const smma_encoding f = smma_encoding_of(format);
    const bool computes =
        t->kind[n] <
        SMMA_FINISH_RELU; /* operations before RELU return the rule's NaN; RELU and later ones pass a NaN on */
    switch (t->kind[n]) {
      case SMMA_FINISH_ALPHA: x = smma_f32_fma(alpha, x, 0); break;
      case SMMA_FINISH_LINEAR:
        x = t->summed ? smma_f32_fma(alpha, x, smma_f32_multiply(beta, c)) : smma_f32_multiply(beta, c);
        break;
      case SMMA_FINISH_BETA: x = smma_f32_fma(beta, c, x); break;
      case SMMA_FINISH_BIAS: x = x + bias[t->column + (uint64_t)j]; break;
      case SMMA_FINISH_SCALE_D: x = smma_f32_multiply(x, (float)smma_f64_of(t->scale_d)); break;
      case SMMA_FINISH_RELU: x = x <= 0 ? 0 : x; break;
      case SMMA_FINISH_ROUND:
        x = smma_f32_of((uint32_t)smma_round_through(rule, SMMA_F32, format, smma_f32_bits(x)));
        break;
      default: {
        const float most = smma_f32_of((uint32_t)smma_reformat(format, SMMA_F32, rule->nan, smma_greatest_of(f)));
        const float least = smma_f32_of((uint32_t)smma_reformat(format, SMMA_F32, rule->nan, smma_least_of(f)));
        x = x > most ? most : x < least ? least : x;
      }
    }
    if (computes) x = smma_f32_of((uint32_t)smma_with_one_nan(rule, SMMA_F32, smma_f32_bits(x)));
  }
  return x;
}

/* Computes one element of D per work item from its sum and from C, by the epilogue. `d` and `c` may be the same
   buffer. */
SMMA_KERNEL smma_kernel_finish(smma_operation argument, smma_extent e, smma_finish_task t, smma_part_place c_place,
                               smma_part_place d_place, SMMA_GLOBAL const void *sums, SMMA_GLOBAL const void *c,
                               SMMA_GLOBAL const float *bias, SMMA_GLOBAL void *d) {
  const smma_operation o = smma_operation_here(argument);
  const smma_format outer = (smma_format)t.outer, of_c = (smma_format)c_place.format,
                    of_d = (smma_format)d_place.format;
  const int i = smma_item(1), j = smma_item(0);
  uint64_t x, y = 0;
  if (i >= e.rows || j >= e.columns) return;
  x = smma_read_code(sums, smma_code_bytes(outer), (uint64_t)i * e.columns_apart + j);
  if (t.reads_c)
    y = smma_reformat(of_c, outer, o.rule.nan, smma_read_code(c, smma_code_bytes(of_c), smma_at_place(c_place, i, j)));
  if (t.count) {
    if (outer == SMMA_S32)
      x = smma_finished_integer(smma_integer_overflow_of(&o.rule), smma_finished_double(&t, (int32_t)x, (int32_t)y));
    else if (outer == SMMA_F64)
      x = smma_with_one_nan(&o.rule, outer, smma_f64_bits(smma_finished_double(&t, smma_f64_of(x), smma_f64_of(y))));
    else
      x = smma_f32_bits(smma_finished_float(&o.rule, &t, smma_f32_of((uint32_t)x), smma_f32_of((uint32_t)y), j, bias));
  }
  smma_write_code(d, smma_code_bytes(of_d), smma_at_place(d_place, i, j), smma_reformat(outer, of_d, o.rule.nan, x));
}

#endif
