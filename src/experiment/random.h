/* Random numbers: pure functions of seed, stream and index, on Philox (host/philox.h). They use IEEE operations in FP64
   alone, so that their bits are the same on every machine. */
#ifndef SMMA_EXPERIMENT_RANDOM_H
#define SMMA_EXPERIMENT_RANDOM_H

#include <stdint.h>

uint64_t smma_random_bits(uint64_t seed, uint32_t stream, uint64_t index);

/* In [0, 1): a multiple of 2^-53. */
double smma_random_uniform(uint64_t seed, uint32_t stream, uint64_t index);

/* N(0, 1). */
double smma_random_normal(uint64_t seed, uint32_t stream, uint64_t index);

/* Of random sign, the magnitude's decimal logarithm uniform in [-decades, decades), decades at most 100: within a few
   ulps, from polynomials of our own. */
double smma_random_decades(uint64_t seed, uint32_t stream, uint64_t index, double decades);

#endif
