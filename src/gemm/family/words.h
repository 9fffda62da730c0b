/* What every family is written on: the words of the instruction set that a kernel names in SMMA_WORDS, or of any
 * machine.
 */
#ifndef SMMA_GEMM_FAMILY_WORDS_H
#define SMMA_GEMM_FAMILY_WORDS_H

#include "gemm/kernel.h"

#ifndef SMMA_WORDS
#define SMMA_WORDS "gemm/simd/portable.h"
#endif
#include SMMA_WORDS

/* A name that other files see, of which every kernel has its own. */
#define SMMA_JOIN_WORDS(words, name) smma_##words##_##name
#define SMMA_JOIN(words, name) SMMA_JOIN_WORDS(words, name)
#define SMMA_OF_KERNEL(name) SMMA_JOIN(WORDS_NAME, name)

/* In front of a short loop over rows or vectors, whose arrays are registers. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* The same address. Where registers are few, compilers are not to know what was read there, but to read it again. */
static inline const void *read_again(const void *p) {
  if (REGISTERS < 32) __asm__("" : "+r"(p));
  return p;
}

/* d with the sign of T-FDPA's zero, which is +0. Called while rounding is not down. */
static inline vf t_fdpa_positive_zero(vf d) { return vf_add(d, vf_set(0)); }

enum { PANEL = 4 * LANES }; /* columns of a panel: as many as there are bytes in a vector */

#endif
