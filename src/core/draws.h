/* Generates test vectors ("rows") from random numbers that are drawn one at a time, as the core's kernels do.
   generate.inc describes the functions. */
#ifndef SMMA_CORE_DRAWS_H
#define SMMA_CORE_DRAWS_H

#include "generated.h"
#include "philox.h"

typedef struct {
  uint64_t seed;
  smma_philox_block counter,
      block; /* counter: of the next block; block: the current block, which has `left` unused words */
  int left;
} smma_draws;

SMMA_CORE smma_draws smma_draws_of(uint64_t seed, uint64_t row) {
  smma_draws s;
  s.seed = seed;
  s.counter.word[0] = (uint32_t)row;
  s.counter.word[1] = (uint32_t)(row >> 32);
  s.counter.word[2] = s.counter.word[3] = 0;
  s.block = s.counter;
  s.left = 0;
  return s;
}

SMMA_CORE uint32_t smma_draw(smma_draws *s) {
  if (s->left == 0) {
    s->block = smma_philox(s->counter, s->seed);
    s->counter.word[2]++;
    s->left = 4;
  }
  return s->block.word[4 - s->left--];
}

SMMA_CORE void smma_expect(smma_draws *s, int count) { (void)s, (void)count; }

SMMA_CORE void smma_expect_normals(smma_draws *s, int count) { (void)s, (void)count; }

SMMA_CORE void smma_draw_normals(smma_draws *s, int count, int64_t *sum) {
  int i, word;
  for (i = 0; i < count; i++) {
    sum[i] = -smma_normal_mean();
    for (word = 0; word < SMMA_NORMAL_WORDS; word++) sum[i] += smma_draw(s);
  }
}

SMMA_CORE void smma_encode_normals(smma_encoding f, int exponent, int count, const int64_t *sum, uint64_t *out) {
  int i;
  for (i = 0; i < count; i++) out[i] = smma_encode_normal(f, exponent, sum[i]);
}

#include "generate.inc"

#endif
