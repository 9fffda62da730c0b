/* mma.sync.m8n8k4 with FP16 on Volta (sm_70; CUDA 12 is the last release that compiles for it) and Turing (sm_75). A
   warp computes four tiles of 8 x 8 elements. This kernel gives the same test vectors to all four tiles, but in other
   rows and columns of each tile. It counts results that differ between tiles.

   PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16": tile q belongs to the lanes with lane / 4 % 4 = q. With h =
   lane % 4 + 4 (lane / 16), a lane has row h of A, column h of B and, with FP16, row h of C. With FP32, accumulator
   i is element (lane % 2 + 2 (i / 2 % 2) + 4 (lane / 16), 4 (i / 4) + 2 (lane / 2 % 2) + i % 2). */
#include <cstring>

#include "family.h"

namespace cuda_unit {
namespace {

constexpr int N = 8, TILES = 4;

/* The positions of a lane's accumulators. */
struct f32_accumulators {
  using element = uint32_t;
  static __device__ int row(int lane, int i) { return lane % 2 + 2 * (i / 2 % 2) + 4 * (lane / 16); }
  static __device__ int column(int lane, int i) { return 4 * (i / 4) + 2 * (lane / 2 % 2) + i % 2; }
};

struct f16_accumulators {
  using element = uint16_t;
  static __device__ int row(int lane, int) { return lane % 4 + 4 * (lane / 16); }
  static __device__ int column(int, int i) { return i; }
};

__device__ uint32_t pair(const uint16_t *c) { return c[0] | (uint32_t)c[1] << 16; }

struct f32_from_f32 {
  using c_layout = f32_accumulators;
  using d_layout = f32_accumulators;
  static __device__ void run(const uint32_t *c, uint32_t *d, uint2 a, uint2 b) {
    for (int i = 0; i < N; i++) d[i] = c[i];
    asm volatile(
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, "
        "{%0,%1,%2,%3,%4,%5,%6,%7};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "r"(a.x), "r"(a.y), "r"(b.x), "r"(b.y));
  }
};

struct f32_from_f16 {
  using c_layout = f16_accumulators;
  using d_layout = f32_accumulators;
  static __device__ void run(const uint16_t *c, uint32_t *d, uint2 a, uint2 b) {
    asm volatile(
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, "
        "{%12,%13,%14,%15};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])
        : "r"(a.x), "r"(a.y), "r"(b.x), "r"(b.y), "r"(pair(c)), "r"(pair(c + 2)), "r"(pair(c + 4)), "r"(pair(c + 6)));
  }
};

struct f16_from_f16 {
  using c_layout = f16_accumulators;
  using d_layout = f16_accumulators;
  static __device__ void run(const uint16_t *c, uint16_t *d, uint2 a, uint2 b) {
    uint32_t pairs[4];
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%8,%9,%10,%11};"
                 : "=r"(pairs[0]), "=r"(pairs[1]), "=r"(pairs[2]), "=r"(pairs[3])
                 : "r"(a.x), "r"(a.y), "r"(b.x), "r"(b.y), "r"(pair(c)), "r"(pair(c + 2)), "r"(pair(c + 4)),
                   "r"(pair(c + 6)));
    for (int i = 0; i < N; i++) d[i] = (uint16_t)(pairs[i / 2] >> 16 * (i % 2));
  }
};

template <class I>
__global__ void compute(device_batch batch) {
  using c_element = typename I::c_layout::element;
  using d_element = typename I::d_layout::element;
  __shared__ d_element results[PLACES]; /* written by the first tile of the warp */
  const int lane = (int)threadIdx.x, h = lane % 4 + 4 * (lane / 16), q = lane / 4 % TILES;
  tile at(blockIdx.x, batch.rows);
  at.turn_a += q;
  at.turn_b += 2 * q;
  const uint2 a = reinterpret_cast<const uint2 *>(batch.a)[at.row(at.place_a(h))];
  const uint2 b = reinterpret_cast<const uint2 *>(batch.b)[at.row(at.place_b(h))];
  c_element c[N];
  d_element d[N];
  for (int i = 0; i < N; i++) {
    const int place = at.place_a(I::c_layout::row(lane, i));
    const bool of_use = place == at.place_b(I::c_layout::column(lane, i));
    c[i] = of_use ? reinterpret_cast<const c_element *>(batch.c)[at.row(place)] : 0;
  }
  I::run(c, d, a, b);
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < N; i++) {
      const int place = at.place_a(I::d_layout::row(lane, i));
      if (place != at.place_b(I::d_layout::column(lane, i)) || !at.has(place)) continue;
      if (turn == 0 && q == 0) results[place] = reinterpret_cast<d_element *>(batch.d)[at.row(place)] = d[i];
      if (turn == 1 && results[place] != d[i]) atomicAdd(batch.unlike, 1);
    }
    __syncwarp();
  }
}

template <class I>
void launch(const smma_instruction_info &, const device_batch &batch) {
  compute<I><<<(unsigned)tiles_of(batch.rows), 32>>>(batch);
}

}  // namespace

launcher *find_mma_volta(const smma_instruction_info &instruction, int capability) {
  if (capability != 70 && capability != 72 && capability != 75) return nullptr;
  if (strcmp(instruction.name, "mma.m8n8k4.f32.f16.f16.f32") == 0) return launch<f32_from_f32>;
  if (strcmp(instruction.name, "mma.m8n8k4.f32.f16.f16.f16") == 0) return launch<f32_from_f16>;
  if (strcmp(instruction.name, "mma.m8n8k4.f16.f16.f16.f16") == 0) return launch<f16_from_f16>;
  return nullptr;
}

}  // namespace cuda_unit
