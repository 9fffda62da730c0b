/* The kernels of NVIDIA GPUs: every kernel of src/device/kernels, those of tiles, and those of the chain, which pack
   operands and compute products of 128 x 128 elements by 8 warps. */
#include <cuda_pipeline_primitives.h>

#include "device/cuda/down.h"
#include "device/cuda/fp4.cuh"
#include "device/cuda/pack.h"
#include "device/cuda/two_level.cuh"
#include "device/kernels/kernels.h"

static_assert(sizeof(smma_chain_panel) == CHAIN_PANEL_BYTES, "the host allocates panels");

enum { WARP = 32 };

/* Packs an operand of `lines` lines and K = `depth` into panels: one panel per block, one line per thread. `special`: a
   flag per line, set if the line has NaN or infinities. */
extern "C" __global__ void smma_chain_pack_panels(smma_operation o, int of_a, int lines, int depth, const void *codes,
                                                  const uint8_t *scales, smma_chain_panel *panel, uint8_t *special) {
  const int line = blockIdx.y * CHAIN_LINES + threadIdx.x, format_bytes = smma_code_bytes(of_a ? o.a : o.b);
  const smma_format format = of_a ? o.a : o.b;
  const smma_chain_operand operand = {
      codes,        o.scale_block ? scales : nullptr, (uint64_t)lines, (uint64_t)depth, format,
      format_bytes, smma_chain_base_of(format),       of_a != 0};
  smma_chain chain;
  if (!smma_chain_of(&o, &chain)) return;
  if (smma_chain_pack(&chain, &operand, (uint64_t)line, (uint64_t)blockIdx.x * CHAIN_DEPTH,
                      &panel[(uint64_t)blockIdx.y * gridDim.x + blockIdx.x]))
    special[line] = 1;
}

/* Computes sums of 16^e over eight products, with mma's assignment of elements: x[0] and x[1] belong to row g, columns
   2t and 2t + 1; x[2] and x[3] to the same columns of the next row. */
__device__ static inline void exponent_sums(smma_pair a, uint32_t b, float x[4]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %7, %7, %7};"
      : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3])
      : "r"(a.of[0]), "r"(a.of[1]), "r"(b), "f"(0.0f));
}

/* Computes the exponent sums of a block for a quadrant of a thread: for each element, the greatest of its sums of 16^e
   over eight products, as bits of binary32. */
template <int BLOCK>
__device__ static inline void block_sums(const smma_chain_panel *a, const smma_chain_panel *b, int warp_row,
                                         int warp_column, int first, int quadrant, int32_t *sum) {
  const int lane = threadIdx.x % WARP, row = warp_row / 16 + quadrant / 2 * 2, column = warp_column / 16 + quadrant % 2;
#pragma unroll
  for (int k = 0; k < BLOCK; k += 8) {
    const int half = (first + k % CHAIN_DEPTH) / 8;
    const smma_pair y = b[k / CHAIN_DEPTH].exponent[column * WARP + lane].of[half];
#pragma unroll
    for (int i = 0; i < CHAIN_QUADRANT_LINES / 2; i++) {
      const smma_pair x = a[k / CHAIN_DEPTH].exponent[(row + i) * WARP + lane].of[half];
#pragma unroll
      for (int j = 0; j < CHAIN_QUADRANT_LINES / 2; j++) {
        /* only four of eight products belong to the block */
        const bool none = BLOCK == 4 && lane % 4 / 2 != first % 8 / 4;
        float s[4];
        exponent_sums(x, none ? 0 : y.of[j], s);
#pragma unroll
        for (int e = 0; e < 4; e++) {
          int32_t *to = &sum[(i * 2 + e / 2) * CHAIN_QUADRANT_LINES + j * 2 + e % 2];
          const int32_t bits = __float_as_int(s[e]);
          *to = k == 0 ? bits : max(*to, bits);
        }
      }
    }
  }
}

/* Shared memory of a stage, that is, of the panels of A and of B that are read at a time. */
template <int PANELS>
struct stage {
  smma_chain_panel a[PANELS], b[PANELS];
};

