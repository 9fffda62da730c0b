/* CDNA 2 (gfx90a). A row has the older name of an instruction and, if there is one, the newer name with the number of
   blocks. */
#include "isa/rows.h"

static const smma_instruction rows[] = {
    MFMA(cdna2, "v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16_f16", 16, 16, 16, f32, f16, f16, cdna2_by_four),
    MFMA(cdna2, "v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16", 32, 32, 8, f32, f16, f16, cdna2_by_four),
    MFMA(cdna2, "v_mfma_f32_32x32x4f16", "v_mfma_f32_32x32x4_2b_f16", 32, 32, 4, f32, f16, f16, cdna2_by_four),
    MFMA(cdna2, "v_mfma_f32_16x16x4f16", "v_mfma_f32_16x16x4_4b_f16", 16, 16, 4, f32, f16, f16, cdna2_by_four),
    MFMA(cdna2, "v_mfma_f32_4x4x4f16", "v_mfma_f32_4x4x4_16b_f16", 4, 4, 4, f32, f16, f16, cdna2_by_four),
    MFMA(cdna2, "v_mfma_f32_16x16x16bf16_1k", "v_mfma_f32_16x16x16_bf16", 16, 16, 16, f32, bf16, bf16, cdna2_by_four),
    MFMA(cdna2, "v_mfma_f32_32x32x8bf16_1k", "v_mfma_f32_32x32x8_bf16", 32, 32, 8, f32, bf16, bf16, cdna2_by_four),
    MFMA(cdna2, "v_mfma_f32_32x32x4bf16_1k", "v_mfma_f32_32x32x4_2b_bf16", 32, 32, 4, f32, bf16, bf16, cdna2_by_four),
    MFMA(cdna2, "v_mfma_f32_16x16x4bf16_1k", "v_mfma_f32_16x16x4_4b_bf16", 16, 16, 4, f32, bf16, bf16, cdna2_by_four),
    MFMA(cdna2, "v_mfma_f32_4x4x4bf16_1k", "v_mfma_f32_4x4x4_16b_bf16", 4, 4, 4, f32, bf16, bf16, cdna2_by_four),
    MFMA(cdna2, "v_mfma_f32_16x16x8bf16", NULL, 16, 16, 8, f32, bf16, bf16, cdna2_by_two),
    MFMA(cdna2, "v_mfma_f32_32x32x4bf16", NULL, 32, 32, 4, f32, bf16, bf16, cdna2_by_two),
    MFMA(cdna2, "v_mfma_f32_32x32x2bf16", NULL, 32, 32, 2, f32, bf16, bf16, cdna2_by_two),
    MFMA(cdna2, "v_mfma_f32_16x16x2bf16", NULL, 16, 16, 2, f32, bf16, bf16, cdna2_by_two),
    MFMA(cdna2, "v_mfma_f32_4x4x2bf16", NULL, 4, 4, 2, f32, bf16, bf16, cdna2_by_two),
    MFMA(cdna2, "v_mfma_i32_16x16x16i8", "v_mfma_i32_16x16x16_i8", 16, 16, 16, s32, s8, s8, amd_integer),
    MFMA(cdna2, "v_mfma_i32_32x32x8i8", "v_mfma_i32_32x32x8_i8", 32, 32, 8, s32, s8, s8, amd_integer),
    MFMA(cdna2, "v_mfma_i32_32x32x4i8", "v_mfma_i32_32x32x4_2b_i8", 32, 32, 4, s32, s8, s8, amd_integer),
    MFMA(cdna2, "v_mfma_i32_16x16x4i8", "v_mfma_i32_16x16x4_4b_i8", 16, 16, 4, s32, s8, s8, amd_integer),
    MFMA(cdna2, "v_mfma_i32_4x4x4i8", "v_mfma_i32_4x4x4_16b_i8", 4, 4, 4, s32, s8, s8, amd_integer),
    MFMA(cdna2, "v_mfma_f32_16x16x4f32", "v_mfma_f32_16x16x4_f32", 16, 16, 4, f32, f32, f32, cdna2_fma),
    MFMA(cdna2, "v_mfma_f32_32x32x2f32", "v_mfma_f32_32x32x2_f32", 32, 32, 2, f32, f32, f32, cdna2_fma),
    MFMA(cdna2, "v_mfma_f32_32x32x1f32", "v_mfma_f32_32x32x1_2b_f32", 32, 32, 1, f32, f32, f32, cdna2_fma),
    MFMA(cdna2, "v_mfma_f32_16x16x1f32", "v_mfma_f32_16x16x1_4b_f32", 16, 16, 1, f32, f32, f32, cdna2_fma),
    MFMA(cdna2, "v_mfma_f32_4x4x1f32", "v_mfma_f32_4x4x1_16b_f32", 4, 4, 1, f32, f32, f32, cdna2_fma),
    MFMA(cdna2, "v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64", 16, 16, 4, f64, f64, f64, cdna2_fma),
    MFMA(cdna2, "v_mfma_f64_4x4x4f64", "v_mfma_f64_4x4x4_4b_f64", 4, 4, 4, f64, f64, f64, cdna2_fma),
};
SMMA_TABLE(cdna2);
