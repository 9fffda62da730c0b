/* Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (Parallel Random Numbers: As Easy as 1,
 * 2, 3, SC 2011): 128 random bits that are a function of counter and key. */
#ifndef SMMA_HOST_PHILOX_H
#define SMMA_HOST_PHILOX_H

#include <stdint.h>
#include <string.h>

typedef struct {
  uint32_t word[4];
} smma_philox_block;

static inline smma_philox_block smma_philox(smma_philox_block x, uint64_t key) {
  uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
  for (int round = 0; round < 10; round++) {
    const uint64_t first = (uint64_t)0xd2511f53 * x.word[0], second = (uint64_t)0xcd9e8d57 * x.word[2];
    x = (smma_philox_block){{(uint32_t)(second >> 32) ^ x.word[1] ^ low, (uint32_t)second,
                             (uint32_t)(first >> 32) ^ x.word[3] ^ high, (uint32_t)first}};
    low += 0x9e3779b9, high += 0xbb67ae85;
  }
  return x;
}

/* Blocks that are computed together. */
enum { SMMA_PHILOX_BLOCKS = 16 };

/* The same of counters that differ in word 2: x.word[2], x.word[2] + 1 and so on; word w of block i is out[w][i]. */
__attribute__((always_inline)) static inline void smma_philox_in_lanes(smma_philox_block x, uint64_t key,
                                                                       uint32_t out[4][SMMA_PHILOX_BLOCKS]) {
  uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);
  for (int i = 0; i < SMMA_PHILOX_BLOCKS; i++) {
    out[0][i] = x.word[0], out[1][i] = x.word[1];
    out[2][i] = x.word[2] + (uint32_t)i, out[3][i] = x.word[3];
  }
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < SMMA_PHILOX_BLOCKS; i++) {
      const uint64_t first = (uint64_t)0xd2511f53 * out[0][i], second = (uint64_t)0xcd9e8d57 * out[2][i];
      out[0][i] = (uint32_t)(second >> 32) ^ out[1][i] ^ low, out[1][i] = (uint32_t)second;
      out[2][i] = (uint32_t)(first >> 32) ^ out[3][i] ^ high, out[3][i] = (uint32_t)first;
    }
    low += 0x9e3779b9, high += 0xbb67ae85;
  }
}

#ifdef __x86_64__
__attribute__((target("avx512f,avx512dq"))) static inline void smma_philox_in_avx512(
    smma_philox_block x, uint64_t key, uint32_t out[4][SMMA_PHILOX_BLOCKS]) {
  smma_philox_in_lanes(x, key, out);
}
#endif

/* On the widest vectors of this CPU. */
static inline void smma_philox_blocks(smma_philox_block x, uint64_t key, uint32_t out[4][SMMA_PHILOX_BLOCKS]) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
    smma_philox_in_avx512(x, key, out);
    return;
  }
#endif
  smma_philox_in_lanes(x, key, out);
}

#endif