/* Starts an asynchronous load of a panel by all threads; without `base` if all blocks share their bases. */
template <bool WIDE>
__device__ static inline void load(smma_chain_panel *to, const smma_chain_panel *from) {
  constexpr int bytes = WIDE ? sizeof(smma_chain_panel) : offsetof(smma_chain_panel, base), step = CHAIN_THREADS * 16;
  const int at = threadIdx.x * 16;
#pragma unroll
  for (int i = 0; i < bytes; i += step)
    if (i + step <= bytes || at < bytes - i)
      __pipeline_memcpy_async((char *)to + at + i, (const char *)from + at + i, 16);
}

/* An element of a thread, in D. */
struct element {
  int row, column;
  uint64_t index;
  bool there;
};

__device__ static inline element element_of(const smma_extent &x, smma_chain_place_of_thread at, int e) {
  element d;
  d.row = blockIdx.y * CHAIN_LINES + smma_chain_row(at, e / CHAIN_COLUMNS);
  d.column = blockIdx.x * CHAIN_LINES + smma_chain_column(at, e % CHAIN_COLUMNS);
  d.index = (uint64_t)d.row * x.columns_apart + d.column;
  d.there = d.row < x.rows && d.column < x.columns;
  return d;
}

/* Returns the bytes of shared memory of the launch. */
__device__ static inline uint32_t shared_bytes() {
  uint32_t bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  return bytes;
}

/* Arguments of a launch. Each block of lines has `panels` consecutive panels. Elements advance by all steps, or stay
   before the first step if the chain cannot compute them; `from` receives the number of steps done. */
struct product {
  smma_extent extent;
  int panels, bases; /* bases: the sum of A's and B's base as an exponent field, if all blocks share their bases */
  const smma_chain_panel *a, *b;
  const uint8_t *special_a, *special_b;
  float *accumulator;
  int *from;
};

/* Adds one block of products to a thread's elements, starting at the panels' product `first`. This overload is for
   T-FDPA, whose chains start from c. */
template <int BLOCK>
__device__ static inline void advance_by_block(const smma_chain &chain, const smma_chain_words &words,
                                               const smma_chain_panel *a, const smma_chain_panel *b, int warp_row,
                                               int warp_column, smma_chain_place_of_thread at, int first, int bases,
                                               double *accumulator, uint64_t *out) {
#pragma unroll
  for (int quadrant = 0; quadrant < 4; quadrant++) {
    int32_t sum[CHAIN_QUADRANT_LINES * CHAIN_QUADRANT_LINES];
    block_sums<BLOCK>(a, b, warp_row, warp_column, first, quadrant, sum);
    smma_chain_begin(&chain, &words, a, b, at, first, quadrant, bases, sum, accumulator, out);
  }
  smma_chain_products(&chain, a, b, at, first, accumulator);
  smma_chain_end(&chain, &words, accumulator);
}

/* Adds one block of products to a thread's elements. This overload is for TR-FDPA and GTR-FDPA, whose chains do not
   start from c; their sum is added to c at the end. */
template <int BLOCK>
__device__ static inline void advance_by_block(const smma_chain &chain, const smma_chain_words &words,
                                               const smma_chain_panel *a, const smma_chain_panel *b, int warp_row,
                                               int warp_column, smma_chain_place_of_thread at, int first, int bases,
                                               float *c, uint64_t *out) {
  constexpr int SUMS = BLOCK > 8 ? 2 : 1, LENGTH = BLOCK / SUMS;
  const int parts = CHAIN_COLUMNS / smma_chain_columns(&chain);
  auto sum_up = [&](int part, int k, double *accumulator) {
    const smma_chain_place_of_thread here = {at.row, at.column + part * 16};
#pragma unroll
    for (int quadrant = part; quadrant < 4; quadrant += parts) {
      int32_t sum[CHAIN_QUADRANT_LINES * CHAIN_QUADRANT_LINES];
      block_sums<LENGTH>(a, b, warp_row, warp_column, k, quadrant, sum);
      smma_chain_begin(&chain, &words, a, b, at, k, quadrant, bases, sum, accumulator, out);
    }
    smma_chain_products(&chain, a, b, here, k, accumulator);
  };
#pragma unroll
  for (int part = 0; part < parts; part++) {
    double even[CHAIN_ROWS * CHAIN_COLUMNS], odd[CHAIN_ROWS * CHAIN_COLUMNS];
    sum_up(part, first, even);
    if (SUMS == 2) sum_up(part, first + LENGTH, odd);
    __syncwarp(); /* keeps the compiler from reading later data earlier, which would occupy registers */
    smma_down_end(&chain, &words, part, even, odd, c);
    __syncwarp();
  }
}

