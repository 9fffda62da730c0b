/* FP4 kernels: packing, and products of 64 x 64 elements by 4 warps. */
#ifndef SMMA_DEVICE_CUDA_FP4_CUH
#define SMMA_DEVICE_CUDA_FP4_CUH

#include "device/cuda/fp4.h"
#include "device/cuda/tile.cuh"

static_assert(sizeof(smma_fp4_panel) == FP4_PANEL_BYTES, "the host allocates panels");

/* Packs an operand of `lines` lines and K = `depth` into panels: one panel per block, one line per thread. Sets
   special[line] if the core must compute the line. */
extern "C" __global__ void smma_fp4_pack_panels(smma_operation o, int of_a, int lines, int depth, const uint8_t *codes,
                                                const uint8_t *scales, smma_fp4_panel *panel, uint8_t *special) {
  const int line = blockIdx.y * TILE_LINES + threadIdx.x;
  const smma_fp4_operand operand = {codes, scales, (uint64_t)lines, (uint64_t)depth, o.scale, o.scale_block, of_a != 0};
  if (smma_fp4_pack(&operand, line, (uint64_t)blockIdx.x * FP4_DEPTH,
                    &panel[(uint64_t)blockIdx.y * gridDim.x + blockIdx.x]))
    special[line] = 1;
}

/* Tiles that a multiprocessor computes at a time, limited by registers. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800 || __CUDA_ARCH__ >= 1000)
enum { FP4_TILES = 2 };
#else
enum { FP4_TILES = 3 };
#endif

/* Advances elements by all steps, or leaves them before the first step if the core must compute them; `from` receives
   the number of steps done. Until the end, `from` is scratch memory for elements that are computed again. */
extern "C" __global__ void __launch_bounds__(TILE_THREADS, FP4_TILES)
    smma_fp4(smma_extent extent, int steps, int fraction, const smma_fp4_panel *a, const smma_fp4_panel *b,
             const uint8_t *special_a, const uint8_t *special_b, float *accumulator, int *from) {
  __shared__ smma_fp4_panel stage[2][2];
  const smma_tile_thread at = thread_of_tile();
  const int64_t start = smma_fp4_start(steps < 0);
  double c[TILE_ROWS * TILE_COLUMNS];
  uint32_t decides = 0; /* bit e: this kernel, not the core, computes element e */
  a += (uint64_t)blockIdx.y * steps, b += (uint64_t)blockIdx.x * steps;
#pragma unroll
  for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) {
    const tile_element d = element_of_tile(extent, at, e);
    const float before = d.there ? accumulator[d.index] : 0;
    const bool known = d.there & smma_fp4_takes(before) & !(special_a[d.row] | special_b[d.column]);
    decides |= (uint32_t)known << e;
    c[e] = known ? before : 0;
  }
  decides = together(decides);
  auto fetch = [&](int step) {
    if (step < steps) {
      load_panel(&stage[step % 2][0], &a[step]);
      load_panel(&stage[step % 2][1], &b[step]);
    }
    __pipeline_commit();
  };
  fetch(0);
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    const smma_fp4_panel *x = &stage[step % 2][0], *y = &stage[step % 2][1];
    uint32_t again = 0;
    fetch(step + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
#pragma unroll
    for (int first = 0; first < TILE_ROWS; first += FP4_BEGUN) {
      int64_t sum[FP4_BEGUN * TILE_COLUMNS];
      smma_fp4_sums(x, y, at, first, start, sum);
      __syncwarp(); /* keeps the compiler from reading later data earlier, which would occupy registers */
#pragma unroll
      for (int i = 0; i < FP4_BEGUN * TILE_COLUMNS; i++) {
        const int row = smma_tile_row(at, first + i / TILE_COLUMNS), column = smma_tile_column(at, i % TILE_COLUMNS);
        const int e = first * TILE_COLUMNS + i;
        again |= (uint32_t)smma_fp4_add(fraction, x->word[row], y->word[column], x->power[row], y->power[column],
                                        sum[i], &c[e])
                 << e;
      }
      __syncwarp();
    }
    again = together(again) & decides;
    if (again) {
      const smma_tile_thread same = anew(at);
#pragma unroll
      for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++)
        if (again >> e & 1) from[element_of_tile(extent, same, e).index] = __float_as_int((float)c[e]);
#pragma unroll 1
      for (uint32_t rest = again; rest; rest &= rest - 1) {
        const int e = __ffs(rest) - 1;
        const int row = smma_tile_row(same, e / TILE_COLUMNS), column = smma_tile_column(same, e % TILE_COLUMNS);
        int *here = &from[element_of_tile(extent, same, e).index];
        *here = __float_as_int((float)smma_fp4_step(fraction, x, y, row, column, __int_as_float(*here)));
      }
#pragma unroll
      for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++)
        if (again >> e & 1) c[e] = __int_as_float(from[element_of_tile(extent, same, e).index]);
    }
    __syncthreads();
  }
  const smma_tile_thread same = anew(at);
#pragma unroll
  for (int e = 0; e < TILE_ROWS * TILE_COLUMNS; e++) {
    const tile_element d = element_of_tile(extent, same, e);
    if (!d.there) continue;
    if (decides >> e & 1) accumulator[d.index] = (float)c[e];
    from[d.index] = decides >> e & 1 ? extent.steps : 0;
  }
}

#endif
