/*
 * Conversion of FP32 to FP16 for the AVX-512 kernel in the emulator Bochs 2.7, whose instruction vcvtps2ph rounds ties
 * away from zero. tests/avx512.sh includes this file in each file of the kernel; then its conversions round to nearest,
 * ties to even, as on a CPU. Only integers are used, because the kernel changes the mode of rounding.
 */
#ifdef __AVX512F__
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

/* Returns the FP16 encoding nearest to x. A NaN becomes quiet and keeps its upper payload bits. */
static inline uint16_t half_from_float(float x) {
  uint32_t bits, sign, significand, cut;
  memcpy(&bits, &x, sizeof bits);
  sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) return (uint16_t)(sign | 0x7e00 | (bits >> 13 & 0x3ff));
  if (bits >= 0x47800000) return (uint16_t)(sign | 0x7c00); /* from 2^16 */
  if (bits < 0x33000000) return (uint16_t)sign;             /* below 2^-25 */
  if (bits < 0x38800000) { /* below 2^-14: a multiple of 2^-24, in which the significand has `cut` fraction bits */
    significand = (bits & 0x7fffff) | 0x800000;
    cut = 126 - (bits >> 23);
  } else { /* exponent and significand, with 13 bits more than FP16's */
    significand = bits - 0x38000000;
    cut = 13;
  }
  return (uint16_t)(sign | ((significand + (1U << (cut - 1)) - 1 + (significand >> cut & 1)) >> cut));
}

static inline __m256i halves_from_floats(__m512 x) {
  float from[16];
  uint16_t to[16];
  __m256i halves;
  memcpy(from, &x, sizeof from);
  for (int i = 0; i < 16; i++) to[i] = half_from_float(from[i]);
  memcpy(&halves, to, sizeof halves);
  return halves;
}

#define _mm512_cvtps_ph(x, rounding) halves_from_floats(x)
#endif
