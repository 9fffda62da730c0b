/* Philox (core/philox.h): many blocks of one key at once, in SIMD vectors. */
#ifndef SMMA_HOST_PHILOX_H
#define SMMA_HOST_PHILOX_H

#include <stddef.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "core/philox.h"
#include "host/cpu.h"

/* The functions below compute a number of blocks that is a multiple of this. */
enum { SMMA_PHILOX_STEP = 8 };

/* The two halves of the key of each round. */
typedef struct {
  uint32_t low[SMMA_PHILOX_ROUNDS], high[SMMA_PHILOX_ROUNDS];
} smma_philox_keys;

static inline smma_philox_keys smma_philox_keys_of(uint64_t key) {
  smma_philox_keys k;
  for (uint32_t i = 0; i < SMMA_PHILOX_ROUNDS; i++) {
    k.low[i] = (uint32_t)key + i * 0x9e3779b9;
    k.high[i] = (uint32_t)(key >> 32) + i * 0xbb67ae85;
  }
  return k;
}

/* Computes smma_philox of `blocks` counters that differ only in word 2: x.word[2], x.word[2] + 1 and so on. If `sums`
   is NULL, writes the blocks' words to `words`, one block after another; otherwise writes the sum of each block's four
   words to `sums`. */
typedef void smma_philox_function(const smma_philox_keys *keys, smma_philox_block x, size_t blocks, uint32_t *words,
                                  uint64_t *sums);

static inline void smma_philox_portable(const smma_philox_keys *keys, smma_philox_block x, size_t blocks,
                                        uint32_t *words, uint64_t *sums) {
  for (size_t done = 0; done < blocks; done += SMMA_PHILOX_STEP) {
    uint32_t word[4][SMMA_PHILOX_STEP];
    for (int i = 0; i < SMMA_PHILOX_STEP; i++) {
      word[0][i] = x.word[0], word[1][i] = x.word[1];
      word[2][i] = x.word[2]++, word[3][i] = x.word[3];
    }
    for (int round = 0; round < SMMA_PHILOX_ROUNDS; round++)
      for (int i = 0; i < SMMA_PHILOX_STEP; i++) {
        const uint64_t first = (uint64_t)0xd2511f53 * word[0][i], second = (uint64_t)0xcd9e8d57 * word[2][i];
        word[0][i] = (uint32_t)(second >> 32) ^ word[1][i] ^ keys->low[round], word[1][i] = (uint32_t)second;
        word[2][i] = (uint32_t)(first >> 32) ^ word[3][i] ^ keys->high[round], word[3][i] = (uint32_t)first;
      }
    for (int i = 0; i < SMMA_PHILOX_STEP; i++) {
      if (sums)
        sums[done + i] = (uint64_t)word[0][i] + word[1][i] + word[2][i] + word[3][i];
      else
        for (int w = 0; w < 4; w++) words[4 * (done + i) + w] = word[w][i];
    }
  }
}

#ifdef __x86_64__
/* Both vector versions hold the words of a block in the lower halves of 64-bit lanes, because the multiplication reads
   only these. The last round leaves words 0 and 1 in the two halves of one lane, and words 2 and 3 in those of another.
 */

/* Number of SIMD vectors that are computed at once; more would not fit in registers. */
enum { SMMA_PHILOX_VECTORS = 5 };

/* Computes `vectors` vectors of eight blocks each; `vectors` is a compile-time constant. */
__attribute__((target("avx512f"), always_inline)) static inline void smma_philox_eights(const smma_philox_keys *keys,
                                                                                        smma_philox_block x,
                                                                                        int vectors, uint32_t *words,
                                                                                        uint64_t *sums) {
  enum {
    XOR = 0x96 /* truth table of the XOR of three operands */,
    EVEN_LANES = 0x5555,
    LAST = SMMA_PHILOX_ROUNDS - 1
  };
  const __m512i first = _mm512_set1_epi64(0xd2511f53), second = _mm512_set1_epi64(0xcd9e8d57);
  const __m512i first_half = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0),
                second_half = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
  const __m512i numbers = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  __m512i word[SMMA_PHILOX_VECTORS][4];
