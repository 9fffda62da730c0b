/* The AMX instructions of Apple's M1, which has no BF16. */
#include "isa/rows.h"

#define ARCH apple_m1

static const smma_instruction rows[] = {
#include "isa/apple_amx.def"
};
SMMA_TABLE(apple_m1);
