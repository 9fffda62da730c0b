/* Kernels of sums in two binary32 numbers: packing, and products of tiles. */
#ifndef SMMA_DEVICE_CUDA_TWO_LEVEL_CUH
#define SMMA_DEVICE_CUDA_TWO_LEVEL_CUH

#include "device/cuda/tile.cuh"
#include "device/cuda/two_level.h"

static_assert(sizeof(smma_two_panel) == TWO_PANEL_BYTES, "the host allocates panels");

/* Packs an operand of `lines` lines and K = `depth` into panels: one panel per block, one line per thread. Sets
   special[line] if the line has NaN or infinities. */
extern "C" __global__ void smma_two_pack_panels(smma_operation o, int of_a, int lines, int depth, const void *codes,
                                                const uint8_t *, smma_two_panel *panel, uint8_t *special) {
  const int line = blockIdx.y * TILE_LINES + threadIdx.x;
  const smma_format format = of_a ? o.a : o.b;
  const smma_two_operand operand = {
      codes, (uint64_t)lines, (uint64_t)depth, format, (smma_encoding_of(format).bits + 7) / 8, of_a != 0};
  if (smma_two_pack(&operand, line, (uint64_t)blockIdx.x * TWO_DEPTH,
                    &panel[(uint64_t)blockIdx.y * gridDim.x + blockIdx.x]))
    special[line] = 1;
}

/* Advances elements by all steps, or leaves them before the first step if the core must compute them; `from` receives
   the number of steps done. */
template <int F, int BLOCK, int KEPT>
__device__ static inline void advance_in_two(const smma_extent &extent, int panels, int bases, const smma_two_panel *a,
                                             const smma_two_panel *b, const uint8_t *special_a,
                                             const uint8_t *special_b, float *accumulator, int *from) {
  constexpr smma_chain chain = {SMMA_T_FDPA, F, BLOCK, KEPT, false};
  __shared__ smma_two_panel shared[2];
  const smma_two_panel *x = &shared[0], *y = &shared[1];
  const smma_tile_thread at = thread_of_tile();
  float c[TILE_ROWS * TILE_COLUMNS];
  a += (uint64_t)blockIdx.y * panels, b += (uint64_t)blockIdx.x * panels;
#pragma unroll
  for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) {
    const tile_element d = element_of_tile(extent, at, e);
    const float before = d.there ? accumulator[d.index] : 0;
    c[e] = smma_two_takes(&chain, bases, before) ? smma_two_cut(&chain, before) : 0;
  }
#pragma unroll 1
  for (int panel = 0; panel < panels; panel++) {
    load_panel(&shared[0], &a[panel]);
    load_panel(&shared[1], &b[panel]);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
#pragma unroll 1
    for (int first = 0; first < TWO_DEPTH; first += BLOCK) smma_two_block(&chain, x, y, at, first, bases, c);
    __syncthreads();
  }
  const smma_tile_thread same = anew(at);
#pragma unroll
  for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) {
    const tile_element d = element_of_tile(extent, same, e);
    if (!d.there) continue;
    const bool stays = special_a[d.row] || special_b[d.column] || !smma_two_takes(&chain, bases, accumulator[d.index]);
    if (!stays) accumulator[d.index] = c[e];
    from[d.index] = stays ? 0 : extent.steps;
  }
}

#define SMMA_TWO(F, L, KEPT, NAME)                                                                                 \
  extern "C" __global__ void __launch_bounds__(TILE_THREADS, 2)                                                    \
      smma_two_##NAME(smma_extent extent, int panels, int bases, const smma_two_panel *a, const smma_two_panel *b, \
                      const uint8_t *special_a, const uint8_t *special_b, float *accumulator, int *from) {         \
    advance_in_two<F, L, KEPT>(extent, panels, bases, a, b, special_a, special_b, accumulator, from);              \
  }
#include "device/cuda/kernels.def"

#endif
