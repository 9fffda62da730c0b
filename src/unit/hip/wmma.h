/* WMMA and dot products of RDNA 3 (gfx11) and RDNA 4 (gfx12).

   The layout of A and B is that of AMD's recorded test vectors (rocjitsu, tests/fixtures/float_dot), which also defines
   how the catalogue counts K. The layout of C and D is that of AMD's Matrix Instruction Calculator
   (github.com/ROCm/amd_matrix_instruction_calculator, classes InstCalcGfx11 and InstCalcGfx12). With g = lane / 16, and
   row m of A, column n of B, both lane % 16:

   gfx11: a lane holds a whole row or column. Its item i of C and D is row (lanes / 16) i + g; an item of 16 bits is in
   the lower half of a register.

   gfx12, 32 lanes: element e of a lane is k = 16 (e / 8) + 8 g + e % 8; item i is row 8 g + i.

   gfx12, 64 lanes: element e is k = 4 g + e; item i is row 8 (g % 2) + 4 (g / 2) + i.

   This file is included once for each size of wavefront, of SMMA_LANES lanes, with the list SMMA_WMMA_ROWS.

   The calculator numbers K differently for 16 bits in 32 lanes, and 8 bits in 64. A and B are permuted in the same
   way, so only the order of additions differs, which the calculator does not define. */
#include "family.h"

namespace {
namespace SMMA_WAVEFRONT {

/* Sets FP16_OVFL, bit 23 of the register MODE, so that FP16 results saturate, and returns x. The empty assembler line
   makes the compiler set the bit before it uses x. */
template <class X>
__device__ X saturating(X x) {
  constexpr int MODE = 1, BIT = 23;
  __builtin_amdgcn_s_setreg(MODE | BIT << 6, 1);
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(x));
#endif
  return x;
}

/* Returns the elements of a test vector, packed from one or two bytes each. */
template <class operand, int BITS, class K_OF>
__device__ operand pack(const unsigned char *row, K_OF k_of) {
  constexpr int COUNT = (int)sizeof(operand) * 8 / BITS;
  uint32_t words[sizeof(operand) / 4] = {};
  operand packed;
  for (int e = 0; e < COUNT; e++) {
    const int k = k_of(e);
    const uint32_t element = BITS == 16 ? row[2 * k] | (uint32_t)row[2 * k + 1] << 8 : row[k];
    words[e * BITS / 32] |= (element & ((1u << BITS) - 1)) << e * BITS % 32;
  }
  __builtin_memcpy(&packed, words, sizeof packed);
  return packed;
}

template <unsigned TARGET_BIT, int LANES, int K, int BITS, class OPERAND, int OPERANDS, class C, int ACCUMULATORS>
struct wmma_layout {
  static constexpr unsigned TARGETS = TARGET_BIT;
  static constexpr int WAVE = LANES, M = 16, BLOCKS = 1, ITEMS = M * M / WAVE, STEP = ACCUMULATORS / ITEMS;
  static constexpr size_t ROW = K * (BITS == 16 ? 2 : 1);
  using operand = typename vector_of<OPERAND, OPERANDS>::type;
  using accumulators = typename vector_of<C, ACCUMULATORS>::type;
  using element = typename bits_of<sizeof(C)>::type;

  static __device__ operand operand_at(const unsigned char *row, int lane) {
    const int g = lane / 16;
    return pack<operand, BITS>(row, [g](int e) {
      return TARGETS == GFX11 ? e : WAVE == 32 ? 16 * (e / 8) + 8 * g + e % 8 : 4 * g + e;
    });
  }

  static __device__ place place_of(int lane, int item) {
    const int g = lane / 16, n = lane % 16;
    if (TARGETS == GFX11) return {0, WAVE / 16 * item + g, n};
    return {0, WAVE == 32 ? 8 * g + item : 8 * (g % 2) + 4 * (g / 2) + item, n};
  }
};

template <unsigned TARGET_BITS, int K, int BITS, class OPERAND, int OPERANDS, class C>
struct dot_layout {
  static constexpr unsigned TARGETS = TARGET_BITS;
  static constexpr size_t ROW = K * BITS / 8;
  using operand = typename vector_of<OPERAND, OPERANDS>::type;
  using accumulators = C;
  using element = typename bits_of<sizeof(C)>::type;
};

#define RUN(ovfl, computation)                                                     \
  static __device__ accumulators run(operand at_a, operand at_b, accumulators x) { \
    if (ovfl) x = saturating(x);                                                   \
    return computation;                                                            \
  }
#define SMMA_WMMA(id, name, target, k, bits, operand_type, operands, c, items, ovfl, computation) \
  struct id : wmma_layout<target, SMMA_LANES, k, bits, operand_type, operands, c, items> {        \
    RUN(ovfl, computation)                                                                        \
  };
#define SMMA_DOT(id, name, targets, k, bits, operand_type, operands, c, ovfl, computation) \
  struct id : dot_layout<targets, k, bits, operand_type, operands, c> {                    \
    RUN(ovfl, computation)                                                                 \
  };
#include SMMA_WMMA_ROWS
#undef SMMA_WMMA
#undef SMMA_DOT
#undef RUN

/* Dot products: one test vector per lane. */
template <class I>
__global__ __launch_bounds__(32) void compute_rows(size_t rows, const unsigned char *a, const unsigned char *b,
                                                   const typename I::element *c, typename I::element *d) {
  if constexpr ((I::TARGETS & TARGET) != 0) {
    const size_t row = 32 * (size_t)__builtin_amdgcn_workgroup_id_x() + (size_t)__builtin_amdgcn_workitem_id_x();
    if (row >= rows) return;
    typename I::operand at_a, at_b;
    typename I::accumulators x;
    __builtin_memcpy(&at_a, a + row * I::ROW, sizeof at_a);
    __builtin_memcpy(&at_b, b + row * I::ROW, sizeof at_b);
    __builtin_memcpy(&x, c + row, sizeof x);
    x = I::run(at_a, at_b, x);
    __builtin_memcpy(d + row, &x, sizeof x);
  } else {
    __builtin_trap(); /* the code is for a target without the instruction */
  }
}

template <class I>
void launch_rows(size_t rows, const unsigned char *a, const unsigned char *b, const void *c, void *d) {
  using element = typename I::element;
  const auto kernel = compute_rows<I>;
  hipLaunchKernelGGL(kernel, dim3((unsigned)((rows + 31) / 32)), dim3(32), 0, nullptr, rows, a, b,
                     static_cast<const element *>(c), static_cast<element *>(d));
}

const wrapper wmma_wrappers[] = {
#define SMMA_WMMA(id, name, target, ...) {name, target, id::ROW, sizeof(id::element), PLACES, launch<id>},
#define SMMA_DOT(id, name, targets, ...) {name, targets, id::ROW, sizeof(id::element), 1, launch_rows<id>},
#include SMMA_WMMA_ROWS
#undef SMMA_WMMA
#undef SMMA_DOT
};

}  // namespace SMMA_WAVEFRONT
}  // namespace
