/* RDNA 3 and 3.5 (gfx11): a step adds two products; wave32 and wave64 compute the same. */
#include "isa/rows.h"

static const smma_instruction rows[] = {
    WMMA(rdna3, "v_wmma_f32_16x16x16_f16", 16, 16, 16, f32, f16, f16, rdna3_f32),
    WMMA(rdna3, "v_wmma_f32_16x16x16_bf16", 16, 16, 16, f32, bf16, bf16, rdna3_f32),
    WMMA(rdna3, "v_wmma_f16_16x16x16_f16", 16, 16, 16, f16, f16, f16, rdna3_f16),
    WMMA(rdna3, "v_wmma_f16_16x16x16_f16.ovfl", 16, 16, 16, f16, f16, f16, rdna3_f16_ovfl),
    WMMA(rdna3, "v_wmma_bf16_16x16x16_bf16", 16, 16, 16, bf16, bf16, bf16, rdna3_bf16),
    SMMA_S8_PAIRS(WMMA_INTEGER, rdna3, "v_wmma_i32_16x16x16_iu8", 16, rdna3_integer),
    SMMA_S4_PAIRS(WMMA_INTEGER, rdna3, "v_wmma_i32_16x16x16_iu4", 16, rdna3_integer),
    WMMA(rdna3, "v_dot2_f32_f16", 1, 1, 2, f32, f16, f16, rdna3_f32),
    WMMA(rdna3, "v_dot2_f32_bf16", 1, 1, 2, f32, bf16, bf16, rdna3_f32),
};
SMMA_TABLE(rdna3);
