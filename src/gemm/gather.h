#ifndef SMMA_GEMM_GATHER_H
#define SMMA_GEMM_GATHER_H

#include "gemm/gemm.h"

/* What a panel of `count` elements along K takes: one more, as powers of two compete for the same lines of a cache. */
static inline size_t smma_gathered_depth(size_t count) { return count + 1; }

/* Copies `count` elements along K, from k on, of so many of the caller's lines from `line` on, as far as they are
   there, side by side in panels of so many lines, and returns how they lie then. `out` has room for whole panels. */
smma_view smma_gather(const smma_view *view, size_t line, size_t lines, size_t panel, size_t k, size_t count,
                      void *out);

#endif
