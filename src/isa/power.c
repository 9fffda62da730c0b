/* The matrix-multiply assist of Power ISA 3.1: an accumulator has 4 rows of 128 bits. FPSCR.RN rounds to nearest. */
#include "isa/rows.h"

#define POWER(name, n, k, d, a, b, rule) SMMA_ROW(power, POWER, name, NULL, 4, n, k, d, a, b, d, none, 0, power_##rule)

static const smma_instruction rows[] = {
    POWER("xvf16ger2pp", 4, 2, f32, f16, f16, f16),  POWER("xvbf16ger2pp", 4, 2, f32, bf16, bf16, bf16),
    POWER("xvf32gerpp", 4, 1, f32, f32, f32, fma),   POWER("xvf64gerpp", 2, 1, f64, f64, f64, fma),
    POWER("xvi8ger4pp", 4, 4, s32, s8, u8, integer), POWER("xvi8ger4spp", 4, 4, s32, s8, u8, integer_saturates),
    POWER("xvi4ger8pp", 4, 8, s32, s4, s4, integer),
};
SMMA_TABLE(power);
