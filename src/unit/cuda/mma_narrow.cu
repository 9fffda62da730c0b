/* mma.sync of RTX Blackwell (sm_120a) with FP8, FP6 and FP4 in any pair, dense and sparse, and with block-scaled
   operands.

   PTX ISA, "Matrix Fragments for mma.m16n8k32": each FP8, FP6 or FP4 element has a byte of a register, FP6 in its lower
   six bits, FP4 in bits 2 to 5. With K = 64 a register has eight elements of FP4, the first in the lowest bits. */
#include <cstdio>
#include <cstring>
#include <utility>

#include "mma.h"

namespace cuda_unit {
namespace {

/* ---- Operands ---- */

template <int SHIFT>
struct narrow_bytes : whole_bytes<1> {
  template <class ROW>
  static __device__ type load(ROW row, int k) {
    return whole_bytes<1>::load(row, k) << SHIFT;
  }
};

/* The formats; template parameters are indices in these arrays. */
constexpr int FORMATS = 5;
constexpr char names[FORMATS][5] = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};
template <int FORMAT> /* the format's name as an array of characters, which the assembler constraint "C" requires */
constexpr char name[] = {names[FORMAT][0], names[FORMAT][1], names[FORMAT][2], names[FORMAT][3], '\0'};
constexpr int shifts[FORMATS] = {0, 0, 0, 0, 2};

/* ---- Instructions ---- */

template <int FORMAT_A, int FORMAT_B>
struct shape_32 {
  static constexpr int M = 16, K = 32, A = 4;
  using operands_a = narrow_bytes<shifts[FORMAT_A]>;
  using operands_b = narrow_bytes<shifts[FORMAT_B]>;
};

struct shape_64 {
  static constexpr int M = 16, K = 64, A = 4;
  using operands_a = parts_of_bytes<4>;
  using operands_b = parts_of_bytes<4>;
};

template <class SHAPE, class ACCUMULATORS>
struct dense : SHAPE {
  static constexpr int B = 2, SCALES = 0, GROUP = 0;
  using accumulators = ACCUMULATORS;
};

/* Sparse instructions of K products, selected from twice as many. */
template <class SHAPE, class ACCUMULATORS>
struct sparse : dense<SHAPE, ACCUMULATORS> {
  static constexpr int B = 4, GROUP = 4;
};

#define PTX(variant, shape) "mma." variant "sync.aligned.kind::f8f6f4." shape ".row.col."

#define DENSE(output)                                                                            \
  template <int FORMAT_A, int FORMAT_B>                                                          \
  struct dense_##output : dense<shape_32<FORMAT_A, FORMAT_B>, output##_accumulators> {           \
    static __device__ void run(output##_accumulators &x, const uint32_t *a, const uint32_t *b) { \
      ASSEMBLE_PAIR_##output(PTX("", "m16n8k32"), x.d, a, b, name<FORMAT_A>, name<FORMAT_B>);    \
    }                                                                                            \
  };
DENSE(f32)
DENSE(f16)

#define SPARSE(output)                                                                                              \
  template <int FORMAT_A, int FORMAT_B>                                                                             \
  struct sparse_##output : sparse<shape_32<FORMAT_A, FORMAT_B>, output##_accumulators> {                            \
    static __device__ void run(output##_accumulators &x, const uint32_t *a, const uint32_t *b, uint32_t metadata) { \
      ASSEMBLE_PAIR_SP_##output(PTX("sp::ordered_metadata.", "m16n8k64"), x.d, a, b, metadata, name<FORMAT_A>,      \
                                name<FORMAT_B>);                                                                    \
    }                                                                                                               \
  };
SPARSE(f32)
SPARSE(f16)

template <int FORMAT_A, int FORMAT_B>
struct scaled_32 : dense<shape_32<FORMAT_A, FORMAT_B>, f32_accumulators> {
  static constexpr int SCALES = 1;
  static __device__ void run(f32_accumulators &x, const uint32_t *a, const uint32_t *b, uint32_t scale_a,
                             uint32_t scale_b) {
    ASSEMBLE_SCALED_PAIR("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.", x.d, a, b,
                         scale_a, scale_b, name<FORMAT_A>, name<FORMAT_B>);
  }
};

#define SCALED_64(id, kind, scales, format)                                                                 \
  struct id : dense<shape_64, f32_accumulators> {                                                           \
    static constexpr int SCALES = scales;                                                                   \
    static __device__ void run(f32_accumulators &x, const uint32_t *a, const uint32_t *b, uint32_t scale_a, \
                               uint32_t scale_b) {                                                          \
      ASSEMBLE_SCALED("mma.sync.aligned.kind::" kind ".block_scale.scale_vec::" #scales                     \
                      "X.m16n8k64.row.col.f32.e2m1.e2m1.f32." #format " ",                                  \
                      x.d, a, b, scale_a, scale_b);                                                         \
    }                                                                                                       \
  };
SCALED_64(mxfp4, "mxf4", 2, ue8m0)
SCALED_64(nvfp4, "mxf4nvf4", 4, ue4m3)
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1301 /* PTX ISA 9.1 */
#define HAS_BLOCKS_OF_16_WITH_UE8M0
SCALED_64(mxfp4_block16, "mxf4nvf4", 4, ue8m0)
#endif

/* ---- The family ---- */

constexpr int CAPABILITY = 120;

/* Returns the launcher of the instruction I for a pair of formats, given by the number of the pair. */
template <template <int, int> class I, size_t... PAIR>
launcher *launcher_of(size_t pair, std::index_sequence<PAIR...>) {
  static launcher *const all[] = {launch<I<PAIR / FORMATS, PAIR % FORMATS>, CAPABILITY>...};
  return all[pair];
}

}  // namespace

launcher *find_mma_narrow(const smma_instruction_info &instruction, int capability) {
  const std::make_index_sequence<FORMATS * FORMATS> pairs;
  if (capability != 120 && capability != 121) return nullptr;
  for (size_t pair = 0; pair < FORMATS * FORMATS; pair++) {
    const char *a = names[pair / FORMATS], *b = names[pair % FORMATS];
    const auto is = [&](const char *form) {
      char whole[64];
      snprintf(whole, sizeof whole, form, a, b);
      return strcmp(whole, instruction.name) == 0;
    };
    if (is("mma.m16n8k32.f32.%s.%s.f32")) return launcher_of<dense_f32>(pair, pairs);
    if (is("mma.m16n8k32.f16.%s.%s.f16")) return launcher_of<dense_f16>(pair, pairs);
    if (is("mma.sp.m16n8k64.f32.%s.%s.f32")) return launcher_of<sparse_f32>(pair, pairs);
    if (is("mma.sp.m16n8k64.f16.%s.%s.f16")) return launcher_of<sparse_f16>(pair, pairs);
    if (is("mma.m16n8k32.block32.f32.%s.%s.f32.ue8m0")) return launcher_of<scaled_32>(pair, pairs);
  }
  if (strcmp(instruction.name, "mma.m16n8k64.block32.f32.e2m1.e2m1.f32.ue8m0") == 0) return launch<mxfp4, CAPABILITY>;
  if (strcmp(instruction.name, "mma.m16n8k64.block16.f32.e2m1.e2m1.f32.ue4m3") == 0) return launch<nvfp4, CAPABILITY>;
#ifdef HAS_BLOCKS_OF_16_WITH_UE8M0
  if (strcmp(instruction.name, "mma.m16n8k64.block16.f32.e2m1.e2m1.f32.ue8m0") == 0)
    return launch<mxfp4_block16, CAPABILITY>;
#endif
  return nullptr;
}

}  // namespace cuda_unit
