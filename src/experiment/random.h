/* Random numbers as pure functions of seed, stream and index, on Philox (host/philox.h). They use only IEEE
   operations in FP64, so their bits are the same on every machine. */
#ifndef SMMA_EXPERIMENT_RANDOM_H
#define SMMA_EXPERIMENT_RANDOM_H

#include <stdint.h>

uint64_t smma_random_bits(uint64_t seed, uint32_t stream, uint64_t index);

/* Returns a uniform number in [0, 1), a multiple of 2^-53. */
double smma_random_uniform(uint64_t seed, uint32_t stream, uint64_t index);

/* Returns a normal number, N(0, 1). */
double smma_random_normal(uint64_t seed, uint32_t stream, uint64_t index);

/* Returns a number with random sign whose magnitude has a decimal logarithm uniform in [-decades, decades), decades
   at most 100. Accurate to a few ulps, by the project's own polynomials. */
double smma_random_decades(uint64_t seed, uint32_t stream, uint64_t index, double decades);

#endif
