/* The vector instruction sets of this CPU. The environment variable SOFTMMA_CPU (portable, avx2 or avx512; on Arm
   portable or neon) hides all sets above the named one, so that tests can emulate a smaller CPU. It is read once, at
   the first call. */
#ifndef SMMA_HOST_CPU_H
#define SMMA_HOST_CPU_H

#include <stdbool.h>

/* The instruction sets in ascending order: on one architecture each set includes the previous ones. AVX2 means AVX2,
   FMA and F16C; AVX-512 means F, BW, DQ and VL. */
typedef enum { SMMA_CPU_PORTABLE, SMMA_CPU_SSE42, SMMA_CPU_AVX2, SMMA_CPU_NEON, SMMA_CPU_AVX512 } smma_cpu_set;

/* Reports whether this CPU has the instruction set, the operating system saves its registers, and SOFTMMA_CPU does not
   hide it. */
bool smma_cpu_has(smma_cpu_set set);

/* Reports whether SOFTMMA_CPU hides the set, whether or not the CPU has it. */
bool smma_cpu_hides(smma_cpu_set set);

/* Returns an error message if SOFTMMA_CPU has an invalid value, otherwise NULL. An invalid value hides everything but
   portable code. */
const char *smma_cpu_complaint(void);

#endif
