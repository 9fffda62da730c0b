/* Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (Parallel Random Numbers: As Easy as 1,
 * 2, 3, SC 2011): 128 random bits that are a function of counter and key. */
#ifndef SMMA_HOST_PHILOX_H
#define SMMA_HOST_PHILOX_H

#include <stdint.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

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

/* Words that are computed together. */
enum { SMMA_PHILOX_WORDS = 64 };

/* The same of counters that differ in word 2: x.word[2], x.word[2] + 1 and so on; their words one behind the other. */
static inline void smma_philox_in_lanes(smma_philox_block x, uint64_t key, uint32_t out[SMMA_PHILOX_WORDS]) {
  enum { BLOCKS = SMMA_PHILOX_WORDS / 4 };
  uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32), word[4][BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    word[0][i] = x.word[0], word[1][i] = x.word[1];
    word[2][i] = x.word[2] + (uint32_t)i, word[3][i] = x.word[3];
  }
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < BLOCKS; i++) {
      const uint64_t first = (uint64_t)0xd2511f53 * word[0][i], second = (uint64_t)0xcd9e8d57 * word[2][i];
      word[0][i] = (uint32_t)(second >> 32) ^ word[1][i] ^ low, word[1][i] = (uint32_t)second;
      word[2][i] = (uint32_t)(first >> 32) ^ word[3][i] ^ high, word[3][i] = (uint32_t)first;
    }
    low += 0x9e3779b9, high += 0xbb67ae85;
  }
  for (int i = 0; i < SMMA_PHILOX_WORDS; i++) out[i] = word[i % 4][i / 4];
}

#ifdef __x86_64__
/* Words in the lower halves of 64-bit lanes, which are all that the multiplication reads. */
__attribute__((target("avx512f"))) static inline void smma_philox_in_avx512(smma_philox_block x, uint64_t key,
                                                                            uint32_t out[SMMA_PHILOX_WORDS]) {
  enum { VECTORS = SMMA_PHILOX_WORDS / 32, XOR = 0x96 /* of three operands */ };
  const __m512i first = _mm512_set1_epi64(0xd2511f53), second = _mm512_set1_epi64(0xcd9e8d57);
  const __m512i low_step = _mm512_set1_epi64(0x9e3779b9), high_step = _mm512_set1_epi64(0xbb67ae85);
  const __m512i numbers = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i left = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), right = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
  __m512i low = _mm512_set1_epi64((long long)key), high = _mm512_set1_epi64((long long)(key >> 32));
  __m512i word[VECTORS][4];
  for (int v = 0; v < VECTORS; v++) {
    for (int w = 0; w < 4; w++) word[v][w] = _mm512_set1_epi64(x.word[w]);
    word[v][2] = _mm512_add_epi64(word[v][2], _mm512_add_epi64(numbers, _mm512_set1_epi64(8 * v)));
  }
  for (int round = 0; round < 10; round++) {
    for (int v = 0; v < VECTORS; v++) {
      __m512i *y = word[v];
      const __m512i p = _mm512_mul_epu32(first, y[0]), q = _mm512_mul_epu32(second, y[2]);
      y[0] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(q, 32), y[1], low, XOR);
      y[2] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p, 32), y[3], high, XOR);
      y[1] = q, y[3] = p;
    }
    low = _mm512_add_epi64(low, low_step), high = _mm512_add_epi64(high, high_step);
  }
  for (int v = 0; v < VECTORS; v++) {
    const __m512i front = _mm512_mask_shuffle_epi32(word[v][0], 0xaaaa, word[v][1], _MM_PERM_CCAA);
    const __m512i back = _mm512_mask_shuffle_epi32(word[v][2], 0xaaaa, word[v][3], _MM_PERM_CCAA);
    _mm512_storeu_si512(out + 32 * v, _mm512_permutex2var_epi64(front, left, back));
    _mm512_storeu_si512(out + 32 * v + 16, _mm512_permutex2var_epi64(front, right, back));
  }
}
#endif

/* On the widest vectors of this CPU. */
static inline void smma_philox_blocks(smma_philox_block x, uint64_t key, uint32_t out[SMMA_PHILOX_WORDS]) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) {
    smma_philox_in_avx512(x, key, out);
    return;
  }
#endif
  smma_philox_in_lanes(x, key, out);
}

#endif
