/* Volta (sm_70): mma.sync. */
#include "isa/rows.h"

static const smma_instruction rows[] = {
    MMA(volta, 8, 8, 4, f32, f16, f16, f32, volta_f32),
    MMA(volta, 8, 8, 4, f32, f16, f16, f16, volta_f32),
    MMA(volta, 8, 8, 4, f16, f16, f16, f16, volta_f16),
};
SMMA_TABLE(volta);
