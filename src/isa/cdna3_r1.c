/* CDNA 3 with the first published model of its arithmetic (revision 1), for comparisons with that publication. */
#include "isa/rows.h"

#define ARCH cdna3_r1
#define FMA cdna3_fma
#define HALF cdna3_r1_half
#define XF32 cdna3_r1_xf32
#define FP8 cdna3_r1_fp8

static const smma_instruction rows[] = {
#include "isa/cdna3.def"
};
SMMA_TABLE(cdna3_r1);
