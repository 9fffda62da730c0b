/* Ampere (sm_80 to sm_87): mma.sync, dense and sparse. */
#include "isa/rows.h"

static const smma_instruction rows[] = {
    MMA(ampere, 16, 8, 16, f32, f16, f16, f32, ampere_f32),
    MMA(ampere, 16, 8, 16, f16, f16, f16, f16, ampere_f16),
    MMA(ampere, 16, 8, 16, f32, bf16, bf16, f32, ampere_f32),
    MMA(ampere, 16, 8, 8, f32, f16, f16, f32, ampere_f32),
    MMA(ampere, 16, 8, 8, f16, f16, f16, f16, ampere_f16),
    MMA(ampere, 16, 8, 8, f32, bf16, bf16, f32, ampere_f32),
    MMA(ampere, 16, 8, 8, f32, tf32, tf32, f32, ampere_tf32),
    MMA(ampere, 16, 8, 4, f32, tf32, tf32, f32, ampere_tf32),
    SMMA_S8_PAIRS(MMA_INTEGER, ampere, 16, 8, 32),
    SMMA_S8_PAIRS(MMA_INTEGER, ampere, 16, 8, 16),
    SMMA_S8_PAIRS(MMA_INTEGER, ampere, 8, 8, 16),
    SMMA_S4_SHAPES(MMA_INTEGER, ampere),
    SMMA_B1_SHAPES(ampere),
    MMA(ampere, 8, 8, 4, f64, f64, f64, f64, nvidia_fma),
    MMA_F64_DIRECTED(ampere, 8, 8, 4),
    MMA_SP_USUAL(ampere, ampere_f32, ampere_tf32, ampere_f16, nvidia_integer),
};
SMMA_TABLE(ampere);
