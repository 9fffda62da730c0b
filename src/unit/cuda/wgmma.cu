/* wgmma on Hopper (sm_90a), dense and sparse: a warp group computes a tile of 64 x N elements, A from registers, B from
   shared memory.

   The placement of test vectors repeats every PLACES rows of A and columns of B. Therefore all of a thread's results in
   columns of the same parity must be the same, and so must those of the four warps. A thread supplies two values of C
   and gets two results.

   PTX ISA, "Asynchronous warpgroup-level matrix": with g = lane / 4, t = lane % 4, register r of A holds row 16 warp
   + g + 8 (r % 2) and, of the 32 stored bytes of a row, bytes 16 (r / 2) + 4 t to + 3. Accumulator i is element (16
   warp + g + 8 (i / 2 % 2), 8 (i / 4) + 2 t + i % 2). B consists of core matrices of 8 columns by 16 bytes without
   swizzling. The distance from the core matrix of 16 bytes of a column to that of the next 16 bytes is 128 bytes
   ("leading dimension"); the distance to the next 8 columns ("stride dimension") is that of all core matrices of a
   column. A column has 32 bytes, 64 with sparse instructions. */
#include <cstdio>
#include <cstring>
#include <utility>

#include "assembly.h"
#include "family.h"
#include "registers.h"
#include "sparse.h"

