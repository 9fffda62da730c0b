/* CDNA 3 (gfx942), with the present model of its arithmetic. */
#include "isa/rows.h"

#define ARCH cdna3
#define FMA cdna3_fma
#define HALF cdna3_half
#define XF32 cdna3_xf32
#define FP8 cdna3_fp8

static const smma_instruction rows[] = {
#include "isa/cdna3.def"
};
SMMA_TABLE(cdna3);
