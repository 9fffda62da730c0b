/* Computes mma.sync in a warp: a tile of M x 8 elements.

   Fragments are laid out as in the PTX ISA, "Matrix Fragments for mma.m16n8kK". With g = lane / 4, t = lane % 4 and E
   elements in a register, register r of A holds row g + 8 (r % 2) (M = 8: row g) and k from 4 E (r / 2) + E t on.
   Register r of B holds column g and k from 4 E r + E t on. Accumulator i is element (g + 8 (i / 2), 2 t + i % 2).
   Scale factors of row g, of row g + 8 and of column g come from threads of the group g that the instruction names.
   Both rows hold the same test vector, so all four threads may hold the same factors.

   A sparse instruction has A as a dense one of its K, where K counts the stored elements, and B as a dense one of twice
   that K.

   An instruction is a struct { M, K, A and B (numbers of registers), SCALES (scale factors per test vector), GROUP
   (of sparse instructions, otherwise 0), operands_a, operands_b, accumulators, run(accumulators, registers of A, of
   B, and, with SCALES, scale factors, with GROUP metadata) }. */
#ifndef SMMA_UNIT_CUDA_MMA_H
#define SMMA_UNIT_CUDA_MMA_H

#include <cstring>

#include "assembly.h"
#include "family.h"
#include "sparse.h"

