/* Functions that the kernels of this folder need in addition to the core's dialect: FP64 arithmetic in a given rounding
   direction, operations on bytes, and minima. The versions for the host are for tests. */
#ifndef SMMA_DEVICE_CUDA_WORDS_H
#define SMMA_DEVICE_CUDA_WORDS_H

#include "core/bits.h"

#ifdef __CUDACC__

#define SMMA_UNROLL _Pragma("unroll")
#define SMMA_UNROLL_BY(N) _Pragma(SMMA_TEXT(unroll N))
#define SMMA_TEXT(X) #X
#define SMMA_ALIGN(N) __align__(N)

#else

#include <fenv.h>
#include <math.h>
#include <string.h>

#define SMMA_UNROLL
#define SMMA_UNROLL_BY(N)
#define SMMA_ALIGN(N) __attribute__((aligned(N)))

#endif

/* Two doubles that are loaded by one instruction. */
typedef struct SMMA_ALIGN(16) {
  double of[2];
} smma_two;

typedef struct SMMA_ALIGN(8) {
  uint32_t of[2];
} smma_pair;

typedef struct SMMA_ALIGN(16) {
  smma_pair of[2];
} smma_four;

#ifdef __CUDA_ARCH__

/* Returns a b + c rounded down. */
SMMA_CORE double smma_fma_down(double a, double b, double c) { return __fma_rd(a, b, c); }
/* Return a b + c: smma_fma_to_zero rounds toward zero; smma_fma is used only where the result is exact. x - x is +0. */
SMMA_CORE double smma_fma_to_zero(double a, double b, double c) { return __fma_rz(a, b, c); }
SMMA_CORE double smma_fma(double a, double b, double c) { return __fma_rn(a, b, c); }
/* Return x + y rounded toward zero, and down. */
SMMA_CORE double smma_add_to_zero(double x, double y) { return __dadd_rz(x, y); }
SMMA_CORE double smma_add_down(double x, double y) { return __dadd_rd(x, y); }
/* Return x + y and x - y, exact at each use; x - x is +0. */
SMMA_CORE double smma_add(double x, double y) { return __dadd_rn(x, y); }
SMMA_CORE double smma_subtract(double x, double y) { return __dsub_rn(x, y); }
/* The same operations in binary32. */
SMMA_CORE float smma_f32_add_to_zero(float x, float y) { return __fadd_rz(x, y); }
SMMA_CORE float smma_f32_add_down(float x, float y) { return __fadd_rd(x, y); }
SMMA_CORE float smma_f32_fma_to_zero(float a, float b, float c) { return __fmaf_rz(a, b, c); }
SMMA_CORE float smma_f32_fma_down(float a, float b, float c) { return __fmaf_rd(a, b, c); }
SMMA_CORE uint32_t smma_greater_word(uint32_t x, uint32_t y) { return umax(x, y); }
SMMA_CORE uint32_t smma_high_word(double x) { return (uint32_t)__double2hiint(x); }
SMMA_CORE uint32_t smma_low_word(double x) { return (uint32_t)__double2loint(x); }
SMMA_CORE double smma_double_of(uint32_t high, uint32_t low) { return __hiloint2double((int)high, (int)low); }
/* Returns the greater of |x| and y, which is positive, with the sign bit of x. Both are bits of finite binary32
   numbers. */
