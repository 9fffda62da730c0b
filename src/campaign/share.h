/* A share of numbered vectors. The vectors are divided into parts, and a share has every count-th part. So all shares
   have similar size and content. */
#ifndef SMMA_CAMPAIGN_SHARE_H
#define SMMA_CAMPAIGN_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/* The share consists of parts index, index + count, index + 2 count, ...; each part has `part` vectors. index < count,
   part > 0. */
typedef struct {
  uint64_t index, count, part;
} smma_share;

/* Returns how many of the first `rows` vectors belong to the share. */
static inline uint64_t smma_share_rows(const smma_share *s, uint64_t rows) {
  const uint64_t whole = rows / s->part, parts = whole > s->index ? (whole - s->index - 1) / s->count + 1 : 0;
  return parts * s->part + (whole % s->count == s->index ? rows % s->part : 0);
}

/* Returns the number, among all vectors, of the share's vector `n`. */
static inline uint64_t smma_share_row(const smma_share *s, uint64_t n) {
  return (n / s->part * s->count + s->index) * s->part + n % s->part;
}

static inline bool smma_share_has(const smma_share *s, uint64_t row) { return row / s->part % s->count == s->index; }

#endif
