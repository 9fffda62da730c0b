/* Numbers in blocks with a scale factor each, as OCP's Microscaling Formats 1.0 and NVFP4 have them. */
#ifndef SMMA_NUMERICS_BLOCKS_H
#define SMMA_NUMERICS_BLOCKS_H

#include "isa/formats.h"

/* The scale factor of a block is a power of two (ue8m0): the exponent of its greatest magnitude less that of the
   elements' format; or else the quotient of the greatest magnitudes, RNE. Elements are the quotients by it, RNE. Both
   saturate. NaN and infinity make the scale factor NaN.

   `count` numbers lie `stride` apart, and so do their encodings, a byte each; the scale factors are contiguous. */
void smma_quantize(const smma_block_format *format, const double *x, size_t stride, size_t count, unsigned char *values,
                   unsigned char *scales);

#endif
