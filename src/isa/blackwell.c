/* Blackwell of data centres (sm_100a): tcgen05 and mma.sync, dense, sparse and block-scaled. */
#include "isa/rows.h"

#define F8F6F4(a, b, k) \
  TCGEN05(blackwell, k, f32, a, b, tcgen05_f8f6f4_f32), TCGEN05(blackwell, k, f16, a, b, tcgen05_f8f6f4_f16)

#define MXF8F6F4(a, b, k) TCGEN05_SCALED(blackwell, k, 32, f32, a, b, ue8m0, tcgen05_mx)

#define MMA_FP8(a, b, k)                                       \
  MMA(blackwell, 16, 8, k, f32, a, b, f32, blackwell_fp8_f32), \
      MMA(blackwell, 16, 8, k, f16, a, b, f16, blackwell_fp8_f16)

#define MMA_FP8_K16(a, b, k)                                       \
  MMA(blackwell, 16, 8, k, f32, a, b, f32, blackwell_fp8_k16_f32), \
      MMA(blackwell, 16, 8, k, f16, a, b, f16, blackwell_fp8_k16_f16)

#define FP8_SP(a, b, K, k) MMA_SP(blackwell, K, k, 4, f32, a, b, f32, blackwell_fp8_f32)
#define F8F6F4_SP(a, b, K, k)                                    \
  TCGEN05_SP(blackwell, K, k, 4, f32, a, b, tcgen05_f8f6f4_f32), \
      TCGEN05_SP(blackwell, K, k, 4, f16, a, b, tcgen05_f8f6f4_f16)
#define MXF8F6F4_SP(a, b, K, k) TCGEN05_SP_SCALED(blackwell, K, k, 4, 32, f32, a, b, ue8m0, tcgen05_mx)
#define FP4_SP(block, scale) TCGEN05_SP_SCALED(blackwell, 128, 64, 8, block, f32, e2m1, e2m1, scale, tcgen05_fp4)

static const smma_instruction rows[] = {
    TCGEN05(blackwell, 16, f32, f16, f16, blackwell_f32),
    TCGEN05(blackwell, 16, f16, f16, f16, tcgen05_f16),
    TCGEN05(blackwell, 16, f32, bf16, bf16, blackwell_f32),
    TCGEN05(blackwell, 8, f32, tf32, tf32, blackwell_tf32),
    SMMA_F8F6F4_PAIRS(F8F6F4, 32),
    SMMA_F8F6F4_PAIRS(MXF8F6F4, 32),
    TCGEN05_SCALED(blackwell, 64, 32, f32, e2m1, e2m1, ue8m0, tcgen05_fp4),
    TCGEN05_SCALED(blackwell, 64, 16, f32, e2m1, e2m1, ue4m3, tcgen05_fp4),
    TCGEN05_SCALED(blackwell, 64, 16, f32, e2m1, e2m1, ue8m0, tcgen05_fp4),
    SMMA_S8_PAIRS(TCGEN05_INTEGER, blackwell),
    MMA(blackwell, 16, 8, 16, f32, f16, f16, f32, blackwell_f32),
    MMA(blackwell, 16, 8, 16, f16, f16, f16, f16, blackwell_f16),
    MMA(blackwell, 16, 8, 16, f32, bf16, bf16, f32, blackwell_f32),
    MMA(blackwell, 16, 8, 8, f32, f16, f16, f32, blackwell_f32),
    MMA(blackwell, 16, 8, 8, f16, f16, f16, f16, blackwell_f16),
    MMA(blackwell, 16, 8, 8, f32, bf16, bf16, f32, blackwell_f32),
    MMA(blackwell, 16, 8, 8, f32, tf32, tf32, f32, blackwell_tf32),
    MMA(blackwell, 16, 8, 4, f32, tf32, tf32, f32, blackwell_tf32),
    SMMA_FP8_PAIRS(MMA_FP8, 32),
    SMMA_FP8_PAIRS(MMA_FP8_K16, 16),
    SMMA_S8_PAIRS(MMA_INTEGER, blackwell, 16, 8, 32),
    SMMA_S8_PAIRS(MMA_INTEGER, blackwell, 16, 8, 16),
    SMMA_S8_PAIRS(MMA_INTEGER, blackwell, 8, 8, 16),
    SMMA_S4_SHAPES(MMA_S4_BY_S8, blackwell),
    SMMA_B1_SHAPES(blackwell),
    MMA(blackwell, 8, 8, 4, f64, f64, f64, f64, nvidia_fma),
    MMA_F64_DIRECTED(blackwell, 8, 8, 4),
    TCGEN05_SP(blackwell, 32, 16, 4, f32, f16, f16, blackwell_f32),
    TCGEN05_SP(blackwell, 32, 16, 4, f16, f16, f16, tcgen05_f16),
    TCGEN05_SP(blackwell, 32, 16, 4, f32, bf16, bf16, blackwell_f32),
    TCGEN05_SP(blackwell, 16, 8, 2, f32, tf32, tf32, blackwell_tf32),
    SMMA_F8F6F4_PAIRS(F8F6F4_SP, 64, 32),
    SMMA_S8_PAIRS(TCGEN05_SP_INTEGER, blackwell),
    MMA_SP_USUAL(blackwell, blackwell_f32, blackwell_tf32, blackwell_f16, nvidia_s4_by_s8),
    SMMA_FP8_PAIRS(FP8_SP, 64, 32),
    SMMA_F8F6F4_PAIRS(MXF8F6F4_SP, 64, 32),
    FP4_SP(32, ue8m0),
    FP4_SP(16, ue4m3),
    FP4_SP(16, ue8m0),
};
SMMA_TABLE(blackwell);
