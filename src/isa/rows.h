/* Macros for the instructions in an architecture's file: one row each, expanded to every legal N. */
#ifndef SMMA_ISA_ROWS_H
#define SMMA_ISA_ROWS_H

#include "isa/format_name.h"
#include "isa/instruction.h"

#define SMMA_ROW_BY(rule, sparse, arch, family, name, other, m, n, k, d, a, b, c, scale, block)               \
  {                                                                                                           \
    name, other, SMMA_ARCH_##arch, SMMA_FAMILY_##family, m, n, k, SMMA_FORMAT_NAMED(a), SMMA_FORMAT_NAMED(b), \
        SMMA_FORMAT_NAMED(c), SMMA_FORMAT_NAMED(d), SMMA_FORMAT_NAMED(scale), block, &rule, NULL, sparse      \
  }
#define SMMA_ROW(arch, family, name, other, m, n, k, d, a, b, c, scale, block, rule) \
  SMMA_ROW_BY(smma_rule_##rule, 0, arch, family, name, other, m, n, k, d, a, b, c, scale, block)

#define MMA(arch, m, n, k, d, a, b, c, rule) \
  SMMA_ROW(arch, MMA, "mma.m" #m "n" #n "k" #k "." #d "." #a "." #b "." #c, NULL, m, n, k, d, a, b, c, none, 0, rule)

/* FP64 instructions in a rounding mode other than to nearest. */
#define MMA_F64_IN(direction, arch, m, n, k)                                                                         \
  SMMA_ROW(arch, MMA, "mma.m" #m "n" #n "k" #k "." #direction ".f64.f64.f64.f64", NULL, m, n, k, f64, f64, f64, f64, \
           none, 0, nvidia_fma_##direction)
#define MMA_F64_DIRECTED(...) MMA_F64_IN(rz, __VA_ARGS__), MMA_F64_IN(rm, __VA_ARGS__), MMA_F64_IN(rp, __VA_ARGS__)

/* Two instructions on integers: one whose sums wrap, and one whose sums saturate. */
#define MMA_INTEGER_BY(rule, a, b, arch, m, n, k)                                                                     \
  MMA(arch, m, n, k, s32, a, b, s32, rule),                                                                           \
      SMMA_ROW(arch, MMA, "mma.m" #m "n" #n "k" #k ".satfinite.s32." #a "." #b ".s32", NULL, m, n, k, s32, a, b, s32, \
               none, 0, rule##_satfinite)
#define MMA_INTEGER(...) MMA_INTEGER_BY(nvidia_integer, __VA_ARGS__)
#define MMA_S4_BY_S8(...) MMA_INTEGER_BY(nvidia_s4_by_s8, __VA_ARGS__)

/* Instructions on single bits. They count the one bits of (a and b), which is the product, or of (a xor b). */
#define MMA_B1(operation, arch, m, n, k)                                                                              \
  SMMA_ROW(arch, MMA, "mma.m" #m "n" #n "k" #k ".s32.b1.b1.s32." #operation ".popc", NULL, m, n, k, s32, b1, b1, s32, \
           none, 0, nvidia_b1_##operation)
#define MMA_B1_PAIR(...) MMA_B1(and, __VA_ARGS__), MMA_B1(xor, __VA_ARGS__)

#define MMA_SCALED(arch, m, n, k, block, d, a, b, c, scale, rule)                                                     \
  SMMA_ROW(arch, MMA, "mma.m" #m "n" #n "k" #k ".block" #block "." #d "." #a "." #b "." #c "." #scale, NULL, m, n, k, \
           d, a, b, c, scale, block, rule)

#define WGMMA_N(n, arch, k, d, a, b, rule) \
  SMMA_ROW(arch, WGMMA, "wgmma.m64n" #n "k" #k "." #d "." #a "." #b, NULL, 64, n, k, d, a, b, d, none, 0, rule)
#define WGMMA(...) SMMA_N_STEP_8(WGMMA_N, __VA_ARGS__)

#define WGMMA_SATFINITE_N(n, arch, a, b)                                                                          \
  SMMA_ROW(arch, WGMMA, "wgmma.m64n" #n "k32.satfinite.s32." #a "." #b, NULL, 64, n, 32, s32, a, b, s32, none, 0, \
           nvidia_integer_satfinite)
#define WGMMA_INTEGER(a, b, arch) \
  SMMA_N_INTEGER(WGMMA_N, arch, 32, s32, a, b, nvidia_integer), SMMA_N_INTEGER(WGMMA_SATFINITE_N, arch, a, b)

#define TCGEN05_N(n, arch, m, k, d, a, b, rule) \
  SMMA_ROW(arch, TCGEN05, "tcgen05.m" #m "n" #n "k" #k "." #d "." #a "." #b, NULL, m, n, k, d, a, b, d, none, 0, rule)
#define TCGEN05(arch, ...) \
  SMMA_N_STEP_8(TCGEN05_N, arch, 64, __VA_ARGS__), SMMA_N_STEP_16(TCGEN05_N, arch, 128, __VA_ARGS__)

#define TCGEN05_SATFINITE_N(n, arch, m, a, b)                                                                         \
  SMMA_ROW(arch, TCGEN05, "tcgen05.m" #m "n" #n "k32.satfinite.s32." #a "." #b, NULL, m, n, 32, s32, a, b, s32, none, \
           0, nvidia_integer_satfinite)
#define TCGEN05_INTEGER(a, b, arch)                                        \
  SMMA_N_INTEGER(TCGEN05_N, arch, 64, 32, s32, a, b, nvidia_integer),      \
      SMMA_N_INTEGER(TCGEN05_N, arch, 128, 32, s32, a, b, nvidia_integer), \
      SMMA_N_INTEGER(TCGEN05_SATFINITE_N, arch, 64, a, b), SMMA_N_INTEGER(TCGEN05_SATFINITE_N, arch, 128, a, b)

#define TCGEN05_SCALED_N(n, arch, k, block, d, a, b, scale, rule)                                                     \
  SMMA_ROW(arch, TCGEN05, "tcgen05.m128n" #n "k" #k ".block" #block "." #d "." #a "." #b "." #scale, NULL, 128, n, k, \
           d, a, b, d, scale, block, rule)
#define TCGEN05_SCALED(...) SMMA_N_STEP_8(TCGEN05_SCALED_N, __VA_ARGS__)

/* An MFMA instruction. Arguments: name, alternative spelling or NULL, M, N, K, then formats. */
#define MFMA(arch, name, other, m, n, k, d, a, b, rule) \
  SMMA_ROW(arch, MFMA, name, other, m, n, k, d, a, b, d, none, 0, rule)

/* A WMMA instruction. Arguments: name with its modifiers, M, N, K, then formats. */
#define WMMA(arch, name, m, n, k, d, a, b, rule) SMMA_ROW(arch, WMMA, name, NULL, m, n, k, d, a, b, d, none, 0, rule)

/* Two WMMA instructions on integers, one whose sums wrap and one whose sums saturate. Arguments: formats of A and B,
   spelled as in the name; then the name, K and the rule. */
#define WMMA_INTEGER(a, b, arch, name, k, rule)               \
  WMMA(arch, name "." #a "." #b, 16, 16, k, s32, a, b, rule), \
      WMMA(arch, name "." #a "." #b ".clamp", 16, 16, k, s32, a, b, rule##_clamp)

/* Sparse instructions. `K` is the K in the name; `k` is the number of products after selection, half of K; `group` is
   the number of elements of A in a group (docs/sparse.md). A scale factor applies to a block of stored elements.
   Source: PTX ISA, mma.sp, wgmma.mma_async.sp, tcgen05.mma.sp. */
#define MMA_SP(arch, K, k, group, d, a, b, c, rule)                                                                   \
  SMMA_ROW_BY(smma_sparse_rule_##rule, group, arch, MMA, "mma.sp.m16n8k" #K "." #d "." #a "." #b "." #c, NULL, 16, 8, \
              k, d, a, b, c, none, 0)
#define MMA_SP_INTEGER(a, b, arch, K, k, group, rule)                    \
  MMA_SP(arch, K, k, group, s32, a, b, s32, rule),                       \
      SMMA_ROW_BY(smma_sparse_rule_##rule##_satfinite, group, arch, MMA, \
                  "mma.sp.m16n8k" #K ".satfinite.s32." #a "." #b ".s32", NULL, 16, 8, k, s32, a, b, s32, none, 0)
/* The sparse instructions that every GPU from compute capability 8.0 on has. Arguments: the rules of 16-bit inputs, of
   TF32, of FP16 output and of 4-bit integers. */
#define MMA_SP_USUAL(arch, f32_rule, tf32_rule, f16_rule, s4_rule)                                                     \
  MMA_SP(arch, 32, 16, 4, f32, f16, f16, f32, f32_rule), MMA_SP(arch, 16, 8, 4, f32, f16, f16, f32, f32_rule),         \
      MMA_SP(arch, 32, 16, 4, f16, f16, f16, f16, f16_rule), MMA_SP(arch, 16, 8, 4, f16, f16, f16, f16, f16_rule),     \
      MMA_SP(arch, 32, 16, 4, f32, bf16, bf16, f32, f32_rule), MMA_SP(arch, 16, 8, 4, f32, bf16, bf16, f32, f32_rule), \
      MMA_SP(arch, 16, 8, 2, f32, tf32, tf32, f32, tf32_rule), MMA_SP(arch, 8, 4, 2, f32, tf32, tf32, f32, tf32_rule), \
      SMMA_S8_PAIRS(MMA_SP_INTEGER, arch, 64, 32, 4, nvidia_integer),                                                  \
      SMMA_S8_PAIRS(MMA_SP_INTEGER, arch, 32, 16, 4, nvidia_integer),                                                  \
      SMMA_S4_PAIRS(MMA_SP_INTEGER, arch, 128, 64, 8, s4_rule),                                                        \
      SMMA_S4_PAIRS(MMA_SP_INTEGER, arch, 64, 32, 8, s4_rule)

#define MMA_SP_SCALED(arch, K, k, group, block, d, a, b, c, scale, rule)                                             \
  SMMA_ROW_BY(smma_sparse_rule_##rule, group, arch, MMA,                                                             \
              "mma.sp.m16n8k" #K ".block" #block "." #d "." #a "." #b "." #c "." #scale, NULL, 16, 8, k, d, a, b, c, \
              scale, block)

#define WGMMA_SP_N(n, arch, K, k, group, d, a, b, rule)                                                              \
  SMMA_ROW_BY(smma_sparse_rule_##rule, group, arch, WGMMA, "wgmma.sp.m64n" #n "k" #K "." #d "." #a "." #b, NULL, 64, \
              n, k, d, a, b, d, none, 0)
#define WGMMA_SP(...) SMMA_N_STEP_8(WGMMA_SP_N, __VA_ARGS__)
#define WGMMA_SP_SATFINITE_N(n, arch, a, b)                              \
  SMMA_ROW_BY(smma_sparse_rule_nvidia_integer_satfinite, 4, arch, WGMMA, \
              "wgmma.sp.m64n" #n "k64.satfinite.s32." #a "." #b, NULL, 64, n, 32, s32, a, b, s32, none, 0)
#define WGMMA_SP_INTEGER(a, b, arch)                                      \
  SMMA_N_INTEGER(WGMMA_SP_N, arch, 64, 32, 4, s32, a, b, nvidia_integer), \
      SMMA_N_INTEGER(WGMMA_SP_SATFINITE_N, arch, a, b)

#define TCGEN05_SP_N(n, arch, m, K, k, group, d, a, b, rule)                                                       \
  SMMA_ROW_BY(smma_sparse_rule_##rule, group, arch, TCGEN05, "tcgen05.sp.m" #m "n" #n "k" #K "." #d "." #a "." #b, \
              NULL, m, n, k, d, a, b, d, none, 0)
#define TCGEN05_SP(arch, ...) \
  SMMA_N_STEP_8(TCGEN05_SP_N, arch, 64, __VA_ARGS__), SMMA_N_STEP_16(TCGEN05_SP_N, arch, 128, __VA_ARGS__)
#define TCGEN05_SP_SCALED_N(n, arch, K, k, group, block, d, a, b, scale, rule)                                        \
  SMMA_ROW_BY(smma_sparse_rule_##rule, group, arch, TCGEN05,                                                          \
              "tcgen05.sp.m128n" #n "k" #K ".block" #block "." #d "." #a "." #b "." #scale, NULL, 128, n, k, d, a, b, \
              d, scale, block)
#define TCGEN05_SP_SCALED(...) SMMA_N_STEP_8(TCGEN05_SP_SCALED_N, __VA_ARGS__)
#define TCGEN05_SP_SATFINITE_N(n, arch, m, a, b)                           \
  SMMA_ROW_BY(smma_sparse_rule_nvidia_integer_satfinite, 4, arch, TCGEN05, \
              "tcgen05.sp.m" #m "n" #n "k64.satfinite.s32." #a "." #b, NULL, m, n, 32, s32, a, b, s32, none, 0)
#define TCGEN05_SP_INTEGER(a, b, arch)                                               \
  SMMA_N_INTEGER(TCGEN05_SP_N, arch, 64, 64, 32, 4, s32, a, b, nvidia_integer),      \
      SMMA_N_INTEGER(TCGEN05_SP_N, arch, 128, 64, 32, 4, s32, a, b, nvidia_integer), \
      SMMA_N_INTEGER(TCGEN05_SP_SATFINITE_N, arch, 64, a, b), SMMA_N_INTEGER(TCGEN05_SP_SATFINITE_N, arch, 128, a, b)

/* A row for every pair of formats of A and B: of FP8 formats, of FP8, FP6 and FP4 formats, and of integer formats. */
#define SMMA_FP8_PAIRS(ROW, ...) \
  ROW(e4m3, e4m3, __VA_ARGS__), ROW(e4m3, e5m2, __VA_ARGS__), ROW(e5m2, e4m3, __VA_ARGS__), ROW(e5m2, e5m2, __VA_ARGS__)
#define SMMA_F8F6F4_WITH(a, ROW, ...)                                                                         \
  ROW(a, e4m3, __VA_ARGS__), ROW(a, e5m2, __VA_ARGS__), ROW(a, e3m2, __VA_ARGS__), ROW(a, e2m3, __VA_ARGS__), \
      ROW(a, e2m1, __VA_ARGS__)
#define SMMA_F8F6F4_PAIRS(ROW, ...)                                                       \
  SMMA_F8F6F4_WITH(e4m3, ROW, __VA_ARGS__), SMMA_F8F6F4_WITH(e5m2, ROW, __VA_ARGS__),     \
      SMMA_F8F6F4_WITH(e3m2, ROW, __VA_ARGS__), SMMA_F8F6F4_WITH(e2m3, ROW, __VA_ARGS__), \
      SMMA_F8F6F4_WITH(e2m1, ROW, __VA_ARGS__)

#define SMMA_S8_PAIRS(ROW, ...) \
  ROW(s8, s8, __VA_ARGS__), ROW(s8, u8, __VA_ARGS__), ROW(u8, s8, __VA_ARGS__), ROW(u8, u8, __VA_ARGS__)

#define SMMA_S4_PAIRS(ROW, ...) \
  ROW(s4, s4, __VA_ARGS__), ROW(s4, u4, __VA_ARGS__), ROW(u4, s4, __VA_ARGS__), ROW(u4, u4, __VA_ARGS__)

/* Every shape of mma.sync with 4-bit integers, from compute capability 8.0 on. */
#define SMMA_S4_SHAPES(ROW, arch) \
  SMMA_S4_PAIRS(ROW, arch, 16, 8, 64), SMMA_S4_PAIRS(ROW, arch, 16, 8, 32), SMMA_S4_PAIRS(ROW, arch, 8, 8, 32)

/* Every shape of mma.sync with single bits, from compute capability 8.0 on. */
#define SMMA_B1_SHAPES(arch) MMA_B1_PAIR(arch, 16, 8, 256), MMA_B1_PAIR(arch, 16, 8, 128), MMA_B1_PAIR(arch, 8, 8, 128)

/* A row for every N that the instructions allow. The site defines SMMA_ONE_N to have fewer instructions: only those
   with the least N. */
#ifdef SMMA_ONE_N
#define SMMA_N_STEP_16(ROW, ...) ROW(16, __VA_ARGS__)
#define SMMA_N_INTEGER(ROW, ...) ROW(8, __VA_ARGS__)
#define SMMA_N_STEP_8(ROW, ...) ROW(8, __VA_ARGS__)
#else
#define SMMA_N_FROM_48(ROW, ...)                                                                                 \
  ROW(48, __VA_ARGS__), ROW(64, __VA_ARGS__), ROW(80, __VA_ARGS__), ROW(96, __VA_ARGS__), ROW(112, __VA_ARGS__), \
      ROW(128, __VA_ARGS__), ROW(144, __VA_ARGS__), ROW(160, __VA_ARGS__), ROW(176, __VA_ARGS__),                \
      ROW(192, __VA_ARGS__), ROW(208, __VA_ARGS__), ROW(224, __VA_ARGS__), ROW(240, __VA_ARGS__),                \
      ROW(256, __VA_ARGS__)
#define SMMA_N_STEP_16(ROW, ...) ROW(16, __VA_ARGS__), ROW(32, __VA_ARGS__), SMMA_N_FROM_48(ROW, __VA_ARGS__)
/* The N of instructions on integers. Source: PTX ISA, wgmma.mma_async, and tcgen05.mma with .kind::i8. */
#define SMMA_N_INTEGER(ROW, ...)                                                         \
  ROW(8, __VA_ARGS__), ROW(16, __VA_ARGS__), ROW(24, __VA_ARGS__), ROW(32, __VA_ARGS__), \
      SMMA_N_FROM_48(ROW, __VA_ARGS__)
#define SMMA_N_STEP_8(ROW, ...)                                                                                        \
  ROW(8, __VA_ARGS__), ROW(16, __VA_ARGS__), ROW(24, __VA_ARGS__), ROW(32, __VA_ARGS__), ROW(40, __VA_ARGS__),         \
      ROW(48, __VA_ARGS__), ROW(56, __VA_ARGS__), ROW(64, __VA_ARGS__), ROW(72, __VA_ARGS__), ROW(80, __VA_ARGS__),    \
      ROW(88, __VA_ARGS__), ROW(96, __VA_ARGS__), ROW(104, __VA_ARGS__), ROW(112, __VA_ARGS__), ROW(120, __VA_ARGS__), \
      ROW(128, __VA_ARGS__), ROW(136, __VA_ARGS__), ROW(144, __VA_ARGS__), ROW(152, __VA_ARGS__),                      \
      ROW(160, __VA_ARGS__), ROW(168, __VA_ARGS__), ROW(176, __VA_ARGS__), ROW(184, __VA_ARGS__),                      \
      ROW(192, __VA_ARGS__), ROW(200, __VA_ARGS__), ROW(208, __VA_ARGS__), ROW(216, __VA_ARGS__),                      \
      ROW(224, __VA_ARGS__), ROW(232, __VA_ARGS__), ROW(240, __VA_ARGS__), ROW(248, __VA_ARGS__),                      \
      ROW(256, __VA_ARGS__)
#endif

/* An AMX instruction of Apple: an outer product of n elements each. */
#define APPLE(arch, name, other, n, d, a, b) SMMA_ROW(arch, APPLE, name, other, n, n, 1, d, a, b, d, none, 0, apple_fma)

/* Ends an architecture's file: defines the table of its rows. */
#define SMMA_TABLE(symbol) const smma_instruction_table smma_table_##symbol = {rows, sizeof rows / sizeof rows[0]}

#endif
