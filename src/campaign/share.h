/* A share of numbered rows: of their parts every so many'th, so that shares are alike in size and in what they hold. */
#ifndef SMMA_CAMPAIGN_SHARE_H
#define SMMA_CAMPAIGN_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* Parts index, index + count, index + 2 count, ... of `part` rows each; index < count, part > 0. */
typedef struct {
  uint64_t index, count, part;
} smma_share;

/* How many of the first `rows` rows of all are in the share. */
static inline uint64_t smma_share_rows(const smma_share *s, uint64_t rows) {
  const uint64_t whole = rows / s->part, parts = whole > s->index ? (whole - s->index - 1) / s->count + 1 : 0;
  return parts * s->part + (whole % s->count == s->index ? rows % s->part : 0);
}

/* Its row number `n`, among all. */
static inline uint64_t smma_share_row(const smma_share *s, uint64_t n) {
  return (n / s->part * s->count + s->index) * s->part + n % s->part;
}

static inline bool smma_share_has(const smma_share *s, uint64_t row) { return row / s->part % s->count == s->index; }

#endif