#pragma GCC unroll 5
  for (int v = 0; v < vectors; v++) {
    for (int w = 0; w < 4; w++) word[v][w] = _mm512_set1_epi64(x.word[w]);
    word[v][2] = _mm512_add_epi32(_mm512_set1_epi64(x.word[2] + 8 * (uint32_t)v), numbers);
  }
  for (int round = 0; round < LAST; round++) {
    const __m512i low = _mm512_set1_epi32((int)keys->low[round]), high = _mm512_set1_epi32((int)keys->high[round]);
#pragma GCC unroll 5
    for (int v = 0; v < vectors; v++) {
      __m512i *y = word[v];
      const __m512i p = _mm512_mul_epu32(first, y[0]), q = _mm512_mul_epu32(second, y[2]);
      y[0] = _mm512_ternarylogic_epi32(_mm512_srli_epi64(q, 32), y[1], low, XOR);
      y[2] = _mm512_ternarylogic_epi32(_mm512_srli_epi64(p, 32), y[3], high, XOR);
      y[1] = q, y[3] = p;
    }
  }
  const __m512i low = _mm512_set1_epi32((int)keys->low[LAST]), high = _mm512_set1_epi32((int)keys->high[LAST]);
#pragma GCC unroll 5
  for (int v = 0; v < vectors; v++) {
    const __m512i p = _mm512_mul_epu32(first, word[v][0]), q = _mm512_mul_epu32(second, word[v][2]);
    const __m512i words_01 = _mm512_mask_ternarylogic_epi32(_mm512_ror_epi64(q, 32), EVEN_LANES, word[v][1], low, XOR);
    const __m512i words_23 = _mm512_mask_ternarylogic_epi32(_mm512_ror_epi64(p, 32), EVEN_LANES, word[v][3], high, XOR);
    if (sums) {
      const __m512i lower = _mm512_set1_epi64(0xffffffff);
      const __m512i sum_01 = _mm512_add_epi64(_mm512_and_si512(words_01, lower), _mm512_srli_epi64(words_01, 32));
      const __m512i sum_23 = _mm512_add_epi64(_mm512_and_si512(words_23, lower), _mm512_srli_epi64(words_23, 32));
      _mm512_storeu_si512(sums + 8 * v, _mm512_add_epi64(sum_01, sum_23));
    } else {
      _mm512_storeu_si512(words + 32 * v, _mm512_permutex2var_epi64(words_01, first_half, words_23));
      _mm512_storeu_si512(words + 32 * v + 16, _mm512_permutex2var_epi64(words_01, second_half, words_23));
    }
  }
}

__attribute__((target("avx512f"))) static inline void smma_philox_avx512(const smma_philox_keys *keys,
                                                                         smma_philox_block x, size_t blocks,
                                                                         uint32_t *words, uint64_t *sums) {
  while (blocks > 0) {
    /* Divides the remaining vectors into parts of nearly equal size, because a part of few vectors cannot hide the
       latency of a round. */
    const size_t remaining = blocks / 8, parts = (remaining + SMMA_PHILOX_VECTORS - 1) / SMMA_PHILOX_VECTORS,
                 count = (remaining + parts - 1) / parts;
    switch (count) {
      case 1: smma_philox_eights(keys, x, 1, words, sums); break;
      case 2: smma_philox_eights(keys, x, 2, words, sums); break;
      case 3: smma_philox_eights(keys, x, 3, words, sums); break;
      case 4: smma_philox_eights(keys, x, 4, words, sums); break;
      default: smma_philox_eights(keys, x, 5, words, sums); break;
    }
    blocks -= 8 * count, x.word[2] += 8 * (uint32_t)count;
    if (sums)
      sums += 8 * count;
    else
      words += 32 * count;
  }
}

