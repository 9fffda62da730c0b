/* Pseudorandom numbers, the same on every machine: SplitMix64. */
#ifndef SMMA_HOST_DRAW_H
#define SMMA_HOST_DRAW_H

#include <stdint.h>

/* Returns a hash of x: all bits mixed. */
static inline uint64_t smma_mix(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* Returns the next number of a sequence. Do not draw twice in the arguments of one call: the compiler chooses their
   order. */
static inline uint64_t smma_draw(uint64_t *state) { return smma_mix(*state += UINT64_C(0x9e3779b97f4a7c15)); }

/* Returns a number from 0 to bound - 1. */
static inline int smma_draw_below(uint64_t *state, int bound) { return (int)(smma_draw(state) % (unsigned)bound); }

#endif
