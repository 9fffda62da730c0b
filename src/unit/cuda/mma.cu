/* mma.sync with dense operands of FP64, TF32, BF16, FP16, FP8, integers of 8 and 4 bits and single bits, from compute
   capability 7.5 on. */
#include "mma.h"

namespace cuda_unit {
namespace {

/* ---- The instructions, one struct each ---- */

#define NAME(m, n, k, qualifier, output, a, b) "mma." SHAPE(m, n, k) qualifier TYPES(output, a, b)
#define BITS(operation) TYPES(s32, b1, b1) "." TEXT(operation) ".popc"
#define PTX(m, n, k, qualifier, output, a, b) \
  "mma.sync.aligned." SHAPE(m, n, k) ".row.col" qualifier TYPES(output, a, b) " "

#define INSTRUCTION(id, m, n, k, ptx, output, operands, registers_a, registers_b)                         \
  struct id {                                                                                             \
    static constexpr int M = m, K = k, A = registers_a, B = registers_b, SCALES = 0, GROUP = 0;           \
    using accumulators = output##_accumulators;                                                           \
    using operands_a = operands;                                                                          \
    using operands_b = operands_a;                                                                        \
    static __device__ void run(accumulators &x, const operands_a::type *ra, const operands_b::type *rb) { \
      ASSEMBLE_##output##_##registers_a##_##registers_b(ptx, x.d, ra, rb);                                \
    }                                                                                                     \
  };
#define SMMA_MMA(id, m, n, k, output, a, b, capability, bytes, ...) \
  INSTRUCTION(id, m, n, k, PTX(m, n, k, "", output, a, b), output, whole_bytes<bytes>, __VA_ARGS__)
#define DIRECTED(id, direction, m, n, k, ...) \
  INSTRUCTION(id##_##direction, m, n, k, PTX(m, n, k, "." #direction, f64, f64, f64), f64, whole_bytes<8>, __VA_ARGS__)
#define SMMA_MMA_DIRECTED(id, m, n, k, capability, ...) \
  DIRECTED(id, rz, m, n, k, __VA_ARGS__) DIRECTED(id, rm, m, n, k, __VA_ARGS__) DIRECTED(id, rp, m, n, k, __VA_ARGS__)
#define SMMA_MMA_INTEGER(id, m, n, k, a, b, capability, ...)                            \
  INSTRUCTION(id, m, n, k, PTX(m, n, k, "", s32, a, b), s32, OPERANDS_##a, __VA_ARGS__) \
  INSTRUCTION(id##_satfinite, m, n, k, PTX(m, n, k, ".satfinite", s32, a, b), s32, OPERANDS_##a, __VA_ARGS__)
#define SMMA_MMA_BITS(id, m, n, k, operation, capability, ...)                                                        \
  INSTRUCTION(id, m, n, k, "mma.sync.aligned." SHAPE(m, n, k) ".row.col" BITS(operation) " ", s32, parts_of_bytes<1>, \
              __VA_ARGS__)
#include "mma.def"
#undef SMMA_MMA
#undef SMMA_MMA_DIRECTED
#undef SMMA_MMA_INTEGER
#undef SMMA_MMA_BITS

/* ---- The family ---- */

const wrapper wrappers[] = {
#define SMMA_MMA(id, m, n, k, output, a, b, capability, ...) \
  {NAME(m, n, k, "", output, a, b), capability, launch<id, capability>},
#define DIRECTED_WRAPPER(id, direction, m, n, k, capability) \
  {NAME(m, n, k, "." #direction, f64, f64, f64), capability, launch<id##_##direction, capability>},
#define SMMA_MMA_DIRECTED(id, m, n, k, capability, ...) \
  DIRECTED_WRAPPER(id, rz, m, n, k, capability)         \
  DIRECTED_WRAPPER(id, rm, m, n, k, capability) DIRECTED_WRAPPER(id, rp, m, n, k, capability)
#define SMMA_MMA_INTEGER(id, m, n, k, a, b, capability, ...)          \
  {NAME(m, n, k, "", s32, a, b), capability, launch<id, capability>}, \
      {NAME(m, n, k, ".satfinite", s32, a, b), capability, launch<id##_satfinite, capability>},
#define SMMA_MMA_BITS(id, m, n, k, operation, capability, ...) \
  {"mma." SHAPE(m, n, k) BITS(operation), capability, launch<id, capability>},
#include "mma.def"
#undef SMMA_MMA
#undef SMMA_MMA_DIRECTED
#undef SMMA_MMA_INTEGER
#undef SMMA_MMA_BITS
};

}  // namespace

launcher *find_mma(const smma_instruction_info &instruction, int capability) {
  return find_in(wrappers, instruction, capability);
}

}  // namespace cuda_unit