namespace cuda_unit {
namespace {

/* ---- Registers ---- */

/* Loads registers of operands: ELEMENTS elements of a test vector from k on, each of BYTES bytes in the batch. */
template <int SIZE>
struct whole_bytes {
  using type = uint32_t;
  static constexpr int BYTES = SIZE, ELEMENTS = 4 / BYTES;
  template <class ROW>
  static __device__ type load(ROW row, int k) {
    type bits = 0;
    for (int byte = 0; byte < 4; byte++) bits |= (type)row[k * BYTES + byte] << 8 * byte;
    return bits;
  }
};

template <>
struct whole_bytes<8> {
  using type = double;
  static constexpr int BYTES = 8, ELEMENTS = 1;
  static __device__ type load(const unsigned char *row, int k) { return reinterpret_cast<const double *>(row)[k]; }
};

/* Elements of four bits or one bit, each in a byte of the batch. */
template <int BITS>
struct parts_of_bytes {
  using type = uint32_t;
  static constexpr int BYTES = 1, ELEMENTS = 32 / BITS;
  template <class ROW>
  static __device__ type load(ROW row, int k) {
    type bits = 0;
    for (int i = 0; i < ELEMENTS; i++) bits |= (type)(row[k + i] & ((1 << BITS) - 1)) << BITS * i;
    return bits;
  }
};

/* The accumulators of one thread. FP16 has two in a register. */
struct f32_accumulators {
  using element = uint32_t;
  float d[4];
  __device__ void set(int i, element bits) { d[i] = __uint_as_float(bits); }
  __device__ element get(int i) const { return __float_as_uint(d[i]); }
};

struct s32_accumulators {
  using element = uint32_t;
  uint32_t d[4];
  __device__ void set(int i, element bits) { d[i] = bits; }
  __device__ element get(int i) const { return d[i]; }
};

struct f16_accumulators {
  using element = uint16_t;
  uint32_t d[2];
  __device__ void set(int i, element bits) {
    d[i / 2] = i % 2 ? (d[i / 2] & 0xffff) | (uint32_t)bits << 16 : (d[i / 2] & 0xffff0000) | bits;
  }
  __device__ element get(int i) const { return (element)(d[i / 2] >> (i % 2 ? 16 : 0)); }
};

struct f64_accumulators {
  using element = unsigned long long;
  double d[4];
  __device__ void set(int i, element bits) { d[i] = __longlong_as_double((long long)bits); }
  __device__ element get(int i) const { return (element)__double_as_longlong(d[i]); }
};

/* Macros for the instruction lists mma.def and mma_sp.def. */
#define TEXT(x) #x
#define SHAPE(m, n, k) "m" TEXT(m) "n" TEXT(n) "k" TEXT(k)
#define TYPES(output, a, b) "." TEXT(output) "." TEXT(a) "." TEXT(b) "." TEXT(output)
#define OPERANDS_s8 whole_bytes<1>
#define OPERANDS_u8 whole_bytes<1>
#define OPERANDS_s4 parts_of_bytes<4>
#define OPERANDS_u4 parts_of_bytes<4>

/* ---- One tile a warp ---- */

/* Returns a register of a sparse instruction's B, with elements from row k of B on. It is not inlined, because many
   instructions share it. */
template <class OPERANDS, int GROUP, int K>
__noinline__ __device__ uint32_t load_spread(const unsigned char *b, size_t row, int k) {
  constexpr int BYTES = OPERANDS::BYTES;
  return OPERANDS::load(spread_row<GROUP, K, BYTES>{b + row * K * BYTES, selection<GROUP, K>(row)}, k);
}

template <class I, int CAPABILITY>
__global__ void compute(device_batch batch) {
#if defined(__CUDA_ARCH__)
  if constexpr (__CUDA_ARCH__ >= CAPABILITY * 10) {
    using element = typename I::accumulators::element;
    constexpr int E = I::operands_a::ELEMENTS, COUNT = I::M / 4;
    const int lane = (int)(threadIdx.x % 32), g = lane / 4, t = lane % 4;
    const tile at((blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32, batch.rows);
    const element *c = reinterpret_cast<const element *>(batch.c);
    const int place = at.place_a(g); /* the same for rows g and g + 8 */
    typename I::operands_a::type ra[I::A];
    typename I::operands_b::type rb[I::B];
    typename I::accumulators x = {};
    if (at.first >= batch.rows) return; /* true for a whole warp */
    for (int r = 0; r < I::A; r++) {
      const int block = I::M == 16 ? r / 2 : r;
      ra[r] = I::operands_a::load(batch.a + at.row(place) * I::K * I::operands_a::BYTES, 4 * E * block + E * t);
    }
    for (int r = 0; r < I::B; r++) {
      const size_t row = at.row(at.place_b(g));
      const int k = 4 * E * r + E * t;
      if constexpr (I::GROUP)
        rb[r] = load_spread<typename I::operands_b, I::GROUP, I::K>(batch.b, row, k);
      else
        rb[r] = I::operands_b::load(batch.b + row * I::K * I::operands_b::BYTES, k);
    }
    for (int i = 0; i < COUNT; i++) x.set(i, place == at.place_b(2 * t + i % 2) ? c[at.row(place)] : 0);
    if constexpr (I::GROUP)
      I::run(x, ra, rb, selection<I::GROUP, I::K>(at.row(place)).metadata());
    else if constexpr (I::SCALES == 0)
      I::run(x, ra, rb);
    else
      I::run(x, ra, rb, scale_word(batch.scale_a, I::SCALES, at.row(place)),
             scale_word(batch.scale_b, I::SCALES, at.row(at.place_b(g))));
    for (int i = 0; i < 2; i++) {
      if (place != at.place_b(2 * t + i) || !at.has(place)) continue;
      reinterpret_cast<element *>(batch.d)[at.row(place)] = x.get(i);
      if (COUNT == 4 && x.get(i) != x.get(i + 2)) atomicAdd(batch.unlike, 1);
    }
  } else {
    __trap(); /* the target has no such instruction, and find_in returns no launcher */
  }
#endif
}

template <class I, int CAPABILITY>
void launch(const smma_instruction_info &, const device_batch &batch) {
  const unsigned warps = 8;
  const auto kernel = compute<I, CAPABILITY>;
  LAUNCH(kernel, (unsigned)((tiles_of(batch.rows) + warps - 1) / warps), warps * 32, batch);
}

/* ---- A family ---- */

struct wrapper {
  const char *name;
  int capability; /* least compute capability */
  launcher *run;
};

template <size_t COUNT>
launcher *find_in(const wrapper (&wrappers)[COUNT], const smma_instruction_info &instruction, int capability) {
  for (const wrapper &w : wrappers)
    if (strcmp(w.name, instruction.name) == 0 && capability >= w.capability) return w.run;
  return nullptr;
}

}  // namespace
}  // namespace cuda_unit

#endif
