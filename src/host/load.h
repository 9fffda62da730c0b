/* Encodings in memory, at any address: each format uses the smallest unsigned container. */
#ifndef SMMA_HOST_LOAD_H
#define SMMA_HOST_LOAD_H

#include <stddef.h>
#include <string.h>

#include "core/format.h"

/* Returns the number of bytes of the format's container: 1, 2, 4 or 8. */
static inline size_t smma_container_bytes(smma_encoding f) {
  return f.bits <= 8 ? 1 : f.bits <= 16 ? 2 : f.bits <= 32 ? 4 : 8;
}

static inline size_t smma_bytes_of(smma_format format) { return smma_container_bytes(smma_encoding_of(format)); }

/* Returns an element of an array of containers. Callers' arrays may have any element type and alignment, so elements
   are read and written as bytes. */
static inline uint64_t smma_load(size_t container_bytes, const void *array, size_t index) {
  const unsigned char *at = (const unsigned char *)array + container_bytes * index;
  uint16_t two;
  uint32_t four;
  uint64_t eight;
  switch (container_bytes) {
    case 1: return *at;
    case 2: return memcpy(&two, at, 2), two;
    case 4: return memcpy(&four, at, 4), four;
    default: return memcpy(&eight, at, 8), eight;
  }
}

static inline void smma_store(size_t container_bytes, void *array, size_t index, uint64_t encoding) {
  unsigned char *at = (unsigned char *)array + container_bytes * index;
  uint16_t two = (uint16_t)encoding;
  uint32_t four = (uint32_t)encoding;
  switch (container_bytes) {
    case 1: *at = (unsigned char)encoding; break;
    case 2: memcpy(at, &two, 2); break;
    case 4: memcpy(at, &four, 4); break;
    default: memcpy(at, &encoding, 8); break;
  }
}

/* Decodes `count` elements from index `first` on; `stride` is the distance from one to the next, in elements. */
static inline void smma_decode_array(smma_encoding f, const void *array, size_t first, size_t stride, size_t count,
                                     smma_number *out) {
  size_t bytes = smma_container_bytes(f);
  for (size_t i = 0; i < count; i++) out[i] = smma_decode(f, smma_load(bytes, array, first + i * stride));
}

#endif
