/* A tile of D: TILE_LINES x TILE_LINES elements by 4 warps, each of 32 x 32. */
#ifndef SMMA_DEVICE_CUDA_TILE_H
#define SMMA_DEVICE_CUDA_TILE_H

#include "device/cuda/choice.h"
#include "device/cuda/words.h"

SMMA_CORE uint32_t smma_word(smma_four x, int i) { return x.of[i / 2].of[i % 2]; }

/* A thread's elements: rows 0, 4, 8.. 28 and columns 0, 8, 16, 24 from here on. */
typedef struct {
  int row, column;
} smma_tile_thread;

SMMA_CORE int smma_tile_row(smma_tile_thread at, int i) { return at.row + i * 4; }
SMMA_CORE int smma_tile_column(smma_tile_thread at, int j) { return at.column + j * 8; }

/* Returns the position of a line among 32 lines; it places the lines of a thread next to each other. */
SMMA_CORE int smma_tile_place(bool of_a, int line) {
  const int in_32 = line % 32, apart = of_a ? 4 : 8;
  return line - in_32 + in_32 % apart * (32 / apart) + in_32 / apart;
}

#endif
