/* Scale factors in the layout of cuBLAS and PyTorch. */
#include "softmma/scales.h"

#include <stdint.h>
#include <string.h>

enum { TILE_LINES = 128, TILE_FACTORS = 4, TILE = TILE_LINES * TILE_FACTORS };

static size_t tiles(size_t count, size_t of) { return count / of + (count % of != 0); }

/* Returns the index of a factor in the swizzled layout, of lines with `blocks` factors. */
static size_t place(size_t line, size_t factor, size_t blocks) {
  const size_t tile = line / TILE_LINES * tiles(blocks, TILE_FACTORS) + factor / TILE_FACTORS;
  return tile * TILE + line % 32 * 16 + line % TILE_LINES / 32 * 4 + factor % TILE_FACTORS;
}

size_t smma_swizzled_bytes(size_t lines, size_t blocks) {
  const size_t down = tiles(lines, TILE_LINES), along = tiles(blocks, TILE_FACTORS);
  return along && down > SIZE_MAX / TILE / along ? SIZE_MAX : down * along * TILE;
}

smma_status smma_swizzle_scales(const unsigned char *scales, size_t lines, size_t blocks, unsigned char *swizzled) {
  const size_t bytes = smma_swizzled_bytes(lines, blocks);
  if (bytes == SIZE_MAX) return SMMA_INVALID_DIMENSION;
  if (bytes) memset(swizzled, 0, bytes);
  for (size_t line = 0; line < lines; line++)
    for (size_t factor = 0; factor < blocks; factor++)
      swizzled[place(line, factor, blocks)] = scales[line * blocks + factor];
  return SMMA_OK;
}

smma_status smma_unswizzle_scales(const unsigned char *swizzled, size_t lines, size_t blocks, unsigned char *scales) {
  if (smma_swizzled_bytes(lines, blocks) == SIZE_MAX) return SMMA_INVALID_DIMENSION;
  for (size_t line = 0; line < lines; line++)
    for (size_t factor = 0; factor < blocks; factor++)
      scales[line * blocks + factor] = swizzled[place(line, factor, blocks)];
  return SMMA_OK;
}
