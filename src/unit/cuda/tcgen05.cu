/* tcgen05.mma on Blackwell (sm_100a, sm_103a and sm_110a), dense and sparse: one thread starts a tile of M x N
   elements. A and B are in shared memory; C, scale factors and metadata are in tensor memory; D replaces C.

   The placement of test vectors repeats every PLACES rows of A and columns of B. Therefore a lane of tensor memory has
   PLACES different results, and lanes at a distance of PLACES have the same ones. A thread serves one lane: it supplies
   PLACES values of C and gets PLACES results.

   PTX ISA, "Tensor Memory", "Instruction Descriptor", "Shared Memory Descriptor": rows are lanes; with M = 64, rows 16
   i to 16 i + 15 are the lanes from 32 i on. A column of 32 bits has one element, also with FP16. A and B consist of
   core matrices of 8 rows by 16 bytes without swizzling, as in wgmma.cu. 16 elements of FP6 or FP4 are packed and
   padded to 16 bytes; but with K = 64, 32 elements of FP4 fill 16 bytes. Scale factors of a row of A or a column of B
   are bytes of a word in a lane congruent to it modulo 32. Metadata of a row of A is in lanes congruent to it modulo 8,
   in words whose halves each have four groups of one row. Other details of the layout do not matter, because sparse.h
   repeats the groups. */
#include <algorithm>
#include <cstring>

#include "family.h"
#include "sparse.h"
#include "tensor_memory.h"

