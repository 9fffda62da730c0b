#ifndef SMMA_GEMM_GATHER_H
#define SMMA_GEMM_GATHER_H

#include "gemm/gemm.h"

/* Returns the number of elements along K for which a panel has room if it holds `count` of them. It is count + 1,
   because panels that are a power of two apart in memory would compete for the same cache lines. */
static inline size_t smma_gathered_depth(size_t count) { return count + 1; }

/* Copies `count` elements along K, from index k on, of `lines` lines from `line` on into panels of `panel` lines. In a
   panel, elements with the same k are contiguous. Elements outside the matrix are not written. `out` has room for whole
   panels. Returns a view of the copy. */
smma_view smma_gather(const smma_view *view, size_t line, size_t lines, size_t panel, size_t k, size_t count,
                      void *out);

#endif
