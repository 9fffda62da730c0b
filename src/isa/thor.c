/* Thor: only the instructions for which public comparisons with other GPUs support a model. unmodelled.def has the
   others. */
#include "isa/rows.h"

static const smma_instruction rows[] = {
    TCGEN05(thor, 16, f32, bf16, bf16, thor_bf16),
    TCGEN05_SCALED(thor, 32, 32, f32, e4m3, e4m3, ue8m0, thor_mx),
};
SMMA_TABLE(thor);
