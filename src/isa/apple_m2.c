/* The AMX instructions of Apple's M2 and later, which have BF16. */
#include "isa/rows.h"

#define ARCH apple_m2

static const smma_instruction rows[] = {
#include "isa/apple_amx.def"
    APPLE(ARCH, "matfp.bf16", NULL, 32, bf16, bf16, bf16),
    APPLE(ARCH, "matfp.bf16.f32", NULL, 32, f32, bf16, bf16),
};
SMMA_TABLE(apple_m2);
