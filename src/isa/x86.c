#include "isa/rows.h"

/* Each 32-bit lane is a dot product of its own: M = N = 1. */
static const smma_instruction rows[] = {
    SMMA_ROW(x86, VECTOR, "vdpbf16ps", NULL, 1, 1, 2, f32, bf16, bf16, f32, none, 0, x86_bf16),
};
SMMA_TABLE(x86);
