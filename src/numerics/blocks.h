/* Block-scaled numbers, each block with one scale factor, as in OCP's Microscaling Formats 1.0 and in NVFP4. */
#ifndef SMMA_NUMERICS_BLOCKS_H
#define SMMA_NUMERICS_BLOCKS_H

#include "isa/formats.h"
#include "softmma/status.h"

/* Quantises a row-major matrix in blocks along K. K runs along the rows if `along_rows`, otherwise down the columns.

   NVFP4 (e2m1 with ue4m3) has two levels, as in numerics/operand.h: the result of a product is multiplied by the FP32
   factor of each tensor. `*factor` is the factor to use, or 0 to compute it from the matrix; it receives the factor
   used. In other formats it receives 1, and the scale factors are computed from each block alone:

   A ue8m0 scale factor is a power of two: the exponent of the block's greatest magnitude minus the exponent of the
   element format's greatest number. Any other scale factor is the quotient of the two greatest magnitudes, RNE. The
   elements are divided by the scale factor and rounded, RNE. Both saturate. A NaN or infinity in a block makes its
   scale factor NaN.

   `values` receives the encodings, one byte each, in the order of `x`. `scales` receives the scale factors; those of
   each line along K are contiguous. Errors: SMMA_NO_MEMORY. */
smma_status smma_quantize(const smma_block_format *format, const double *x, size_t rows, size_t columns,
                          bool along_rows, float *factor, unsigned char *values, unsigned char *scales);

/* Reports whether the format has a second level: an FP32 factor for each tensor. */
static inline bool smma_has_tensor_factor(const smma_block_format *format) {
  return format->element == SMMA_E2M1 && format->scale == SMMA_UE4M3;
}

#endif
