/* The encodings of C's float and double, which are those of SMMA_F32 and SMMA_F64. */
#ifndef SMMA_HOST_BITS_H
#define SMMA_HOST_BITS_H

#include <string.h>

#include "core/format.h"

static inline uint32_t smma_bits_of_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float smma_f32_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint64_t smma_bits_of_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double smma_f64_of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline smma_number smma_number_of_f64(double x) {
  return smma_decode(smma_encoding_of(SMMA_F64), smma_bits_of_f64(x));
}

#endif
