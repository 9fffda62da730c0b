/* Turing (sm_75): mma.sync. */
#include "isa/rows.h"

static const smma_instruction rows[] = {
    MMA(turing, 16, 8, 8, f32, f16, f16, f32, turing_f32),
    MMA(turing, 16, 8, 8, f16, f16, f16, f16, turing_f16),
    MMA(turing, 8, 8, 4, f32, f16, f16, f32, turing_k4_f32),
    MMA(turing, 8, 8, 4, f32, f16, f16, f16, turing_k4_f32),
    MMA(turing, 8, 8, 4, f16, f16, f16, f16, turing_k4_f16),
    SMMA_S8_PAIRS(MMA_INTEGER, turing, 8, 8, 16),
    SMMA_S4_PAIRS(MMA_INTEGER, turing, 8, 8, 32),
    MMA_B1(xor, turing, 8, 8, 128),
};
SMMA_TABLE(turing);
