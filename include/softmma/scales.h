/* Scale factors of blocks along K in the layout of cuBLAS and PyTorch.
 *
 * This header may change in any version, unlike softmma.h. */
#ifndef SOFTMMA_SCALES_H
#define SOFTMMA_SCALES_H

#include <stddef.h>

#include "softmma/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scale factors of one byte (UE8M0, UE4M3) belong to `lines` rows of A, or columns of B, with `blocks` factors each.
 * SoftMMA takes them line by line: factor b of line l is at l * blocks + b. The swizzled layout consists of tiles of
 * 128 lines x 4 factors, row of tiles by row of tiles; factor b of line l is at
 *
 *   512 * (l / 128 * ceil(blocks / 4) + b / 4) + l % 32 * 16 + l % 128 / 32 * 4 + b % 4
 *
 * with integer division. Lines and factors that fill the last tiles are 0.
 *
 * Source: NVIDIA cuBLAS 13 documentation, "1D Block Scaling Factors Layout"; to_blocked of torchao 0.18.0. PyTorch
 * calls the layout SWIZZLE_32_4_4. */

/* Returns the number of bytes of swizzled factors: 512 * ceil(lines / 128) * ceil(blocks / 4); SIZE_MAX if that is more
 * than SIZE_MAX. */
SMMA_API size_t smma_swizzled_bytes(size_t lines, size_t blocks);

/* Writes all smma_swizzled_bytes of `swizzled`. Errors: SMMA_INVALID_DIMENSION if smma_swizzled_bytes is SIZE_MAX. */
SMMA_API smma_status smma_swizzle_scales(const unsigned char *scales, size_t lines, size_t blocks,
                                         unsigned char *swizzled);

/* Writes lines * blocks factors, line by line. Errors: as smma_swizzle_scales. */
SMMA_API smma_status smma_unswizzle_scales(const unsigned char *swizzled, size_t lines, size_t blocks,
                                           unsigned char *scales);

#ifdef __cplusplus
}
#endif

#endif
