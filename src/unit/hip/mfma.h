/* v_mfma of CDNA 1 to 3, and the same instructions on CDNA 4.

   Registers are laid out as AMD's Matrix Instruction Calculator (github.com/ROCm/amd_matrix_instruction_calculator,
   class InstCalcGfx9) has it for the first three architectures, with CBSZ, ABID and BLGP zero:

   A lane holds L = blocks M K / 64 consecutive elements of a row of A: the elements from k on of row m of block b are
   in lane m + M (b + blocks (k / L)). The elements of column n of B are placed in the same way, with n for m.

   C and D consist of segments: H rows of M columns, H = 4 in 32 bits and 1 in FP64, with a lane for each column and
   an item (one register, two in FP64) for each row. Segment s of a block has the block's rows from H s on. With M =
   4, the segment of block b is in the lanes from 4 (b + blocks s) on. Otherwise it is in the lanes from M (s % P)
   on, P = 64 / M, and in the items from H (s / P) on; the items of a block follow those of the previous block. */
#ifndef SMMA_UNIT_HIP_MFMA_H
#define SMMA_UNIT_HIP_MFMA_H

#include "family.h"

namespace {

constexpr unsigned NEWER = GFX942 | GFX950; /* targets whose instructions have newer names */

namespace SMMA_WAVEFRONT {

template <int SIZE, int BLOCK_COUNT, class OPERAND, class C>
struct mfma_layout {
  static constexpr int WAVE = 64, M = SIZE, BLOCKS = BLOCK_COUNT, STEP = 1;
  static constexpr int PARTS = 64 / (M * BLOCKS); /* parts of a row of A, each in a lane */
  static constexpr int ITEMS = M * M * BLOCKS / 64;
  static constexpr int SEGMENT = sizeof(C) == 4 ? 4 : 1; /* rows of a segment */
  static constexpr size_t ROW = PARTS * sizeof(OPERAND);
  using operand = OPERAND;
  using accumulators = typename vector_of<C, ITEMS>::type;
  using element = typename bits_of<sizeof(C)>::type;

  static __device__ operand operand_at(const unsigned char *row, int lane) {
    return reinterpret_cast<const operand *>(row)[lane / (M * BLOCKS)];
  }

  static __device__ place place_of(int lane, int item) {
    const int n = lane % M, group = lane / M;
    if constexpr (M == 4) {
      return {group % BLOCKS, group / BLOCKS * SEGMENT + item, n};
    } else {
      constexpr int OF_BLOCK = ITEMS / BLOCKS, P = 64 / M;
      const int segment = item % OF_BLOCK / SEGMENT * P + group;
      return {item / OF_BLOCK, segment * SEGMENT + item % SEGMENT, n};
    }
  }
};

#define SMMA_MFMA(builtin, cdna3, targets, m, blocks, operand_type, operand_count, c)        \
  struct builtin : mfma_layout<m, blocks, vector_of<operand_type, operand_count>::type, c> { \
    static constexpr unsigned TARGETS = targets;                                             \
    static __device__ accumulators run(operand a, operand b, accumulators x) {               \
      return __builtin_amdgcn_mfma_##builtin(a, b, x, 0, 0, 0);                              \
    }                                                                                        \
  };
#include "mfma.def"
#undef SMMA_MFMA

const wrapper mfma_wrappers[] = {
#define SMMA_MFMA(builtin, cdna3, targets, ...)                                                              \
  {"v_mfma_" #builtin, (targets) & ~NEWER, builtin::ROW, sizeof(builtin::element), PLACES, launch<builtin>}, \
      {"v_mfma_" #cdna3, (targets)&NEWER, builtin::ROW, sizeof(builtin::element), PLACES, launch<builtin>},
#include "mfma.def"
#undef SMMA_MFMA
};

}  // namespace SMMA_WAVEFRONT
}  // namespace

#endif
