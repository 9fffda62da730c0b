/* The oracle: one dot-product-add from raw encodings, computed exactly with multiple-precision integers. It shares
   with the core the description of an operation and nothing else: it decodes, sums and rounds by its own code. */
#ifndef SOFTMMA_TESTS_ORACLE_H
#define SOFTMMA_TESTS_ORACLE_H

#include "core/rule.h"

/* d for o->k elements of a and b, c, and o->k / o->scale_block scale factors (unused without scales). Contract:
   1 <= o->k <= SMMA_MAXIMUM_K, a multiple of the block where it is greater. Not for several threads at once. */
uint64_t oracle_dot_add(const smma_operation *o, const uint64_t *a, const uint64_t *b, uint64_t c,
                        const uint64_t *scale_a, const uint64_t *scale_b);

/* Whether `encoding` is a NaN of the format, by the oracle's own table. */
bool oracle_is_nan(smma_format format, uint64_t encoding);

#endif
