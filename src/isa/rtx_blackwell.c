/* RTX Blackwell (sm_120a): mma.sync, dense, sparse and block-scaled. */
#include "isa/rows.h"

#define F8F6F4(a, b, k)                                                   \
  MMA(rtx_blackwell, 16, 8, k, f32, a, b, f32, rtx_blackwell_f8f6f4_f32), \
      MMA(rtx_blackwell, 16, 8, k, f16, a, b, f16, rtx_blackwell_f8f6f4_f16)

#define FP8_K16(a, b, k)                                                   \
  MMA(rtx_blackwell, 16, 8, k, f32, a, b, f32, rtx_blackwell_k16_fp8_f32), \
      MMA(rtx_blackwell, 16, 8, k, f16, a, b, f16, rtx_blackwell_k16_fp8_f16)

#define MXF8F6F4(a, b, k) MMA_SCALED(rtx_blackwell, 16, 8, k, 32, f32, a, b, f32, ue8m0, rtx_blackwell_mx)

#define FP4(block, scale) MMA_SCALED(rtx_blackwell, 16, 8, 64, block, f32, e2m1, e2m1, f32, scale, rtx_blackwell_fp4)

#define F8F6F4_SP(a, b, K, k)                                               \
  MMA_SP(rtx_blackwell, K, k, 4, f32, a, b, f32, rtx_blackwell_f8f6f4_f32), \
      MMA_SP(rtx_blackwell, K, k, 4, f16, a, b, f16, rtx_blackwell_f8f6f4_f16)

#define MXF8F6F4_SP(a, b, K, k) MMA_SP_SCALED(rtx_blackwell, K, k, 4, 32, f32, a, b, f32, ue8m0, rtx_blackwell_mx)

#define FP4_SP(block, scale) \
  MMA_SP_SCALED(rtx_blackwell, 128, 64, 8, block, f32, e2m1, e2m1, f32, scale, rtx_blackwell_fp4)

/* E3M4 is a format of SASS that PTX does not have. */
#define SMMA_FORMAT_e3m4 SMMA_E3M4_NAN

static const smma_instruction rows[] = {
    MMA(rtx_blackwell, 16, 8, 16, f32, f16, f16, f32, rtx_blackwell_f32),
    MMA(rtx_blackwell, 16, 8, 16, f16, f16, f16, f16, rtx_blackwell_f16),
    MMA(rtx_blackwell, 16, 8, 16, f32, bf16, bf16, f32, rtx_blackwell_f32),
    MMA(rtx_blackwell, 16, 8, 8, f32, f16, f16, f32, rtx_blackwell_f32),
    MMA(rtx_blackwell, 16, 8, 8, f16, f16, f16, f16, rtx_blackwell_f16),
    MMA(rtx_blackwell, 16, 8, 8, f32, bf16, bf16, f32, rtx_blackwell_f32),
    MMA(rtx_blackwell, 16, 8, 8, f32, tf32, tf32, f32, rtx_blackwell_tf32),
    MMA(rtx_blackwell, 16, 8, 4, f32, tf32, tf32, f32, rtx_blackwell_tf32),
    SMMA_F8F6F4_PAIRS(F8F6F4, 32),
    SMMA_FP8_PAIRS(FP8_K16, 16),
    MMA(rtx_blackwell, 16, 8, 32, f32, e3m4, e3m4, f32, rtx_blackwell_e3m4),
    SMMA_F8F6F4_PAIRS(MXF8F6F4, 32),
    FP4(32, ue8m0),
    FP4(16, ue4m3),
    FP4(16, ue8m0),
    FP4(32, ue4m3),
    SMMA_S8_PAIRS(MMA_INTEGER, rtx_blackwell, 16, 8, 32),
    SMMA_S8_PAIRS(MMA_INTEGER, rtx_blackwell, 16, 8, 16),
    SMMA_S8_PAIRS(MMA_INTEGER, rtx_blackwell, 8, 8, 16),
    SMMA_S4_SHAPES(MMA_S4_BY_S8, rtx_blackwell),
    SMMA_B1_SHAPES(rtx_blackwell),
    MMA(rtx_blackwell, 8, 8, 4, f64, f64, f64, f64, nvidia_fma),
    MMA_F64_DIRECTED(rtx_blackwell, 8, 8, 4),
    MMA_SP_USUAL(rtx_blackwell, rtx_blackwell_f32, rtx_blackwell_tf32, rtx_blackwell_f16, nvidia_s4_by_s8),
    SMMA_F8F6F4_PAIRS(F8F6F4_SP, 64, 32),
    SMMA_F8F6F4_PAIRS(MXF8F6F4_SP, 64, 32),
    FP4_SP(32, ue8m0),
    FP4_SP(16, ue4m3),
    FP4_SP(16, ue8m0),
};
SMMA_TABLE(rtx_blackwell);
