#ifndef SMMA_GEMM_GATHER_H
#define SMMA_GEMM_GATHER_H

#include "gemm/gemm.h"

/* Returns the elements along K that a panel of `count` elements occupies: one more, because addresses that differ by
   a power of two compete for the same cache lines. */
static inline size_t smma_gathered_depth(size_t count) { return count + 1; }

/* Copies `count` elements along K, from k on, of `lines` lines from `line` on into interleaved panels of `panel`
   lines, and returns a view of the copy. Absent elements are not written. `out` has room for whole panels. */
smma_view smma_gather(const smma_view *view, size_t line, size_t lines, size_t panel, size_t k, size_t count,
                      void *out);

#endif
