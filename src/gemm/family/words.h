/* Includes the vector operations for the families: those of the instruction set that a kernel names in SMMA_WORDS,
 * or the portable ones. */
#ifndef SMMA_GEMM_FAMILY_WORDS_H
#define SMMA_GEMM_FAMILY_WORDS_H

#include "gemm/kernel.h"

#ifndef SMMA_WORDS
#define SMMA_WORDS "gemm/simd/portable.h"
#endif
#include SMMA_WORDS

/* A name with external linkage; each kernel has its own copy of the object. */
#define SMMA_JOIN_WORDS(words, name) smma_##words##_##name
#define SMMA_JOIN(words, name) SMMA_JOIN_WORDS(words, name)
#define SMMA_OF_KERNEL(name) SMMA_JOIN(WORDS_NAME, name)

/* Unrolls a short loop over rows or vectors, so that its arrays become registers. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Returns the same address. On machines with few registers it makes compilers read memory again instead of retaining
   earlier values. */
static inline const void *read_again(const void *p) {
  if (REGISTERS < 32) __asm__("" : "+r"(p));
  return p;
}

/* Replaces -0 by +0, as T-FDPA does. It must not be called while rounding down. */
static inline vf t_fdpa_positive_zero(vf d) { return vf_add(d, vf_set(0)); }

enum { PANEL = 4 * LANES }; /* columns of a panel: as many as a vector has bytes */

#endif
