#include "numerics/blocks.h"

#include <math.h>

#include "numerics/operand.h"

static uint64_t nearest(smma_format format, double x) {
  return smma_format_encode(format, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
}

static void quantize_block(const smma_block_format *f, const double *x, size_t stride, size_t count,
                           unsigned char *values, unsigned char *scale) {
  const double greatest_of_format = smma_format_decode(f->element, nearest(f->element, INFINITY));
  double greatest = 0, factor;
  for (size_t i = 0; i < count; i++)
    greatest = isfinite(x[i * stride]) && !isnan(greatest) ? fmax(greatest, fabs(x[i * stride])) : NAN;
  *scale = (unsigned char)nearest(f->scale, greatest / greatest_of_format);
  factor = smma_format_decode(f->scale, *scale);
  for (size_t i = 0; i < count; i++) {
    double quotient = factor == 0 ? copysign(0, x[i * stride]) : x[i * stride] / factor;
    values[i * stride] = (unsigned char)nearest(f->element, quotient);
  }
}

static void quantize_line(const smma_block_format *f, const double *x, size_t stride, size_t count,
                          unsigned char *values, unsigned char *scales) {
  size_t block = (size_t)f->block;
  for (size_t i = 0; i < count; i += block)
    quantize_block(f, x + i * stride, stride, count - i < block ? count - i : block, values + i * stride,
                   scales + i / block);
}

/* Quantises by a recipe's rule: NVFP4 in two levels, or factors in UE8M0. */
static smma_status quantize_by_rule(const smma_block_format *f, const double *x, size_t rows, size_t columns,
                                    bool along_rows, float *factor, unsigned char *values, unsigned char *scales) {
  const bool powers = f->scale == SMMA_UE8M0;
  const smma_operand_rule rule = {.format = f->element,
                                  .factor = f->scale,
                                  .rows = 1,
                                  .columns = (size_t)f->block,
                                  .formula = powers ? SMMA_FORMULA_OCP : SMMA_FORMULA_TE,
                                  .scale_rounding = SMMA_SCALE_FLOOR,
                                  .overflow = SMMA_OVERFLOW_SATURATE,
                                  .compute = SMMA_NO_FORMAT,
                                  .given = powers ? 0 : *factor,
                                  .rounding = SMMA_ROUND_NEAREST_EVEN};
  smma_operand o = {.x = x, .f64 = true, .batch = 1, .outer = rows, .inner = columns, .k_inner = along_rows};
  o.values = values, o.scales = scales, o.factor = powers ? NULL : factor;
  if (powers) *factor = 1;
  return smma_make_operand(&rule, &o);
}

smma_status smma_quantize(const smma_block_format *f, const double *x, size_t rows, size_t columns, bool along_rows,
                          float *factor, unsigned char *values, unsigned char *scales) {
  const size_t lines = along_rows ? rows : columns, k = along_rows ? columns : rows;
  const size_t blocks = k / (size_t)f->block + (k % (size_t)f->block != 0);
  if (f->scale == SMMA_UE8M0 || smma_has_tensor_factor(f))
    return quantize_by_rule(f, x, rows, columns, along_rows, factor, values, scales);
  *factor = 1;
  for (size_t line = 0; line < lines; line++) {
    const size_t first = along_rows ? line * columns : line;
    quantize_line(f, x + first, along_rows ? 1 : columns, k, values + first, scales + line * blocks);
  }
  return SMMA_OK;
}