/* Computes all blocks, SMMA_PHILOX_STEP at a time, in vectors of four blocks each. */
__attribute__((target("avx2"))) static inline void smma_philox_avx2(const smma_philox_keys *keys, smma_philox_block x,
                                                                    size_t blocks, uint32_t *words, uint64_t *sums) {
  enum { VECTORS = SMMA_PHILOX_STEP / 4, LAST = SMMA_PHILOX_ROUNDS - 1 };
  const __m256i first = _mm256_set1_epi64x(0xd2511f53), second = _mm256_set1_epi64x(0xcd9e8d57);
  const __m256i numbers = _mm256_set_epi64x(3, 2, 1, 0), lower = _mm256_set1_epi64x(0xffffffff);
  for (size_t done = 0; done < blocks; done += SMMA_PHILOX_STEP, x.word[2] += SMMA_PHILOX_STEP) {
    __m256i word[VECTORS][4];
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; v++) {
      for (int w = 0; w < 4; w++) word[v][w] = _mm256_set1_epi64x(x.word[w]);
      word[v][2] = _mm256_add_epi32(_mm256_set1_epi64x(x.word[2] + 4 * (uint32_t)v), numbers);
    }
    for (int round = 0; round < LAST; round++) {
      const __m256i low = _mm256_set1_epi32((int)keys->low[round]), high = _mm256_set1_epi32((int)keys->high[round]);
#pragma GCC unroll 2
      for (int v = 0; v < VECTORS; v++) {
        __m256i *y = word[v];
        const __m256i p = _mm256_mul_epu32(first, y[0]), q = _mm256_mul_epu32(second, y[2]);
        y[0] = _mm256_xor_si256(_mm256_srli_epi64(q, 32), _mm256_xor_si256(y[1], low));
        y[2] = _mm256_xor_si256(_mm256_srli_epi64(p, 32), _mm256_xor_si256(y[3], high));
        y[1] = q, y[3] = p;
      }
    }
    const __m256i low = _mm256_set1_epi64x(keys->low[LAST]), high = _mm256_set1_epi64x(keys->high[LAST]);
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; v++) {
      const __m256i p = _mm256_mul_epu32(first, word[v][0]), q = _mm256_mul_epu32(second, word[v][2]);
      const __m256i word_1 = _mm256_and_si256(word[v][1], lower), word_3 = _mm256_and_si256(word[v][3], lower);
      const __m256i words_01 = _mm256_xor_si256(_mm256_shuffle_epi32(q, 0xb1), _mm256_xor_si256(word_1, low));
      const __m256i words_23 = _mm256_xor_si256(_mm256_shuffle_epi32(p, 0xb1), _mm256_xor_si256(word_3, high));
      if (sums) {
        const __m256i sum_01 = _mm256_add_epi64(_mm256_and_si256(words_01, lower), _mm256_srli_epi64(words_01, 32));
        const __m256i sum_23 = _mm256_add_epi64(_mm256_and_si256(words_23, lower), _mm256_srli_epi64(words_23, 32));
        _mm256_storeu_si256((__m256i *)(sums + done + 4 * v), _mm256_add_epi64(sum_01, sum_23));
      } else {
        const __m256i even = _mm256_unpacklo_epi64(words_01, words_23), odd = _mm256_unpackhi_epi64(words_01, words_23);
        __m256i *to = (__m256i *)(words + 4 * done + 16 * v);
        _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
        _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
      }
    }
  }
}
#endif

/* Returns the function for the widest vectors of this CPU. */
static inline smma_philox_function *smma_philox_function_for_cpu(void) {
#ifdef __x86_64__
  if (smma_cpu_has(SMMA_CPU_AVX512)) return smma_philox_avx512;
  if (smma_cpu_has(SMMA_CPU_AVX2)) return smma_philox_avx2;
#endif
  return smma_philox_portable;
}

#endif
