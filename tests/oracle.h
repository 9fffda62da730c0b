/* The oracle: computes one dot-product-add from raw encodings, exactly, with multiple-precision integers. It shares
   only the description of an operation with the core; it decodes, sums and rounds by its own code. */
#ifndef SOFTMMA_TESTS_ORACLE_H
#define SOFTMMA_TESTS_ORACLE_H

#include "core/rule.h"

/* Returns d for o->k elements of a and b, c, and o->k / o->scale_block scale factors (unused without scale factors).
   Contract: 1 <= o->k <= SMMA_MAXIMUM_K; if it exceeds the block, it is a multiple of the block. Not thread-safe. */
uint64_t oracle_dot_add(const smma_operation *o, const uint64_t *a, const uint64_t *b, uint64_t c,
                        const uint64_t *scale_a, const uint64_t *scale_b);

/* Reports whether `encoding` is a NaN of the format, by the oracle's own table. */
bool oracle_is_nan(smma_format format, uint64_t encoding);

#endif
