/* The Hadamard transform of Transformer Engine's NVFP4 recipe: blocks of 16 numbers, computed in binary64 and rounded
   once. */
#include <math.h>
#include <stdint.h>

#include "host/bits.h"
#include "numerics/operand.h"

enum { CHUNK = 1024 };

/* Transforms one block of 16 numbers. */
static void transform(double z[16]) {
  for (size_t half = 8; half; half /= 2)
    for (size_t j = 0; j < 16; j++)
      if (!(j & half)) {
        const double sum = z[j] + z[j + half], difference = z[j] - z[j + half];
        z[j] = sum, z[j + half] = difference;
      }
  for (size_t j = 0; j < 16; j++) z[j] /= 4;
}

/* Rounds a number to BF16, stored as FP32. Rounds first to odd in FP32, so that the second rounding gives the same
   result as a single one. Has no branch, so that it vectorises. */
static inline float in_bf16(double x) {
  const float nearest = (float)x;
  uint32_t bits = smma_bits_of_f32(nearest);
  const uint32_t nan = (bits | 0x400000) & 0xffff0000;
  bits -= fabs((double)nearest) > fabs(x);
  bits |= (double)nearest != x;
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  return smma_f32_of_bits(x != x ? nan : bits);
}

/* Rounds FP64 numbers to FP32, or to BF16 that is stored as FP32. */
static void round_transformed(const double *z, size_t count, smma_format format, float *y) {
  if (format == SMMA_F32)
    for (size_t i = 0; i < count; i++) y[i] = (float)z[i];
  else
    for (size_t i = 0; i < count; i++) y[i] = in_bf16(z[i]);
}

void smma_hadamard(const float *x, size_t lines, size_t k, const double signs[16], smma_format format, float *y) {
  const size_t blocks = (k + 15) / 16, all = lines * blocks;
  double z[CHUNK];
  for (size_t start = 0; start < all; start += CHUNK / 16) {
    const size_t count = all - start < CHUNK / 16 ? all - start : CHUNK / 16;
    for (size_t i = 0; i < count; i++) {
      const size_t first = (start + i) % blocks * 16, line = (start + i) / blocks;
      for (size_t j = 0; j < 16; j++) z[i * 16 + j] = (first + j < k ? x[line * k + first + j] : 0.) * signs[j];
      transform(z + i * 16);
    }
    round_transformed(z, count * 16, format, y + start * 16);
  }
}
