/* mma.sync with dense operands of FP64, TF32, BF16, FP16, FP8, integers of 8 and 4 bits and single bits, from compute
   capability 7.5 on. */
#include <cstring>

#include "mma.h"

namespace cuda_unit {
namespace {

/* ---- The instructions, one struct each ---- */

#define TEXT(x) #x
#define SHAPE(m, n, k) "m" TEXT(m) "n" TEXT(n) "k" TEXT(k)
#define TYPES(output, a, b) "." TEXT(output) "." TEXT(a) "." TEXT(b) "." TEXT(output)
#define NAME(m, n, k, qualifier, output, a, b) "mma." SHAPE(m, n, k) qualifier TYPES(output, a, b)
#define BITS(operation) TYPES(s32, b1, b1) "." TEXT(operation) ".popc"
#define PTX(m, n, k, qualifier, output, a, b) \
  "mma.sync.aligned." SHAPE(m, n, k) ".row.col" qualifier TYPES(output, a, b) " "

/* Operands of the assembler's line: accumulators, then registers of A and of B. */
#define ASSEMBLE_f32_4_2(ptx, x, a, b)                                     \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+f"((x)[0]), "+f"((x)[1]), "+f"((x)[2]), "+f"((x)[3])    \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
#define ASSEMBLE_f32_2_1(ptx, x, a, b)                                  \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"       \
               : "+f"((x)[0]), "+f"((x)[1]), "+f"((x)[2]), "+f"((x)[3]) \
               : "r"((a)[0]), "r"((a)[1]), "r"((b)[0]))
#define ASSEMBLE_f16_4_2(ptx, x, a, b)                         \
  asm volatile(ptx "{%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" \
               : "+r"((x)[0]), "+r"((x)[1])                    \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
#define ASSEMBLE_f16_2_1(ptx, x, a, b)                \
  asm volatile(ptx "{%0,%1}, {%2,%3}, {%4}, {%0,%1};" \
               : "+r"((x)[0]), "+r"((x)[1])           \
               : "r"((a)[0]), "r"((a)[1]), "r"((b)[0]))
#define ASSEMBLE_s32_4_2(ptx, x, a, b)                                     \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+r"((x)[0]), "+r"((x)[1]), "+r"((x)[2]), "+r"((x)[3])    \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))
#define ASSEMBLE_s32_2_1(ptx, x, a, b)                                  \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"       \
               : "+r"((x)[0]), "+r"((x)[1]), "+r"((x)[2]), "+r"((x)[3]) \
               : "r"((a)[0]), "r"((a)[1]), "r"((b)[0]))
#define ASSEMBLE_s32_1_1(ptx, x, a, b) \
  asm volatile(ptx "{%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"((x)[0]), "+r"((x)[1]) : "r"((a)[0]), "r"((b)[0]))
#define ASSEMBLE_f64_1_1(ptx, x, a, b) \
  asm volatile(ptx "{%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"((x)[0]), "+d"((x)[1]) : "d"((a)[0]), "d"((b)[0]))
#define ASSEMBLE_f64_2_1(ptx, x, a, b)                                  \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"       \
               : "+d"((x)[0]), "+d"((x)[1]), "+d"((x)[2]), "+d"((x)[3]) \
               : "d"((a)[0]), "d"((a)[1]), "d"((b)[0]))
#define ASSEMBLE_f64_4_2(ptx, x, a, b)                                     \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+d"((x)[0]), "+d"((x)[1]), "+d"((x)[2]), "+d"((x)[3])    \
               : "d"((a)[0]), "d"((a)[1]), "d"((a)[2]), "d"((a)[3]), "d"((b)[0]), "d"((b)[1]))
#define ASSEMBLE_f64_8_4(ptx, x, a, b)                                                                      \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"          \
               : "+d"((x)[0]), "+d"((x)[1]), "+d"((x)[2]), "+d"((x)[3])                                     \
               : "d"((a)[0]), "d"((a)[1]), "d"((a)[2]), "d"((a)[3]), "d"((a)[4]), "d"((a)[5]), "d"((a)[6]), \
                 "d"((a)[7]), "d"((b)[0]), "d"((b)[1]), "d"((b)[2]), "d"((b)[3]))

#define INSTRUCTION(id, m, n, k, ptx, output, operands, registers_a, registers_b)                         \
  struct id {                                                                                             \
    static constexpr int M = m, K = k, A = registers_a, B = registers_b, SCALES = 0;                      \
    using accumulators = output##_accumulators;                                                           \
    using operands_a = operands;                                                                          \
    using operands_b = operands_a;                                                                        \
    static __device__ void run(accumulators &x, const operands_a::type *ra, const operands_b::type *rb) { \
      ASSEMBLE_##output##_##registers_a##_##registers_b(ptx, x.d, ra, rb);                                \
    }                                                                                                     \
  };
#define OPERANDS_s8 whole_bytes<1>
#define OPERANDS_u8 whole_bytes<1>
#define OPERANDS_s4 parts_of_bytes<4>
#define OPERANDS_u4 parts_of_bytes<4>
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

struct wrapper {
  const char *name;
  int capability;
  launcher *run;
};

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
  for (const wrapper &w : wrappers)
    if (strcmp(w.name, instruction.name) == 0 && capability >= w.capability) return w.run;
  return nullptr;
}

}  // namespace cuda_unit
