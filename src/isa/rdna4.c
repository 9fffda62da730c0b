/* RDNA 4 (gfx12): a step adds four products; wave32 and wave64 group different products. */
#include "isa/rows.h"

#define WMMA_OF_WAVES(suffix, wave)                                                                            \
  WMMA(rdna4, "v_wmma_f32_16x16x16_f16" suffix, 16, 16, 16, f32, f16, f16, rdna4_f32_##wave),                  \
      WMMA(rdna4, "v_wmma_f32_16x16x16_bf16" suffix, 16, 16, 16, f32, bf16, bf16, rdna4_f32_##wave),           \
      WMMA(rdna4, "v_wmma_f16_16x16x16_f16" suffix, 16, 16, 16, f16, f16, f16, rdna4_f16_##wave),              \
      WMMA(rdna4, "v_wmma_f16_16x16x16_f16" suffix ".ovfl", 16, 16, 16, f16, f16, f16, rdna4_f16_ovfl_##wave), \
      WMMA(rdna4, "v_wmma_bf16_16x16x16_bf16" suffix, 16, 16, 16, bf16, bf16, bf16, rdna4_bf16_##wave),        \
      WMMA(rdna4, "v_wmma_f32_16x16x16_fp8_fp8" suffix, 16, 16, 16, f32, e4m3, e4m3, rdna4_fp8_##wave),        \
      WMMA(rdna4, "v_wmma_f32_16x16x16_fp8_bf8" suffix, 16, 16, 16, f32, e4m3, e5m2, rdna4_fp8_##wave),        \
      WMMA(rdna4, "v_wmma_f32_16x16x16_bf8_fp8" suffix, 16, 16, 16, f32, e5m2, e4m3, rdna4_fp8_##wave),        \
      WMMA(rdna4, "v_wmma_f32_16x16x16_bf8_bf8" suffix, 16, 16, 16, f32, e5m2, e5m2, rdna4_fp8_##wave)

static const smma_instruction rows[] = {
    WMMA_OF_WAVES("", w32),
    WMMA_OF_WAVES(".w64", w64),
    SMMA_S8_PAIRS(WMMA_INTEGER, rdna4, "v_wmma_i32_16x16x16_iu8", 16, rdna4_integer),
    SMMA_S4_PAIRS(WMMA_INTEGER, rdna4, "v_wmma_i32_16x16x16_iu4", 16, rdna4_integer),
    SMMA_S4_PAIRS(WMMA_INTEGER, rdna4, "v_wmma_i32_16x16x32_iu4", 32, rdna4_integer),
    WMMA(rdna4, "v_dot2_f32_f16", 1, 1, 2, f32, f16, f16, rdna4_f32_w64),
    WMMA(rdna4, "v_dot2_f32_bf16", 1, 1, 2, f32, bf16, bf16, rdna4_f32_w64),
    WMMA(rdna4, "v_dot2_f16_f16", 1, 1, 2, f16, f16, f16, rdna4_dot_f16),
    WMMA(rdna4, "v_dot2_f16_f16.ovfl", 1, 1, 2, f16, f16, f16, rdna4_dot_f16_ovfl),
    WMMA(rdna4, "v_dot2_bf16_bf16", 1, 1, 2, bf16, bf16, bf16, rdna4_dot_bf16),
    WMMA(rdna4, "v_dot4_f32_fp8_fp8", 1, 1, 4, f32, e4m3, e4m3, rdna4_dot_fp8),
    WMMA(rdna4, "v_dot4_f32_fp8_bf8", 1, 1, 4, f32, e4m3, e5m2, rdna4_dot_fp8),
    WMMA(rdna4, "v_dot4_f32_bf8_fp8", 1, 1, 4, f32, e5m2, e4m3, rdna4_dot_fp8),
    WMMA(rdna4, "v_dot4_f32_bf8_bf8", 1, 1, 4, f32, e5m2, e5m2, rdna4_dot_fp8),
};
SMMA_TABLE(rdna4);
