/* Pseudorandom numbers from SplitMix64, the same on every machine. */
#ifndef SOFTMMA_TESTS_RANDOM_H
#define SOFTMMA_TESTS_RANDOM_H

#include <stdint.h>

static inline uint64_t mixed_bits(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static inline uint64_t random_bits(uint64_t *state) { return mixed_bits(*state += UINT64_C(0x9e3779b97f4a7c15)); }

/* Returns a number below `bound`, which is small: uniform except for a bias below 2^-32 * bound. */
static inline unsigned random_below(uint64_t *state, unsigned bound) {
  return (unsigned)((random_bits(state) >> 32) * bound >> 32);
}

static inline int random_between(uint64_t *state, int least, int greatest) {
  return least + (int)random_below(state, (unsigned)(greatest - least + 1));
}

#endif
