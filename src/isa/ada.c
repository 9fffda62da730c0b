/* Ada (sm_89): mma.sync, dense and sparse. */
#include "isa/rows.h"

#define FP8(a, b, k) MMA(ada, 16, 8, k, f32, a, b, f32, ada_fp8_f32), MMA(ada, 16, 8, k, f16, a, b, f16, ada_fp8_f16)

#define FP8_SP(a, b, K, k) MMA_SP(ada, K, k, 4, f32, a, b, f32, ada_fp8_f32)

static const smma_instruction rows[] = {
    MMA(ada, 16, 8, 16, f32, f16, f16, f32, ada_f32),
    MMA(ada, 16, 8, 16, f16, f16, f16, f16, ada_f16),
    MMA(ada, 16, 8, 16, f32, bf16, bf16, f32, ada_f32),
    MMA(ada, 16, 8, 8, f32, f16, f16, f32, ada_f32),
    MMA(ada, 16, 8, 8, f16, f16, f16, f16, ada_f16),
    MMA(ada, 16, 8, 8, f32, bf16, bf16, f32, ada_f32),
    MMA(ada, 16, 8, 8, f32, tf32, tf32, f32, ada_tf32),
    MMA(ada, 16, 8, 4, f32, tf32, tf32, f32, ada_tf32),
    SMMA_FP8_PAIRS(FP8, 32),
    SMMA_FP8_PAIRS(FP8, 16),
    SMMA_S8_PAIRS(MMA_INTEGER, ada, 16, 8, 32),
    SMMA_S8_PAIRS(MMA_INTEGER, ada, 16, 8, 16),
    SMMA_S8_PAIRS(MMA_INTEGER, ada, 8, 8, 16),
    SMMA_S4_SHAPES(MMA_INTEGER, ada),
    SMMA_B1_SHAPES(ada),
    MMA(ada, 8, 8, 4, f64, f64, f64, f64, nvidia_fma),
    MMA_F64_DIRECTED(ada, 8, 8, 4),
    MMA_SP_USUAL(ada, ada_f32, ada_tf32, ada_f16, nvidia_integer),
    SMMA_FP8_PAIRS(FP8_SP, 64, 32),
};
SMMA_TABLE(ada);