namespace cuda_unit {
namespace {

constexpr int STEP = 8, SHAPES = 32, ROW_BYTES = 32, PIECE = 16, LEADING_BYTES = 128, WARPS = 4;

/* Formats and K of a dense instruction. The sparse instruction of the same formats stores `k` elements in each row of
   A; its K is twice that. */
struct type {
  const char *output, *a, *b;
  int k;
};
#define SATURATED "satfinite.s32"
constexpr type types[] = {
    {"f32", "f16", "f16", 16},   {"f16", "f16", "f16", 16},   {"f32", "bf16", "bf16", 16}, {"f32", "tf32", "tf32", 8},
    {"f32", "e4m3", "e4m3", 32}, {"f32", "e4m3", "e5m2", 32}, {"f32", "e5m2", "e4m3", 32}, {"f32", "e5m2", "e5m2", 32},
    {"f16", "e4m3", "e4m3", 32}, {"f16", "e4m3", "e5m2", 32}, {"f16", "e5m2", "e4m3", 32}, {"f16", "e5m2", "e5m2", 32},
    {"s32", "s8", "s8", 32},     {"s32", "s8", "u8", 32},     {"s32", "u8", "s8", 32},     {"s32", "u8", "u8", 32},
    {SATURATED, "s8", "s8", 32}, {SATURATED, "s8", "u8", 32}, {SATURATED, "u8", "s8", 32}, {SATURATED, "u8", "u8", 32}};
constexpr int TYPES = sizeof types / sizeof *types;

template <int TYPE>
constexpr bool INTEGER = types[TYPE].a[1] == '8';

/* Whether the type has the shape with N columns: integers have fewer shapes. */
template <int TYPE, int N>
constexpr bool HAS_SHAPE = !INTEGER<TYPE> || N <= 32 || N % 16 == 0;

/* Whether the results of two columns share a register, as they do in FP16. */
template <int TYPE>
constexpr bool PAIRS = types[TYPE].output[1] == '1';

/* ---- The assembler's text ---- */

/* The assembler texts for COUNT accumulators: their names, their initial values, and the difference of their bits
   from the first one of their parity. The initial values come from `even` and, if each register holds a single
   value, from `odd`. */
template <int COUNT, bool PAIRS>
struct accumulators;

#define NAMES(i, j) ", d" #i ", d" #j
#define SET(i, j) "mov.b32 d" #i ", even;\nmov.b32 d" #j ", odd;\n"
#define SET_PAIRS(i, j) "mov.b32 d" #i ", even;\nmov.b32 d" #j ", even;\n"
#define DIFFER(i, from) "xor.b32 x, d" #i ", " #from ";\nor.b32 unlike, unlike, x;\n"
#define COMPARE(i, j) DIFFER(i, d0) DIFFER(j, d1)
#define COMPARE_PAIRS(i, j) DIFFER(i, d0) DIFFER(j, d0)
#define ACCUMULATORS(count, pairs, registers, set, compare)                \
  template <>                                                              \
  struct accumulators<count, pairs> {                                      \
    static constexpr char names[] = "{d0, d1" registers(NAMES) "}";        \
    static constexpr char initial[] = set(0, 1) registers(set);            \
    static constexpr char comparison[] = compare(0, 1) registers(compare); \
  };
#define SHAPE(n, behind_first, behind_first_of_pairs)                \
  ACCUMULATORS(n / 2, false, REGISTERS_##behind_first, SET, COMPARE) \
  ACCUMULATORS(n / 4, true, REGISTERS_##behind_first_of_pairs, SET_PAIRS, COMPARE_PAIRS)
SHAPE(8, 1, 0)
SHAPE(16, 3, 1)
SHAPE(24, 5, 2)
SHAPE(32, 7, 3)
SHAPE(40, 9, 4)
SHAPE(48, 11, 5)
SHAPE(56, 13, 6)
SHAPE(64, 15, 7)
SHAPE(72, 17, 8)
SHAPE(80, 19, 9)
SHAPE(88, 21, 10)
SHAPE(96, 23, 11)
SHAPE(104, 25, 12)
SHAPE(112, 27, 13)
SHAPE(120, 29, 14)
SHAPE(128, 31, 15)
SHAPE(136, 33, 16)
SHAPE(144, 35, 17)
SHAPE(152, 37, 18)
SHAPE(160, 39, 19)
SHAPE(168, 41, 20)
SHAPE(176, 43, 21)
SHAPE(184, 45, 22)
SHAPE(192, 47, 23)
SHAPE(200, 49, 24)
SHAPE(208, 51, 25)
SHAPE(216, 53, 26)
SHAPE(224, 55, 27)
SHAPE(232, 57, 28)
SHAPE(240, 59, 29)
SHAPE(248, 61, 30)
SHAPE(256, 63, 31)

/* A short text that is built at compile time. `assembly` makes it an array of exactly its length, which the assembler
   constraint "C" requires. */
struct text {
  char at[64] = {};
  int length = 0;
  constexpr text &add(const char *more) {
    while (*more) at[length++] = *more++;
    return *this;
  }
  constexpr text &add(int number) {
    if (number >= 10) add(number / 10);
    at[length++] = (char)('0' + number % 10);
    return *this;
  }
};

/* The text of the instruction before its accumulators. */
template <int TYPE, bool SPARSE, int N>
constexpr text instruction() {
  const type &t = types[TYPE];
  text s;
  s.add("wgmma.mma_async")
      .add(SPARSE ? ".sp" : "")
      .add(".sync.aligned.m64n")
      .add(N)
      .add("k")
      .add(SPARSE ? 2 * t.k : t.k);
  return s.add(".").add(t.output).add(".").add(t.a).add(".").add(t.b);
}

template <int TYPE, bool SPARSE, int N, class = std::make_index_sequence<instruction<TYPE, SPARSE, N>().length>>
struct assembly;
template <int TYPE, bool SPARSE, int N, size_t... I>
struct assembly<TYPE, SPARSE, N, std::index_sequence<I...>> {
  static constexpr text whole = instruction<TYPE, SPARSE, N>();
  static constexpr char value[] = {whole.at[I]..., '\0'};
};

/* The last operands of the instruction: the signs of A and B, which integers do not have, and whether B is transposed,
   which only 16-bit formats specify. */
constexpr char with_signs[] = ", 1, 1", with_order[] = ", 1, 1, 0", with_none[] = "";

/* The metadata and the sparsity selector 0, which is valid for every shape. */
constexpr char with_metadata[] = ", metadata, 0";

/* ---- One tile a warp group ---- */

/* Computes a tile. On input `even` and `odd` hold C in an even and in an odd column, on output their results.
   Returns a mask of the bits that differ among results that must be equal. */
template <int TYPE, bool SPARSE, int N>
__device__ uint32_t multiply(const uint32_t *a, uint64_t b, uint32_t metadata, uint32_t &even, uint32_t &odd) {
  using d = accumulators<(PAIRS<TYPE> ? N / 4 : N / 2), PAIRS<TYPE>>;
  uint32_t unlike;
  ASSEMBLE_WGMMA((assembly<TYPE, SPARSE, N>::value), d, a, b, metadata, (SPARSE ? with_metadata : with_none),
                 (INTEGER<TYPE>         ? with_none
                  : types[TYPE].k == 16 ? with_order
                                        : with_signs),
                 even, odd, unlike);
  return unlike;
}

/* Computes a tile of `n` columns with the function above, for N = n. The other arguments and the result are the
   same. */
template <int TYPE, bool SPARSE, size_t... I>
__device__ uint32_t multiply(std::index_sequence<I...>, int n, const uint32_t *a, uint64_t b, uint32_t metadata,
                             uint32_t &even, uint32_t &odd) {
  uint32_t unlike = 0;
  const auto try_shape = [&](auto shape) {
    constexpr int N = STEP * ((int)decltype(shape)::value + 1);
    if constexpr (HAS_SHAPE<TYPE, N>)
      if (n == N) unlike = multiply<TYPE, SPARSE, N>(a, b, metadata, even, odd);
  };
  (try_shape(std::integral_constant<size_t, I>()), ...);
  return unlike;
}

/* Returns the descriptor of a matrix in shared memory. */
__device__ uint64_t describe(const void *matrix, int stride_bytes) {
  const uint64_t address = __cvta_generic_to_shared(matrix);
  return address >> 4 | (uint64_t)(LEADING_BYTES >> 4) << 16 | (uint64_t)(stride_bytes >> 4) << 32;
}

/* The positions of the selected elements (sparse.h) for a sparse type. */
template <int TYPE>
using selection_of = selection<types[TYPE].k == 8 ? 2 : 4, types[TYPE].k>;

/* Returns 16 bytes of a test vector in the layout of B. */
template <int TYPE, bool SPARSE>
__device__ uint4 piece_of(const unsigned char *b, size_t row, int piece) {
  constexpr int K = types[TYPE].k;
  union {
    unsigned char byte[PIECE];
    uint4 whole;
  } bytes;
  const unsigned char *at = b + row * ROW_BYTES;
  if constexpr (SPARSE) {
    const spread_row<K == 8 ? 2 : 4, K, ROW_BYTES / K> spread = {at, selection_of<TYPE>(row)};
    for (int i = 0; i < PIECE; i++) bytes.byte[i] = spread[PIECE * piece + i];
  } else {
    bytes.whole = reinterpret_cast<const uint4 *>(at)[piece];
  }
  return bytes.whole;
}

template <int TYPE, bool SPARSE>
__global__ void __launch_bounds__(32 * WARPS) compute(int columns, device_batch batch) {
  constexpr int PIECES = (SPARSE ? 2 : 1) * ROW_BYTES / PIECE, STRIDE_BYTES = PIECES * LEADING_BYTES;
  __shared__ __align__(128) unsigned char b[STEP * SHAPES * PIECES * PIECE];
  __shared__ uint32_t first_warp[2][32];
  const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const tile at(blockIdx.x, batch.rows);
  for (int i = (int)threadIdx.x; i < PIECES * columns; i += 32 * WARPS) {
    const int n = i / PIECES, piece = i % PIECES;
    *reinterpret_cast<uint4 *>(b + n / 8 * STRIDE_BYTES + piece * LEADING_BYTES + n % 8 * PIECE) =
        piece_of<TYPE, SPARSE>(batch.b, at.row(at.place_b(n)), piece);
  }
  SHOW_SHARED_MEMORY();
  __syncthreads();

  const int place = at.place_a(g); /* the same for every row of A that this thread has */
  const bool of_use[2] = {place == at.place_b(2 * t), place == at.place_b(2 * t + 1)};
  uint32_t a[4], result[2], c = 0, metadata = 0;
  for (int r = 0; r < 4; r++)
    a[r] = reinterpret_cast<const uint32_t *>(batch.a + at.row(place) * ROW_BYTES)[4 * (r / 2) + t];
  if constexpr (SPARSE) metadata = selection_of<TYPE>(at.row(place)).metadata();
  if (of_use[0] || of_use[1])
    c = PAIRS<TYPE> ? reinterpret_cast<const uint16_t *>(batch.c)[at.row(place)]
                    : reinterpret_cast<const uint32_t *>(batch.c)[at.row(place)];
  result[0] = PAIRS<TYPE> ? c << (of_use[1] ? 16 : 0) : of_use[0] ? c : 0;
  result[1] = of_use[1] ? c : 0;
  uint32_t unlike = multiply<TYPE, SPARSE>(std::make_index_sequence<SHAPES>(), columns, a, describe(b, STRIDE_BYTES),
                                           metadata, result[0], result[1]);
  if (PAIRS<TYPE>) result[1] = result[0] >> 16, result[0] &= 0xffff;

  for (int i = 0; i < 2; i++)
    if (warp == 0) first_warp[i][lane] = result[i];
  __syncthreads();
  for (int i = 0; i < 2; i++) {
    unlike |= first_warp[i][lane] ^ result[i];
    if (warp != 0 || !of_use[i] || !at.has(place)) continue;
    if (PAIRS<TYPE>)
      reinterpret_cast<uint16_t *>(batch.d)[at.row(place)] = (uint16_t)result[i];
    else
      reinterpret_cast<uint32_t *>(batch.d)[at.row(place)] = result[i];
  }
  if (unlike) atomicAdd(batch.unlike, 1);
}

template <int TYPE, bool SPARSE>
void launch(const smma_instruction_info &i, const device_batch &batch) {
  const auto kernel = compute<TYPE, SPARSE>;
  LAUNCH(kernel, (unsigned)tiles_of(batch.rows), 32 * WARPS, i.n, batch);
}

template <bool SPARSE, size_t... TYPE>
launcher *launcher_of(size_t type, std::index_sequence<TYPE...>) {
  static launcher *const all[] = {launch<TYPE, SPARSE>...};
  return all[type];
}

}  // namespace

launcher *find_wgmma(const smma_instruction_info &instruction, int capability) {
  const std::make_index_sequence<TYPES> all;
  if (capability != 90) return nullptr;
  for (size_t i = 0; i < TYPES; i++) {
    const type &t = types[i];
    const auto is = [&](const char *form, int k) {
      char name[64];
      snprintf(name, sizeof name, form, instruction.n, k, t.output, t.a, t.b);
      return strcmp(name, instruction.name) == 0;
    };
    if (is("wgmma.m64n%dk%d.%s.%s.%s", t.k)) return launcher_of<false>(i, all);
    if (is("wgmma.sp.m64n%dk%d.%s.%s.%s", 2 * t.k)) return launcher_of<true>(i, all);
  }
  return nullptr;
}

}  // namespace cuda_unit
