/* Code for CUDA's compiler only: the start of a kernel, and lines of PTX for mma.sync with their operands.
   Instructions change their accumulators in place. */
#ifndef SMMA_UNIT_CUDA_ASSEMBLY_H
#define SMMA_UNIT_CUDA_ASSEMBLY_H

#define LAUNCH(kernel, blocks, threads, ...) kernel<<<(blocks), (threads)>>>(__VA_ARGS__)

/* Runs mma.sync. ASSEMBLE_output_A_B has the format of the accumulators `x` and the numbers of registers of `a` and `b`
   in its name; `ptx` is the line up to the operands. */
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

/* Sparse instructions, with metadata. The sparsity selector is 0, which is valid for every shape. */
#define ASSEMBLE_SP_f32_4_4(ptx, x, a, b, metadata)                                                         \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0;"                  \
               : "+f"((x)[0]), "+f"((x)[1]), "+f"((x)[2]), "+f"((x)[3])                                     \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]), "r"((b)[2]), \
                 "r"((b)[3]), "r"(metadata))
#define ASSEMBLE_SP_f32_2_2(ptx, x, a, b, metadata)                         \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3}, %8, 0;" \
               : "+f"((x)[0]), "+f"((x)[1]), "+f"((x)[2]), "+f"((x)[3])     \
               : "r"((a)[0]), "r"((a)[1]), "r"((b)[0]), "r"((b)[1]), "r"(metadata))
#define ASSEMBLE_SP_f16_4_4(ptx, x, a, b, metadata)                                                         \
  asm volatile(ptx "{%0,%1}, {%2,%3,%4,%5}, {%6,%7,%8,%9}, {%0,%1}, %10, 0;"                                \
               : "+r"((x)[0]), "+r"((x)[1])                                                                 \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]), "r"((b)[2]), \
                 "r"((b)[3]), "r"(metadata))
#define ASSEMBLE_SP_f16_2_2(ptx, x, a, b, metadata)             \
  asm volatile(ptx "{%0,%1}, {%2,%3}, {%4,%5}, {%0,%1}, %6, 0;" \
               : "+r"((x)[0]), "+r"((x)[1])                     \
               : "r"((a)[0]), "r"((a)[1]), "r"((b)[0]), "r"((b)[1]), "r"(metadata))
#define ASSEMBLE_SP_s32_4_4(ptx, x, a, b, metadata)                                                         \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0;"                  \
               : "+r"((x)[0]), "+r"((x)[1]), "+r"((x)[2]), "+r"((x)[3])                                     \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]), "r"((b)[2]), \
                 "r"((b)[3]), "r"(metadata))
#define ASSEMBLE_SP_s32_2_2(ptx, x, a, b, metadata)                         \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3}, %8, 0;" \
               : "+r"((x)[0]), "+r"((x)[1]), "+r"((x)[2]), "+r"((x)[3])     \
               : "r"((a)[0]), "r"((a)[1]), "r"((b)[0]), "r"((b)[1]), "r"(metadata))

/* Instructions for any pair of formats. The names of the formats follow the output's name in the line. */
#define ASSEMBLE_PAIR_f32(ptx, x, a, b, name_a, name_b)                                                     \
  asm volatile(ptx "f32.%10.%11.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                  \
               : "+f"((x)[0]), "+f"((x)[1]), "+f"((x)[2]), "+f"((x)[3])                                     \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]), "C"(name_a), \
                 "C"(name_b))
#define ASSEMBLE_PAIR_f16(ptx, x, a, b, name_a, name_b)                                                     \
  asm volatile(ptx "f16.%8.%9.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"                                \
               : "+r"((x)[0]), "+r"((x)[1])                                                                 \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]), "C"(name_a), \
                 "C"(name_b))
#define ASSEMBLE_PAIR_SP_f32(ptx, x, a, b, metadata, name_a, name_b)                                        \
  asm volatile(ptx "f32.%13.%14.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0;"  \
               : "+f"((x)[0]), "+f"((x)[1]), "+f"((x)[2]), "+f"((x)[3])                                     \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]), "r"((b)[2]), \
                 "r"((b)[3]), "r"(metadata), "C"(name_a), "C"(name_b))
#define ASSEMBLE_PAIR_SP_f16(ptx, x, a, b, metadata, name_a, name_b)                                        \
  asm volatile(ptx "f16.%11.%12.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7,%8,%9}, {%0,%1}, %10, 0;"                \
               : "+r"((x)[0]), "+r"((x)[1])                                                                 \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]), "r"((b)[2]), \
                 "r"((b)[3]), "r"(metadata), "C"(name_a), "C"(name_b))

/* Instructions with scale factors, which all threads hold. */
#define ASSEMBLE_SCALED(ptx, x, a, b, scale_a, scale_b)                                                      \
  asm volatile(ptx "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {0, 0}, {%11}, {0, 0};"     \
               : "+f"((x)[0]), "+f"((x)[1]), "+f"((x)[2]), "+f"((x)[3])                                      \
               : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]), "r"(scale_a), \
                 "r"(scale_b))
#define ASSEMBLE_SCALED_PAIR(ptx, x, a, b, scale_a, scale_b, name_a, name_b)                                          \
  asm volatile(                                                                                                       \
      ptx "f32.%12.%13.f32.ue8m0 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {0, 0}, {%11}, {0, 0};" \
      : "+f"((x)[0]), "+f"((x)[1]), "+f"((x)[2]), "+f"((x)[3])                                                        \
      : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]), "r"(scale_a), "r"(scale_b),     \
        "C"(name_a), "C"(name_b))

/* Makes this thread's writes to shared memory visible to wgmma. */
#define SHOW_SHARED_MEMORY() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

/* wgmma with A in four registers and B in shared memory; `d` has the texts for the accumulators (wgmma.cu). */
#define ASSEMBLE_WGMMA(ptx, d, a, b, metadata, with_metadata, with_others, even, odd, unlike)                 \
  asm volatile(                                                                                               \
      "{\n"                                                                                                   \
      ".reg .b32 even, odd, unlike, x, metadata, d<128>;\n"                                                   \
      ".reg .pred add;\n"                                                                                     \
      "mov.b32 even, %0;\n"                                                                                   \
      "mov.b32 odd, %1;\n"                                                                                    \
      "mov.b32 metadata, %8;\n"                                                                               \
      "%9"                                                                                                    \
      "setp.eq.u32 add, 0, 0;\n"                                                                              \
      "wgmma.fence.sync.aligned;\n"                                                                           \
      "%10 %11, {%3, %4, %5, %6}, %7%12, add%13;\n"                                                           \
      "wgmma.commit_group.sync.aligned;\n"                                                                    \
      "wgmma.wait_group.sync.aligned 0;\n"                                                                    \
      "mov.b32 unlike, 0;\n"                                                                                  \
      "%14"                                                                                                   \
      "mov.b32 %0, d0;\n"                                                                                     \
      "mov.b32 %1, d1;\n"                                                                                     \
      "mov.b32 %2, unlike;\n"                                                                                 \
      "}"                                                                                                     \
      : "+r"(even), "+r"(odd), "=r"(unlike)                                                                   \
      : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "l"(b), "r"(metadata), "C"(d::initial), "C"(ptx), \
        "C"(d::names), "C"(with_metadata), "C"(with_others), "C"(d::comparison)                               \
      : "memory")

#endif
