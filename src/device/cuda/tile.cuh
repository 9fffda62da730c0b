/* Definitions shared by kernels of tiles. */
#ifndef SMMA_DEVICE_CUDA_TILE_CUH
#define SMMA_DEVICE_CUDA_TILE_CUH

#include <cuda_pipeline_primitives.h>

#include "device/cuda/tile.h"
#include "device/kernels/arguments.h"

template <class PANEL>
__device__ static inline void load_panel(PANEL *to, const PANEL *from) {
#pragma unroll
  for (int i = 0; i < (int)sizeof(PANEL); i += TILE_THREADS * 16) {
    const int at = i + threadIdx.x * 16;
    if (at < (int)sizeof(PANEL)) __pipeline_memcpy_async((char *)to + at, (const char *)from + at, 16);
  }
}

__device__ static inline smma_tile_thread thread_of_tile() {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  return {warp / 2 * 32 + lane / 8, warp % 2 * 32 + lane % 8};
}

/* An element of a thread, in D. */
struct tile_element {
  int row, column;
  uint64_t index;
  bool there;
};

__device__ static inline tile_element element_of_tile(const smma_extent &x, smma_tile_thread at, int e) {
  tile_element d;
  d.row = blockIdx.y * TILE_LINES + smma_tile_row(at, e / TILE_COLUMNS);
  d.column = blockIdx.x * TILE_LINES + smma_tile_column(at, e % TILE_COLUMNS);
  d.index = (uint64_t)d.row * x.columns_apart + d.column;
  d.there = d.row < x.rows && d.column < x.columns;
  return d;
}

/* Returns `bits`; the compiler must hold them in one register rather than in one register each. */
__device__ static inline uint32_t together(uint32_t bits) {
  asm volatile("" : "+r"(bits));
  return bits;
}

/* Returns the same position, which the compiler must compute again, to save registers. */
__device__ static inline smma_tile_thread anew(smma_tile_thread at) {
  asm volatile("" : "+r"(at.row), "+r"(at.column));
  return at;
}

#endif
