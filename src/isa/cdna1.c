/* CDNA 1 (gfx908). A row has the older name of an instruction and, if there is one, the newer name with the number of
   blocks. */
#include "isa/rows.h"

static const smma_instruction rows[] = {
    MFMA(cdna1, "v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16_f16", 16, 16, 16, f32, f16, f16, cdna1_f16),
    MFMA(cdna1, "v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16", 32, 32, 8, f32, f16, f16, cdna1_f16),
    MFMA(cdna1, "v_mfma_f32_32x32x4f16", "v_mfma_f32_32x32x4_2b_f16", 32, 32, 4, f32, f16, f16, cdna1_f16),
    MFMA(cdna1, "v_mfma_f32_16x16x4f16", "v_mfma_f32_16x16x4_4b_f16", 16, 16, 4, f32, f16, f16, cdna1_f16),
    MFMA(cdna1, "v_mfma_f32_4x4x4f16", "v_mfma_f32_4x4x4_16b_f16", 4, 4, 4, f32, f16, f16, cdna1_f16),
    MFMA(cdna1, "v_mfma_f32_16x16x8bf16", NULL, 16, 16, 8, f32, bf16, bf16, cdna1_bf16),
    MFMA(cdna1, "v_mfma_f32_32x32x4bf16", NULL, 32, 32, 4, f32, bf16, bf16, cdna1_bf16),
    MFMA(cdna1, "v_mfma_f32_32x32x2bf16", NULL, 32, 32, 2, f32, bf16, bf16, cdna1_bf16),
    MFMA(cdna1, "v_mfma_f32_16x16x2bf16", NULL, 16, 16, 2, f32, bf16, bf16, cdna1_bf16),
    MFMA(cdna1, "v_mfma_f32_4x4x2bf16", NULL, 4, 4, 2, f32, bf16, bf16, cdna1_bf16),
    MFMA(cdna1, "v_mfma_i32_16x16x16i8", "v_mfma_i32_16x16x16_i8", 16, 16, 16, s32, s8, s8, amd_integer),
    MFMA(cdna1, "v_mfma_i32_32x32x8i8", "v_mfma_i32_32x32x8_i8", 32, 32, 8, s32, s8, s8, amd_integer),
    MFMA(cdna1, "v_mfma_i32_32x32x4i8", "v_mfma_i32_32x32x4_2b_i8", 32, 32, 4, s32, s8, s8, amd_integer),
    MFMA(cdna1, "v_mfma_i32_16x16x4i8", "v_mfma_i32_16x16x4_4b_i8", 16, 16, 4, s32, s8, s8, amd_integer),
    MFMA(cdna1, "v_mfma_i32_4x4x4i8", "v_mfma_i32_4x4x4_16b_i8", 4, 4, 4, s32, s8, s8, amd_integer),
    MFMA(cdna1, "v_mfma_f32_16x16x4f32", "v_mfma_f32_16x16x4_f32", 16, 16, 4, f32, f32, f32, cdna1_fma),
    MFMA(cdna1, "v_mfma_f32_32x32x2f32", "v_mfma_f32_32x32x2_f32", 32, 32, 2, f32, f32, f32, cdna1_fma),
    MFMA(cdna1, "v_mfma_f32_32x32x1f32", "v_mfma_f32_32x32x1_2b_f32", 32, 32, 1, f32, f32, f32, cdna1_fma),
    MFMA(cdna1, "v_mfma_f32_16x16x1f32", "v_mfma_f32_16x16x1_4b_f32", 16, 16, 1, f32, f32, f32, cdna1_fma),
    MFMA(cdna1, "v_mfma_f32_4x4x1f32", "v_mfma_f32_4x4x1_16b_f32", 4, 4, 1, f32, f32, f32, cdna1_fma),
};
SMMA_TABLE(cdna1);
