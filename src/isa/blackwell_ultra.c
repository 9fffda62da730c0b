/* Blackwell Ultra: only the instructions for which public comparisons with other GPUs support a model. unmodelled.def
   has the others. */
#include "isa/rows.h"

static const smma_instruction rows[] = {
    TCGEN05(blackwell_ultra, 16, f32, bf16, bf16, b300_bf16),
};
SMMA_TABLE(blackwell_ultra);
