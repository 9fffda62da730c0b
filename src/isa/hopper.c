/* Hopper (sm_90a): wgmma and mma.sync, dense and sparse. */
#include "isa/rows.h"

#define WGMMA_FP8(a, b, k) \
  WGMMA(hopper, k, f32, a, b, hopper_wgmma_fp8_f32), WGMMA(hopper, k, f16, a, b, hopper_wgmma_fp8_f16)

#define MMA_FP8(a, b, k) \
  MMA(hopper, 16, 8, k, f32, a, b, f32, hopper_fp8_f32), MMA(hopper, 16, 8, k, f16, a, b, f16, hopper_fp8_f16)

#define MMA_FP8_K16(a, b, k) \
  MMA(hopper, 16, 8, k, f32, a, b, f32, hopper_fp8_k16_f32), MMA(hopper, 16, 8, k, f16, a, b, f16, hopper_fp8_k16_f16)

#define FP8_SP(a, b, K, k) MMA_SP(hopper, K, k, 4, f32, a, b, f32, hopper_fp8_f32)
#define WGMMA_SP_FP8(a, b, K, k) \
  WGMMA_SP(hopper, K, k, 4, f32, a, b, hopper_wgmma_fp8_f32), WGMMA_SP(hopper, K, k, 4, f16, a, b, hopper_wgmma_fp8_f16)

static const smma_instruction rows[] = {
    WGMMA(hopper, 16, f32, f16, f16, hopper_f32),
    WGMMA(hopper, 16, f16, f16, f16, hopper_wgmma_f16),
    WGMMA(hopper, 16, f32, bf16, bf16, hopper_f32),
    WGMMA(hopper, 8, f32, tf32, tf32, hopper_tf32),
    SMMA_FP8_PAIRS(WGMMA_FP8, 32),
    SMMA_S8_PAIRS(WGMMA_INTEGER, hopper),
    MMA(hopper, 16, 8, 16, f32, f16, f16, f32, hopper_f32),
    MMA(hopper, 16, 8, 16, f16, f16, f16, f16, hopper_f16),
    MMA(hopper, 16, 8, 16, f32, bf16, bf16, f32, hopper_f32),
    MMA(hopper, 16, 8, 8, f32, f16, f16, f32, hopper_f32),
    MMA(hopper, 16, 8, 8, f16, f16, f16, f16, hopper_f16),
    MMA(hopper, 16, 8, 8, f32, bf16, bf16, f32, hopper_f32),
    MMA(hopper, 16, 8, 8, f32, tf32, tf32, f32, hopper_tf32),
    MMA(hopper, 16, 8, 4, f32, tf32, tf32, f32, hopper_tf32),
    SMMA_FP8_PAIRS(MMA_FP8, 32),
    SMMA_FP8_PAIRS(MMA_FP8_K16, 16),
    SMMA_S8_PAIRS(MMA_INTEGER, hopper, 16, 8, 32),
    SMMA_S8_PAIRS(MMA_INTEGER, hopper, 16, 8, 16),
    SMMA_S8_PAIRS(MMA_INTEGER, hopper, 8, 8, 16),
    SMMA_S4_SHAPES(MMA_S4_BY_S8, hopper),
    SMMA_B1_SHAPES(hopper),
    MMA(hopper, 16, 8, 16, f64, f64, f64, f64, nvidia_fma),
    MMA(hopper, 16, 8, 8, f64, f64, f64, f64, nvidia_fma),
    MMA(hopper, 16, 8, 4, f64, f64, f64, f64, nvidia_fma),
    MMA(hopper, 8, 8, 4, f64, f64, f64, f64, nvidia_fma),
    MMA_F64_DIRECTED(hopper, 16, 8, 16),
    MMA_F64_DIRECTED(hopper, 16, 8, 8),
    MMA_F64_DIRECTED(hopper, 16, 8, 4),
    MMA_F64_DIRECTED(hopper, 8, 8, 4),
    WGMMA_SP(hopper, 32, 16, 4, f32, f16, f16, hopper_f32),
    WGMMA_SP(hopper, 32, 16, 4, f16, f16, f16, hopper_wgmma_f16),
    WGMMA_SP(hopper, 32, 16, 4, f32, bf16, bf16, hopper_f32),
    WGMMA_SP(hopper, 16, 8, 2, f32, tf32, tf32, hopper_tf32),
    SMMA_FP8_PAIRS(WGMMA_SP_FP8, 64, 32),
    SMMA_S8_PAIRS(WGMMA_SP_INTEGER, hopper),
    MMA_SP_USUAL(hopper, hopper_f32, hopper_tf32, hopper_f16, nvidia_s4_by_s8),
    SMMA_FP8_PAIRS(FP8_SP, 64, 32),
};
SMMA_TABLE(hopper);
