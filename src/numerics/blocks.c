#include "numerics/blocks.h"

#include <math.h>

#include "softmma/softmma.h"

static uint64_t nearest(smma_format format, double x) {
  return smma_format_encode(format, x, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_SATURATE);
}

/* Returns the scale factor of a block with the given greatest magnitude. The exponent of x in [2^e, 2^(e+1)) is
   exact. */
static uint64_t scale_of(const smma_block_format *f, double greatest) {
  double of_format = smma_format_decode(f->element, nearest(f->element, INFINITY));
  if (f->scale != SMMA_UE8M0) return nearest(f->scale, greatest / of_format);
  if (!(greatest > 0)) return nearest(SMMA_UE8M0, greatest);
  return nearest(SMMA_UE8M0, ldexp(1, ilogb(greatest) - ilogb(of_format)));
}

static void quantize_block(const smma_block_format *f, const double *x, size_t stride, size_t count,
                           unsigned char *values, unsigned char *scale) {
  double greatest = 0, factor;
  for (size_t i = 0; i < count; i++)
    greatest = isfinite(x[i * stride]) && !isnan(greatest) ? fmax(greatest, fabs(x[i * stride])) : NAN;
  *scale = (unsigned char)scale_of(f, greatest);
  factor = smma_format_decode(f->scale, *scale);
  for (size_t i = 0; i < count; i++) {
    double quotient = factor == 0 ? copysign(0, x[i * stride]) : x[i * stride] / factor;
    values[i * stride] = (unsigned char)nearest(f->element, quotient);
  }
}

void smma_quantize(const smma_block_format *f, const double *x, size_t stride, size_t count, unsigned char *values,
                   unsigned char *scales) {
  size_t block = (size_t)f->block;
  for (size_t i = 0; i < count; i += block)
    quantize_block(f, x + i * stride, stride, count - i < block ? count - i : block, values + i * stride,
                   scales + i / block);
}
