/* Block-scaled numbers, each block with one scale factor, as in OCP's Microscaling Formats 1.0 and in NVFP4. */
#ifndef SMMA_NUMERICS_BLOCKS_H
#define SMMA_NUMERICS_BLOCKS_H

#include "isa/formats.h"

/* Quantises `count` numbers in blocks.

   A ue8m0 scale factor is a power of two: the exponent of the block's greatest magnitude minus the exponent of the
   element format's greatest number. Any other scale factor is the quotient of the two greatest magnitudes, RNE. The
   elements are divided by the scale factor and rounded, RNE. Both saturate. A NaN or infinity in a block makes its
   scale factor NaN.

   The numbers lie `stride` apart, and so do their encodings, one byte each; the scale factors are contiguous. */
void smma_quantize(const smma_block_format *format, const double *x, size_t stride, size_t count, unsigned char *values,
                   unsigned char *scales);

#endif
