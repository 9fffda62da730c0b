/* Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (Parallel Random Numbers: As Easy as
 * 1, 2, 3, SC 2011): 128 random bits as a function of counter and key. */
#ifndef SMMA_CORE_PHILOX_H
#define SMMA_CORE_PHILOX_H

#include "dialect.h"

enum { SMMA_PHILOX_ROUNDS = 10 };

typedef struct {
  uint32_t word[4];
} smma_philox_block;

SMMA_CORE smma_philox_block smma_philox(smma_philox_block x, uint64_t key) {
  uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
  int round;
  for (round = 0; round < SMMA_PHILOX_ROUNDS; round++) {
    uint64_t first = (uint64_t)0xd2511f53 * x.word[0], second = (uint64_t)0xcd9e8d57 * x.word[2];
    x.word[0] = (uint32_t)(second >> 32) ^ x.word[1] ^ low;
    x.word[1] = (uint32_t)second;
    x.word[2] = (uint32_t)(first >> 32) ^ x.word[3] ^ high;
    x.word[3] = (uint32_t)first;
    low += 0x9e3779b9;
    high += 0xbb67ae85;
  }
  return x;
}

#endif
