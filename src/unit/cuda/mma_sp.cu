/* mma.sp with operands of TF32, BF16, FP16, FP8 and integers of 8 and 4 bits, from compute capability 8.0 on. */
#include "mma.h"

namespace cuda_unit {
namespace {

/* ---- The instructions, one struct each ---- */

#define NAME(K, qualifier, output, a, b) "mma.sp." SHAPE(16, 8, K) qualifier TYPES(output, a, b)
#define PTX(K, qualifier, output, a, b) \
  "mma.sp::ordered_metadata.sync.aligned." SHAPE(16, 8, K) ".row.col" qualifier TYPES(output, a, b) " "

#define INSTRUCTION(id, k, qualifier, output, a, b, operands, group, registers)                                 \
  struct id {                                                                                                   \
    static constexpr int M = 16, K = k / 2, A = registers, B = registers, SCALES = 0, GROUP = group;            \
    using accumulators = output##_accumulators;                                                                 \
    using operands_a = operands;                                                                                \
    using operands_b = operands_a;                                                                              \
    static __device__ void run(accumulators &x, const uint32_t *ra, const uint32_t *rb, uint32_t metadata) {    \
      ASSEMBLE_SP_##output##_##registers##_##registers(PTX(k, qualifier, output, a, b), x.d, ra, rb, metadata); \
    }                                                                                                           \
  };
#define SMMA_MMA_SP(id, K, output, a, b, capability, bytes, ...) \
  INSTRUCTION(id, K, "", output, a, b, whole_bytes<bytes>, __VA_ARGS__)
#define SMMA_MMA_SP_INTEGER(id, K, a, b, ...)                  \
  INSTRUCTION(id, K, "", s32, a, b, OPERANDS_##a, __VA_ARGS__) \
  INSTRUCTION(id##_satfinite, K, ".satfinite", s32, a, b, OPERANDS_##a, __VA_ARGS__)
#include "mma_sp.def"
#undef SMMA_MMA_SP
#undef SMMA_MMA_SP_INTEGER

/* ---- The family ---- */

const wrapper wrappers[] = {
#define SMMA_MMA_SP(id, K, output, a, b, capability, ...) \
  {NAME(K, "", output, a, b), capability, launch<id, capability>},
#define SMMA_MMA_SP_INTEGER(id, K, a, b, ...) \
  {NAME(K, "", s32, a, b), 80, launch<id, 80>}, {NAME(K, ".satfinite", s32, a, b), 80, launch<id##_satfinite, 80>},
#include "mma_sp.def"
#undef SMMA_MMA_SP
#undef SMMA_MMA_SP_INTEGER
};

}  // namespace

launcher *find_mma_sp(const smma_instruction_info &instruction, int capability) {
  return find_in(wrappers, instruction, capability);
}

}  // namespace cuda_unit
