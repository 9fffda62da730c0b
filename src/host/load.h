/* Encodings in memory: the smallest unsigned container of each format. */
#ifndef SMMA_HOST_LOAD_H
#define SMMA_HOST_LOAD_H

#include <stddef.h>

#include "core/format.h"

/* 1, 2, 4 or 8. */
static inline size_t smma_container_bytes(smma_encoding f) {
  return f.bits <= 8 ? 1 : f.bits <= 16 ? 2 : f.bits <= 32 ? 4 : 8;
}

static inline uint64_t smma_load(size_t container_bytes, const void *array, size_t index) {
  switch (container_bytes) {
    case 1: return ((const uint8_t *)array)[index];
    case 2: return ((const uint16_t *)array)[index];
    case 4: return ((const uint32_t *)array)[index];
    default: return ((const uint64_t *)array)[index];
  }
}

static inline void smma_store(size_t container_bytes, void *array, size_t index, uint64_t encoding) {
  switch (container_bytes) {
    case 1: ((uint8_t *)array)[index] = (uint8_t)encoding; break;
    case 2: ((uint16_t *)array)[index] = (uint16_t)encoding; break;
    case 4: ((uint32_t *)array)[index] = (uint32_t)encoding; break;
    default: ((uint64_t *)array)[index] = encoding; break;
  }
}

/* Decodes `count` elements that lie `stride` apart. */
static inline void smma_decode_array(smma_encoding f, const void *array, size_t first, size_t stride, size_t count,
                                     smma_number *out) {
  size_t bytes = smma_container_bytes(f);
  for (size_t i = 0; i < count; i++) out[i] = smma_decode(f, smma_load(bytes, array, first + i * stride));
}

#endif