SMMA_CORE uint32_t smma_greater_with_sign(uint32_t x, uint32_t y) {
#if __CUDA_ARCH__ >= 860
  float r;
  asm("max.xorsign.abs.f32 %0, %1, %2;" : "=f"(r) : "f"(__uint_as_float(x)), "f"(__uint_as_float(y)));
  return __float_as_uint(r);
#else
  return max(x & 0x7fffffffu, y) | (x & 0x80000000u);
#endif
}
SMMA_CORE uint32_t smma_lesser_unsigned(uint32_t x, uint32_t y) { return min(x, y); }
SMMA_CORE uint32_t smma_greater_unsigned(uint32_t x, uint32_t y) { return max(x, y); }
/* Returns x | y, in a way that the compiler cannot optimise away even if y is always 0. */
SMMA_CORE uint32_t smma_in_register(uint32_t x, uint32_t y) {
  uint32_t r;
  asm volatile("or.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
  return r;
}
/* Returns y if the sign bit of x is zero, else y - 2^24; y is below 2^24. */
SMMA_CORE int32_t smma_extend_sign(uint32_t x, uint32_t y) {
  int32_t r;
  asm("prmt.b32 %0, %1, %2, 0xb654;" : "=r"(r) : "r"(x), "r"(y));
  return r;
}
/* Returns the highest byte of x, repeated four times. */
SMMA_CORE uint32_t smma_repeat_high_byte(uint32_t x) { return __byte_perm(x, 0, 0x3333); }
/* Returns z plus the upper 32 bits of the product x y. */
SMMA_CORE uint32_t smma_high_product_add(int32_t x, int32_t y, uint32_t z) {
  uint32_t r;
  asm("mad.hi.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
  return r;
}
/* Return z plus the four products of corresponding bytes of x and y. */
SMMA_CORE uint32_t smma_dot_bytes(uint32_t x, uint32_t y, uint32_t z) { return __dp4a(x, y, z); }
SMMA_CORE int32_t smma_dot_signed_bytes(uint32_t x, uint32_t y, int32_t z) { return __dp4a((int)x, (int)y, z); }

#elif !defined(__CUDACC__)

SMMA_CORE double smma_fma_in(int direction, double a, double b, double c) {
  const int mode = fegetround();
  volatile double x = a, y = b, z = c, r;
  fesetround(direction);
  r = fma(x, y, z);
  fesetround(mode);
  return r;
}
SMMA_CORE double smma_fma_down(double a, double b, double c) { return smma_fma_in(FE_DOWNWARD, a, b, c); }
SMMA_CORE double smma_fma_to_zero(double a, double b, double c) { return smma_fma_in(FE_TOWARDZERO, a, b, c); }
SMMA_CORE double smma_add_to_zero(double x, double y) { return smma_fma_in(FE_TOWARDZERO, x, 1, y); }
SMMA_CORE double smma_add_down(double x, double y) { return smma_fma_in(FE_DOWNWARD, x, 1, y); }
SMMA_CORE float smma_f32_fma_in(int rounding, float a, float b, float c) {
  const int mode = fegetround();
  volatile float x = a, y = b, z = c, r;
  fesetround(rounding);
  r = fmaf(x, y, z);
  fesetround(mode);
  return r;
}
SMMA_CORE float smma_f32_add_to_zero(float x, float y) { return smma_f32_fma_in(FE_TOWARDZERO, x, 1, y); }
SMMA_CORE float smma_f32_add_down(float x, float y) { return smma_f32_fma_in(FE_DOWNWARD, x, 1, y); }
SMMA_CORE float smma_f32_fma_to_zero(float a, float b, float c) { return smma_f32_fma_in(FE_TOWARDZERO, a, b, c); }
SMMA_CORE float smma_f32_fma_down(float a, float b, float c) { return smma_f32_fma_in(FE_DOWNWARD, a, b, c); }
SMMA_CORE uint32_t smma_greater_word(uint32_t x, uint32_t y) { return x > y ? x : y; }
SMMA_CORE double smma_fma(double a, double b, double c) { return fma(a, b, c); }
SMMA_CORE double smma_add(double x, double y) { return x + y; }
SMMA_CORE double smma_subtract(double x, double y) { return x - y; }
SMMA_CORE uint64_t smma_both_words(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
SMMA_CORE uint32_t smma_high_word(double x) { return (uint32_t)(smma_both_words(x) >> 32); }
SMMA_CORE uint32_t smma_low_word(double x) { return (uint32_t)smma_both_words(x); }
SMMA_CORE double smma_double_of(uint32_t high, uint32_t low) {
  const uint64_t bits = (uint64_t)high << 32 | low;
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
SMMA_CORE uint32_t smma_greater_with_sign(uint32_t x, uint32_t y) {
  uint32_t magnitude = x & 0x7fffffffu;
  return (magnitude > y ? magnitude : y) | (x & 0x80000000u);
}
SMMA_CORE uint32_t smma_lesser_unsigned(uint32_t x, uint32_t y) { return x < y ? x : y; }
SMMA_CORE uint32_t smma_greater_unsigned(uint32_t x, uint32_t y) { return x > y ? x : y; }
SMMA_CORE uint32_t smma_in_register(uint32_t x, uint32_t y) { return x | y; }
SMMA_CORE int32_t smma_extend_sign(uint32_t x, uint32_t y) { return (int32_t)y - (int32_t)(x >> 31 << 24); }
SMMA_CORE uint32_t smma_repeat_high_byte(uint32_t x) { return (x >> 24) * 0x01010101u; }
SMMA_CORE uint32_t smma_high_product_add(int32_t x, int32_t y, uint32_t z) {
  return (uint32_t)(((int64_t)x * y) >> 32) + z;
}
SMMA_CORE uint32_t smma_dot_bytes(uint32_t x, uint32_t y, uint32_t z) {
  int i;
  for (i = 0; i < 32; i += 8) z += (x >> i & 255) * (y >> i & 255);
  return z;
}
SMMA_CORE int32_t smma_dot_signed_bytes(uint32_t x, uint32_t y, int32_t z) {
  int i;
  for (i = 0; i < 32; i += 8) z += (int8_t)(x >> i & 255) * (int8_t)(y >> i & 255);
  return z;
}

#endif
#endif
