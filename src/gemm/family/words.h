/* Includes the vector operations for the families: those of the instruction set whose header the build names in
   SMMA_WORDS, otherwise the portable ones. */
#ifndef SMMA_GEMM_FAMILY_WORDS_H
#define SMMA_GEMM_FAMILY_WORDS_H

#include "gemm/kernel.h"

#ifndef SMMA_WORDS
#define SMMA_WORDS "gemm/simd/portable.h"
#endif
#include SMMA_WORDS

/* SMMA_OF_KERNEL(name) is the name of a function or object of which each kernel has its own copy. */
#define SMMA_JOIN_WORDS(words, name) smma_##words##_##name
#define SMMA_JOIN(words, name) SMMA_JOIN_WORDS(words, name)
#define SMMA_OF_KERNEL(name) SMMA_JOIN(WORDS_NAME, name)

/* Unrolls a short loop over rows or vectors, so that its arrays become registers. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Returns the same address. On machines with few registers, this makes compilers read the memory again instead of
   keeping values in registers. */
static inline const void *read_again(const void *p) {
  if (REGISTERS < 32) __asm__("" : "+r"(p));
  return p;
}

/* Returns the same value. On machines with few registers, this makes compilers keep the order of operations: the same
   operation for several vectors, then the next one. This is faster on Zen 3, although it reorders operations itself. */
static inline vi in_order(vi x) { return REGISTERS < 32 ? vi_keep(x) : x; }

/* Replaces -0 by +0, as T-FDPA does. It must not be called while rounding down. */
static inline vf t_fdpa_positive_zero(vf d) { return vf_add(d, vf_set(0)); }

/* Number of columns of a panel: as many as a vector has bytes. */
enum { PANEL = 4 * LANES };

#endif
