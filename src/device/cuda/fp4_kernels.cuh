/* FP4's kernels: packing, and products of 64 x 64 elements by 4 warps. */
#ifndef SMMA_DEVICE_CUDA_FP4_KERNELS_CUH
#define SMMA_DEVICE_CUDA_FP4_KERNELS_CUH

#include <cuda_pipeline_primitives.h>

#include "device/cuda/fp4.h"

static_assert(sizeof(smma_fp4_panel) == FP4_PANEL_BYTES, "the host allocates panels");

/* As smma_chain_pack_panels. */
extern "C" __global__ void smma_fp4_pack_panels(smma_operation o, int of_a, int lines, int depth, const uint8_t *codes,
                                                const uint8_t *scales, smma_fp4_panel *panel, uint8_t *special) {
  const int line = blockIdx.y * FP4_LINES + threadIdx.x;
  const smma_fp4_operand operand = {codes, scales, (uint64_t)lines, (uint64_t)depth, o.scale, o.scale_block, of_a != 0};
  if (smma_fp4_pack(&operand, line, (uint64_t)blockIdx.x * FP4_DEPTH,
                    &panel[(uint64_t)blockIdx.y * gridDim.x + blockIdx.x]))
    special[line] = 1;
}

__device__ static inline void load_panel(smma_fp4_panel *to, const smma_fp4_panel *from) {
#pragma unroll
  for (int i = 0; i < FP4_PANEL_BYTES; i += FP4_THREADS * 16) {
    const int at = i + threadIdx.x * 16;
    if (at < FP4_PANEL_BYTES) __pipeline_memcpy_async((char *)to + at, (const char *)from + at, 16);
  }
}

/* An element of a thread, in D. */
struct fp4_element {
  int row, column;
  uint64_t index;
  bool there;
};

__device__ static inline fp4_element fp4_element_of(const smma_extent &x, smma_fp4_thread at, int e) {
  fp4_element d;
  d.row = blockIdx.y * FP4_LINES + smma_fp4_row(at, e / FP4_COLUMNS);
  d.column = blockIdx.x * FP4_LINES + smma_fp4_column(at, e % FP4_COLUMNS);
  d.index = (uint64_t)d.row * x.columns_apart + d.column;
  d.there = d.row < x.rows && d.column < x.columns;
  return d;
}

/* Bits that the compiler does not keep each in a register. */
__device__ static inline uint32_t together(uint32_t bits) {
  asm volatile("" : "+r"(bits));
  return bits;
}

/* The same, computed anew: registers are few. */
__device__ static inline smma_fp4_thread anew(smma_fp4_thread at) {
  asm volatile("" : "+r"(at.row), "+r"(at.column));
  return at;
}

/* Elements advance by all steps, or stay before the first where the core decides. Meanwhile `from` holds what is
   computed once more. */
extern "C" __global__ void __launch_bounds__(FP4_THREADS, 3)
    smma_fp4(smma_extent extent, int steps, int fraction, const smma_fp4_panel *a, const smma_fp4_panel *b,
             const uint8_t *special_a, const uint8_t *special_b, float *accumulator, int *from) {
  __shared__ smma_fp4_panel stage[2][2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const smma_fp4_thread at = {warp / 2 * 32 + lane / 8, warp % 2 * 32 + lane % 8};
  const int64_t start = smma_fp4_start(steps < 0);
  double c[FP4_ROWS * FP4_COLUMNS];
  uint32_t decides = 0; /* a bit for each element */
  a += (uint64_t)blockIdx.y * steps, b += (uint64_t)blockIdx.x * steps;
#pragma unroll
  for (int e = 0; e < FP4_ROWS * FP4_COLUMNS; e++) {
    const fp4_element d = fp4_element_of(extent, at, e);
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
    for (int first = 0; first < FP4_ROWS; first += FP4_BEGUN) {
      int64_t sum[FP4_BEGUN * FP4_COLUMNS];
      smma_fp4_sums(x, y, at, first, start, sum);
      __syncwarp(); /* what is read from here on takes no registers before */
#pragma unroll
      for (int i = 0; i < FP4_BEGUN * FP4_COLUMNS; i++) {
        const int row = smma_fp4_row(at, first + i / FP4_COLUMNS), column = smma_fp4_column(at, i % FP4_COLUMNS);
        const int e = first * FP4_COLUMNS + i;
        again |= (uint32_t)smma_fp4_add(fraction, x->word[row], y->word[column], x->power[row], y->power[column],
                                        sum[i], &c[e])
                 << e;
      }
      __syncwarp();
    }
    again = together(again) & decides;
    if (again) {
      const smma_fp4_thread same = anew(at);
#pragma unroll
      for (int e = 0; e < FP4_ROWS * FP4_COLUMNS; e++)
        if (again >> e & 1) from[fp4_element_of(extent, same, e).index] = __float_as_int((float)c[e]);
#pragma unroll 1
      for (uint32_t rest = again; rest; rest &= rest - 1) {
        const int e = __ffs(rest) - 1;
        const int row = smma_fp4_row(same, e / FP4_COLUMNS), column = smma_fp4_column(same, e % FP4_COLUMNS);
        int *here = &from[fp4_element_of(extent, same, e).index];
        *here = __float_as_int((float)smma_fp4_step(fraction, x, y, row, column, __int_as_float(*here)));
      }
#pragma unroll
      for (int e = 0; e < FP4_ROWS * FP4_COLUMNS; e++)
        if (again >> e & 1) c[e] = __int_as_float(from[fp4_element_of(extent, same, e).index]);
    }
    __syncthreads();
  }
  const smma_fp4_thread same = anew(at);
#pragma unroll
  for (int e = 0; e < FP4_ROWS * FP4_COLUMNS; e++) {
    const fp4_element d = fp4_element_of(extent, same, e);
    if (!d.there) continue;
    if (decides >> e & 1) accumulator[d.index] = (float)c[e];
    from[d.index] = decides >> e & 1 ? extent.steps : 0;
  }
}

#endif
