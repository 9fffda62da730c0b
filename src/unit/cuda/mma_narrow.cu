/* mma.sync of RTX Blackwell (sm_120a) with FP8, FP6 and FP4 in any pair, and with block-scaled operands.

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
  static __device__ type load(const unsigned char *row, int k) { return whole_bytes<1>::load(row, k) << SHIFT; }
};

/* Formats by number. */
constexpr int FORMATS = 5;
constexpr char names[FORMATS][5] = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};
template <int FORMAT> /* as the constraint "C" asks for it */
constexpr char name[] = {names[FORMAT][0], names[FORMAT][1], names[FORMAT][2], names[FORMAT][3], '\0'};
constexpr int shifts[FORMATS] = {0, 0, 0, 0, 2};

/* ---- Instructions ---- */

template <int FORMAT_A, int FORMAT_B>
struct shape_32 {
  static constexpr int M = 16, K = 32, A = 4, B = 2;
  using operands_a = narrow_bytes<shifts[FORMAT_A]>;
  using operands_b = narrow_bytes<shifts[FORMAT_B]>;
};

struct shape_64 {
  static constexpr int M = 16, K = 64, A = 4, B = 2;
  using operands_a = parts_of_bytes<4>;
  using operands_b = parts_of_bytes<4>;
  using accumulators = f32_accumulators;
};

template <int FORMAT_A, int FORMAT_B>
struct dense_f32 : shape_32<FORMAT_A, FORMAT_B> {
  using accumulators = f32_accumulators;
  static constexpr int SCALES = 0;
  static __device__ void run(accumulators &x, const uint32_t *a, const uint32_t *b) {
    asm volatile(
        "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.%10.%11.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(x.d[0]), "+f"(x.d[1]), "+f"(x.d[2]), "+f"(x.d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(name<FORMAT_A>), "C"(name<FORMAT_B>));
  }
};

template <int FORMAT_A, int FORMAT_B>
struct dense_f16 : shape_32<FORMAT_A, FORMAT_B> {
  using accumulators = f16_accumulators;
  static constexpr int SCALES = 0;
  static __device__ void run(accumulators &x, const uint32_t *a, const uint32_t *b) {
    asm volatile(
        "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f16.%8.%9.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
        : "+r"(x.d[0]), "+r"(x.d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(name<FORMAT_A>), "C"(name<FORMAT_B>));
  }
};

#define ASSEMBLE_SCALED(ptx, ...)                                                                         \
  asm volatile(ptx " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {0, 0}, {%11}, {0, 0};" \
               : "+f"(x.d[0]), "+f"(x.d[1]), "+f"(x.d[2]), "+f"(x.d[3])                                   \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(scale_a),          \
                 "r"(scale_b)__VA_ARGS__)

template <int FORMAT_A, int FORMAT_B>
struct scaled_32 : shape_32<FORMAT_A, FORMAT_B> {
  using accumulators = f32_accumulators;
  static constexpr int SCALES = 1;
  static __device__ void run(accumulators &x, const uint32_t *a, const uint32_t *b, uint32_t scale_a,
                             uint32_t scale_b) {
    ASSEMBLE_SCALED("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.%12.%13.f32.ue8m0",
                    , "C"(name<FORMAT_A>), "C"(name<FORMAT_B>));
  }
};

#define SCALED_64(id, kind, scales, format)                                                             \
  struct id : shape_64 {                                                                                \
    static constexpr int SCALES = scales;                                                               \
    static __device__ void run(accumulators &x, const uint32_t *a, const uint32_t *b, uint32_t scale_a, \
                               uint32_t scale_b) {                                                      \
      ASSEMBLE_SCALED("mma.sync.aligned.kind::" kind ".block_scale.scale_vec::" #scales                 \
                      "X.m16n8k64.row.col.f32.e2m1.e2m1.f32." #format);                                 \
    }                                                                                                   \
  };
SCALED_64(mxfp4, "mxf4", 2, ue8m0)
SCALED_64(nvfp4, "mxf4nvf4", 4, ue4m3)
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1301 /* PTX ISA 9.1 */
#define HAS_BLOCKS_OF_16_WITH_UE8M0
SCALED_64(mxfp4_block16, "mxf4nvf4", 4, ue8m0)
#endif

/* ---- The family ---- */

constexpr int CAPABILITY = 120;

/* Of every pair of formats. */
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
