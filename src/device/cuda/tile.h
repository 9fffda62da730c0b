/* A tile of D: TILE_LINES x TILE_LINES elements, computed by 4 warps of 32 x 32 elements each. */
#ifndef SMMA_DEVICE_CUDA_TILE_H
#define SMMA_DEVICE_CUDA_TILE_H

#include "device/cuda/choice.h"
#include "device/cuda/words.h"

SMMA_CORE uint32_t smma_word(smma_four x, int i) { return x.of[i / 2].of[i % 2]; }

/* A thread's first row and column. Its elements are in this row and those 4, 8 .. 28 further, and in this column and
   those 8, 16 and 24 further. */
typedef struct {
  int row, column;
} smma_tile_thread;

SMMA_CORE int smma_tile_row(smma_tile_thread at, int i) { return at.row + i * 4; }
SMMA_CORE int smma_tile_column(smma_tile_thread at, int j) { return at.column + j * 8; }

/* Returns the position of a line in a panel. Lines are permuted within each 32, so that those of one thread are
   adjacent. */
SMMA_CORE int smma_tile_place(bool of_a, int line) {
  const int in_32 = line % 32, apart = of_a ? 4 : 8;
  return line - in_32 + in_32 % apart * (32 / apart) + in_32 / apart;
}

#endif