/* The type of an element that a thread holds between blocks. */
template <smma_algorithm RULE>
struct held {
  typedef float type;
};
template <>
struct held<SMMA_T_FDPA> {
  typedef double type;
};

template <smma_algorithm RULE, int F, int BLOCK, int KEPT, bool WIDE>
__device__ static inline void advance(const product &x) {
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || \
    __CUDA_ARCH__ == 1000 /* the driver launches this kernel on no other GPU */
  constexpr smma_chain chain = {RULE, F, BLOCK, KEPT, WIDE};
  constexpr int panels = BLOCK > CHAIN_DEPTH ? BLOCK / CHAIN_DEPTH : 1;
  extern __shared__ smma_four shared_memory[];
  stage<panels> *shared = reinterpret_cast<stage<panels> *>(shared_memory);
  const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  const int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  const smma_chain_place_of_thread at = {warp_row + lane / 4 * 2, warp_column + lane % 4 * 2};
  const smma_chain_panel *a = x.a + (uint64_t)blockIdx.y * x.panels, *b = x.b + (uint64_t)blockIdx.x * x.panels;
  const smma_chain_words words = smma_chain_words_of(&chain, x.bases, x.panels < 0);
  typename held<RULE>::type accumulator[CHAIN_ROWS * CHAIN_COLUMNS];
  uint64_t out = 0; /* bit e: element e is out of range */
#pragma unroll
  for (int e = 0; e < CHAIN_ROWS * CHAIN_COLUMNS; e++) {
    const element d = element_of(x.extent, at, e);
    accumulator[e] = smma_chain_from(&chain, x.bases, d.there ? x.accumulator[d.index] : 0);
  }
  const int stages = x.panels / panels;
  /* One stage is loaded while another is computed, if there is room for two. */
  const int ahead = shared_bytes() >= 2 * sizeof *shared;
  auto fetch = [&](int s) {
    stage<panels> *to = &shared[s & ahead];
    if (s < stages)
#pragma unroll
      for (int i = 0; i < panels; i++) {
        load<WIDE>(&to->a[i], a + s * panels + i);
        load<WIDE>(&to->b[i], b + s * panels + i);
      }
    __pipeline_commit();
  };
  if (ahead) fetch(0);
#pragma unroll 1
  for (int s = 0; s < stages; s++) {
    fetch(s + ahead);
    if (ahead)
      __pipeline_wait_prior(1);
    else
      __pipeline_wait_prior(0);
    __syncthreads();
    const stage<panels> *now = &shared[s & ahead];
#pragma unroll 1
    for (int first = 0; first < panels * CHAIN_DEPTH; first += BLOCK)
      advance_by_block<BLOCK>(chain, words, now->a, now->b, warp_row, warp_column, at, first, x.bases, accumulator,
                              &out);
    __syncthreads();
  }
  /* Computes the elements' positions again, to save registers. */
  smma_chain_place_of_thread same = at;
  asm volatile("" : "+r"(same.row), "+r"(same.column));
#pragma unroll
  for (int e = 0; e < CHAIN_ROWS * CHAIN_COLUMNS; e++) {
    const element d = element_of(x.extent, same, e);
    if (!d.there) continue;
    const bool stays = (out >> e & 1) || x.special_a[d.row] || x.special_b[d.column] ||
                       !smma_chain_takes(&chain, x.bases, x.accumulator[d.index]);
    if (!stays) x.accumulator[d.index] = (float)smma_chain_cut(&chain, accumulator[e]);
    x.from[d.index] = stays ? 0 : x.extent.steps;
  }
#endif
}

#define SMMA_CHAIN(RULE, F, L, KEPT, WIDE, NAME)                                                             \
  extern "C" __global__ void __launch_bounds__(CHAIN_THREADS, 1) smma_chain_##NAME(                          \
      smma_extent extent, int panels, int bases, const smma_chain_panel *a, const smma_chain_panel *b,       \
      const uint8_t *special_a, const uint8_t *special_b, float *accumulator, int *from) {                   \
    advance<RULE, F, L, KEPT, WIDE>({extent, panels, bases, a, b, special_a, special_b, accumulator, from}); \
  }
#include "device/cuda/kernels.def"