namespace cuda_unit {
namespace {

constexpr int LANES = 128, MOST_N = 256, PIECE = 16, LEADING_BYTES = 128;
/* Pieces of 16 bytes in a row of A and, in dense instructions, in a column of B. */
constexpr int PIECES = 2;
/* First columns in tensor memory of the scale factors of A and of B and of the metadata, which follow the accumulators;
   COLUMNS: all that are allocated. */
constexpr int SCALES_A = MOST_N, SCALES_B = SCALES_A + PLACES, METADATA = SCALES_B + PLACES, COLUMNS = 512;

/* How an operand is packed into 16 bytes of shared memory. In the batch each element has at least one byte. The 16
   bytes hold the lower `bits` bits of each of `count` bytes of the batch. */
struct packing {
  int count, bits;
};

struct operation {
  uint32_t descriptor;
  int m, n, scales;
  packing a, b;
  bool half; /* D is FP16 */
};

/* ---- Shared memory ---- */

/* Returns the 16 bytes of shared memory that hold one piece of a test vector's operand. */
template <class ROW>
__device__ uint4 pack(ROW row, int piece, packing how) {
  union {
    unsigned char byte[PIECE];
    uint4 whole;
  } packed = {};
  for (int i = 0; i < how.count; i++) {
    const int bit = i * how.bits;
    const unsigned value = (unsigned)row[piece * how.count + i] << bit % 8;
    packed.byte[bit / 8] |= (unsigned char)value;
    if (bit % 8 + how.bits > 8) packed.byte[bit / 8 + 1] |= (unsigned char)(value >> 8);
  }
  return packed.whole;
}

/* Writes a piece of a matrix whose rows (for B: columns) have `pieces` pieces. */
__device__ void put(unsigned char *matrix, int pieces, int row, int piece, uint4 bytes) {
  *reinterpret_cast<uint4 *>(matrix + (row / 8 * pieces + piece) * LEADING_BYTES + row % 8 * PIECE) = bytes;
}

__device__ uint64_t describe(const void *matrix, int pieces) {
  return (uint64_t)shared_address(matrix) >> 4 | (uint64_t)(LEADING_BYTES >> 4) << 16 |
         (uint64_t)(pieces * LEADING_BYTES >> 4) << 32 | (uint64_t)1 << 46;
}

/* ---- Tiles, one after another in a block ---- */

/* Properties of each kind of instruction. The last one, selection_of, is the type of the positions that a sparse
   instruction selects (sparse.h). */
template <kind KIND>
constexpr bool FP4 = KIND == MXF4 || KIND == MXF4NVF4;
template <kind KIND>
constexpr int GROUP = KIND == TF32 ? 2
                      : FP4<KIND>  ? 8
                                   : 4;
template <kind KIND>
constexpr int K = KIND == TF32  ? 8
                  : KIND == F16 ? 16
                  : FP4<KIND>   ? 64
                                : 32;
template <kind KIND> /* bytes of an element in a batch */
constexpr int BYTES = K<KIND> < 32 ? 32 / K<KIND> : 1;
template <kind KIND>
using selection_of = selection<GROUP<KIND>, K<KIND>>;

template <kind KIND, bool IS_SPARSE>
__device__ uint4 piece_of_b(const unsigned char *b, size_t row, int piece, packing how) {
  const unsigned char *at = b + row * (size_t)(PIECES * how.count);
  if constexpr (IS_SPARSE)
    return pack(spread_row<GROUP<KIND>, K<KIND>, BYTES<KIND>>{at, selection_of<KIND>(row)}, piece, how);
  else
    return pack(at, piece, how);
}

template <kind KIND, bool IS_SPARSE>
__global__ void __launch_bounds__(LANES) compute(operation o, device_batch batch) {
  constexpr int PIECES_B = IS_SPARSE ? 2 * PIECES : PIECES;
  __shared__ __align__(128) unsigned char a[LANES * PIECES * PIECE], b[MOST_N * PIECES_B * PIECE];
  __shared__ __align__(8) uint64_t barrier;
  __shared__ uint32_t base, first_lanes[PLACES][PLACES];
  const int lane = (int)threadIdx.x, warp = lane / 32;
  const bool has_row = o.m == LANES || lane % 32 < 16;
  const uint32_t at_barrier = shared_address(&barrier);
  uint32_t phase = 0;

  if (warp == 0) allocate<COLUMNS>(&base);
  if (lane == 0) begin_barrier(at_barrier);
  fence_before();
  __syncthreads();
  fence_after();
  const uint32_t memory = base, own = memory + ((uint32_t)warp << 21);

  for (size_t number = blockIdx.x; number < tiles_of(batch.rows); number += gridDim.x, phase ^= 1) {
    const tile at(number, batch.rows);
    const int place = at.place_a(lane); /* the same for all rows that can be in this lane */
    uint32_t value[PLACES];

    for (int i = lane; i < PIECES * o.m; i += LANES) {
      const int m = i / PIECES, piece = i % PIECES;
      put(a, PIECES, m, piece, pack(batch.a + at.row(at.place_a(m)) * (size_t)(PIECES * o.a.count), piece, o.a));
    }
    for (int i = lane; i < PIECES_B * o.n; i += LANES) {
      const int n = i / PIECES_B, piece = i % PIECES_B;
      put(b, PIECES_B, n, piece, piece_of_b<KIND, IS_SPARSE>(batch.b, at.row(at.place_b(n)), piece, o.b));
    }
    for (int n = 0; n < PLACES; n++)
      value[n] = place != at.place_b(n) ? 0
                 : o.half               ? reinterpret_cast<const uint16_t *>(batch.c)[at.row(place)]
                                        : reinterpret_cast<const uint32_t *>(batch.c)[at.row(place)];
    for (int n = 0; n < o.n; n += PLACES) store(own + (uint32_t)n, value);
    if (o.scales) {
      const uint32_t of_a = scale_word(batch.scale_a, o.scales, at.row(place));
      const uint32_t of_b = scale_word(batch.scale_b, o.scales, at.row(at.place_b(lane)));
      for (int i = 0; i < PLACES; i++) value[i] = of_a;
      store(own + SCALES_A, value);
      for (int i = 0; i < PLACES; i++) value[i] = of_b;
      store(own + SCALES_B, value);
    }
    if constexpr (IS_SPARSE) {
      const uint32_t metadata = selection_of<KIND>(at.row(place)).metadata();
      for (int i = 0; i < PLACES; i++) value[i] = metadata;
      store(own + METADATA, value);
    }
    wait_for_stores();
    SHOW_SHARED_MEMORY();
    fence_before();
    __syncthreads();
    if (lane == 0) {
      fence_after();
      multiply<KIND, IS_SPARSE>(memory, describe(a, PIECES), describe(b, PIECES_B), o.descriptor,
                                {memory + SCALES_A, memory + SCALES_B, memory + METADATA});
      commit(at_barrier);
    }
    wait_for(at_barrier, phase);
    __syncwarp();
    fence_after();

    uint32_t result[PLACES] = {}, unlike = 0;
    for (int n = 0; n < o.n; n += PLACES) {
      load(own + (uint32_t)n, value);
      for (int i = 0; i < PLACES; i++) {
        if (o.half) value[i] &= 0xffff;
        if (n == 0) result[i] = value[i];
        unlike |= value[i] ^ result[i];
      }
    }
    if (lane < PLACES)
      for (int i = 0; i < PLACES; i++) first_lanes[lane][i] = result[i];
    fence_before();
    __syncthreads();
    for (int i = 0; i < PLACES; i++) {
      unlike |= first_lanes[lane % PLACES][i] ^ result[i];
      if (lane >= PLACES || place != at.place_b(i) || !at.has(place)) continue;
      if (o.half)
        reinterpret_cast<uint16_t *>(batch.d)[at.row(place)] = (uint16_t)result[i];
      else
        reinterpret_cast<uint32_t *>(batch.d)[at.row(place)] = result[i];
    }
    if (has_row && unlike) atomicAdd(batch.unlike, 1);
    __syncthreads();
  }
  if (warp == 0) release<COLUMNS>(memory);
}

/* ---- The family ---- */

/* Returns the code of a format in instruction descriptors. */
uint32_t code_of(kind kind, smma_format f) {
  switch (f) {
    case SMMA_F16: return 0;
    case SMMA_BF16: return 1;
    case SMMA_TF32: return 2;
    case SMMA_E4M3: return 0;
    case SMMA_E5M2: return 1;
    case SMMA_E2M3: return 3;
    case SMMA_E3M2: return 4;
    case SMMA_U8: return 0;
    case SMMA_S8: return 1;
    default: return kind == MXF4 || kind == MXF4NVF4 ? 1 : 5; /* e2m1 */
  }
}

packing packing_of(kind kind, smma_format f) {
  if (kind == MXF4 || kind == MXF4NVF4) return {32, 4};
  return {16, f == SMMA_E2M1 ? 4 : f == SMMA_E2M3 || f == SMMA_E3M2 ? 6 : 8};
}

/* Returns the code of D's format and of integer saturation. */
uint32_t output_of(const smma_instruction_info &i) {
  const uint32_t code = i.d == SMMA_S32 ? 2 : i.d == SMMA_F16 ? 0 : 1;
  return code << 4 | (strstr(i.name, ".satfinite.") ? 1u : 0u) << 3;
}

template <kind KIND, bool IS_SPARSE>
void launch(const smma_instruction_info &i, const device_batch &batch) {
  const bool scaled = KIND >= MXF8F6F4;
  operation o = {
      code_of(KIND, i.a) << 7 | code_of(KIND, i.b) << 10 | (uint32_t)i.n / 8 << 17 | (uint32_t)i.m / 16 << 24,
      i.m,
      i.n,
      scaled ? i.k / i.scale_block : 0,
      packing_of(KIND, i.a),
      packing_of(KIND, i.b),
      i.d == SMMA_F16};
  o.descriptor |= (IS_SPARSE ? 1u : 0u) << 2;
  if (scaled)
    o.descriptor |= (i.scale == SMMA_UE8M0 ? 1u : 0u) << 23;
  else
    o.descriptor |= output_of(i);
  int device, processors;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  const unsigned blocks = (unsigned)std::min(tiles_of(batch.rows), (size_t)processors);
  const auto kernel = compute<KIND, IS_SPARSE>;
  LAUNCH(kernel, blocks, LANES, o, batch);
}

template <kind KIND>
launcher *launcher_of(const smma_instruction_info &instruction) {
  return strncmp(instruction.name, "tcgen05.sp.", 11) == 0 ? launch<KIND, true> : launch<KIND, false>;
}

}  // namespace

launcher *find_tcgen05(const smma_instruction_info &instruction, int capability) {
  const bool has_tcgen05 = capability == 100 || capability == 101 || capability == 103 || capability == 110;
  if (!has_tcgen05 || strncmp(instruction.name, "tcgen05.", 8) != 0) return nullptr;
  if (instruction.d == SMMA_S32) return capability == 103 ? nullptr : launcher_of<I8>(instruction);
  if (instruction.scale_block == 0)
    return instruction.k == 8    ? launcher_of<TF32>(instruction)
           : instruction.k == 16 ? launcher_of<F16>(instruction)
                                 : launcher_of<F8F6F4>(instruction);
  return instruction.k == 32             ? launcher_of<MXF8F6F4>(instruction)
         : instruction.scale_block == 32 ? launcher_of<MXF4>(instruction)
                                         : launcher_of<MXF4NVF4>(instruction);
}

}  // namespace cuda_unit
