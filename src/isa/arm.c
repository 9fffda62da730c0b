/* Advanced SIMD, SVE and SME. An SVE tile is one segment of the vector; an SME tile has the size for vectors of 512
   bits. FPCR is 0, except that EBF = 1 if the name ends in ".ebf". */
#include "isa/rows.h"

#define ARM(name, m, n, k, d, a, b, rule) SMMA_ROW(arm, ARM, name, NULL, m, n, k, d, a, b, d, none, 0, rule)

/* BFMMLA, BFMOPA and BFDOT with a suffix of their names and its rule. */
#define ARM_BF16(suffix, rule)                                                                                  \
  ARM("bfmmla" suffix, 2, 2, 4, f32, bf16, bf16, rule), ARM("bfmopa" suffix, 16, 16, 2, f32, bf16, bf16, rule), \
      ARM("bfdot" suffix, 1, 1, 2, f32, bf16, bf16, rule)

/* The outer product and the dot product of integers, for one pair of formats. */
#define ARM_INTEGER(prefix, a, b) \
  ARM(prefix "mopa", 16, 16, 4, s32, a, b, arm_integer), ARM(prefix "dot", 1, 1, 4, s32, a, b, arm_integer)

static const smma_instruction rows[] = {
    ARM_BF16("", arm_bf16),
    ARM_BF16(".ebf", arm_fused_pairs),
    ARM("fmopa.s.h", 16, 16, 2, f32, f16, f16, arm_fused_pairs),
    ARM("fmmla.s", 2, 2, 2, f32, f32, f32, arm_pairs_f32),
    ARM("fmmla.d", 2, 2, 2, f64, f64, f64, arm_pairs_f64),
    ARM("fmopa.s", 16, 16, 1, f32, f32, f32, arm_fma),
    ARM("fmopa.d", 8, 8, 1, f64, f64, f64, arm_fma),
    ARM("smmla", 2, 2, 8, s32, s8, s8, arm_integer),
    ARM("ummla", 2, 2, 8, s32, u8, u8, arm_integer),
    ARM("usmmla", 2, 2, 8, s32, u8, s8, arm_integer),
    ARM_INTEGER("s", s8, s8),
    ARM_INTEGER("u", u8, u8),
    ARM_INTEGER("us", u8, s8),
    ARM_INTEGER("su", s8, u8),
};
SMMA_TABLE(arm);
