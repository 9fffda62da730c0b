/* Defines what kernels need from their language (C11 for tests, CUDA C++ or OpenCL C), in addition to core/dialect.h.

   A kernel runs for each work item of a grid of two axes; smma_item(axis) returns the item's position on an axis. The
   first argument of a kernel is the operation. OpenCL and NVRTC programs have it as a constant instead, so that
   compilers see formats and parameters.

   A lane is an element of D. Kernels that compute several lanes per item use the types smma_floats, smma_ints and
   smma_doubles of SMMA_WIDTH lanes: 1 if the device itself vectorises items, OpenCL vectors on CPUs. The operators that
   C and OpenCL share apply to each lane: + - * | & comparisons and x ? y : z. */
#ifndef SMMA_DEVICE_WORDS_H
#define SMMA_DEVICE_WORDS_H

#include "core/rule.h"
#include "device/kernels/arguments.h"

#if defined(__OPENCL_C_VERSION__) || defined(__OPENCL_VERSION__)

#pragma OPENCL FP_CONTRACT OFF
#define SMMA_KERNEL kernel void
#define SMMA_GLOBAL global
#define SMMA_UNROLL _Pragma("unroll")
#define SMMA_DEVICE SMMA_CORE
SMMA_CORE int smma_item(int axis) { return (int)get_global_id((uint)axis); }
SMMA_CORE float smma_f32_fma(float a, float b, float c) { return fma(a, b, c); }
SMMA_CORE float smma_f32_of(uint32_t bits) { return as_float(bits); }
SMMA_CORE uint32_t smma_f32_bits(float x) { return as_uint(x); }
SMMA_CORE void smma_count_one(SMMA_GLOBAL uint32_t *x) { atomic_inc(x); }
SMMA_CORE void smma_lower_to(SMMA_GLOBAL uint32_t *x, uint32_t y) { atomic_min(x, y); }
#if SMMA_WIDTH > 0
#if SMMA_WIDTH == 1
#define SMMA_LANES_OF(x) x
#define SMMA_LANES_RTZ convert_int_rtz
#define SMMA_LONGS_RTZ convert_long_rtz
#else
#define SMMA_JOIN(x, width, y) x##width##y
#define SMMA_NAME(x, width, y) SMMA_JOIN(x, width, y)
#define SMMA_LANES_OF(x) SMMA_NAME(x, SMMA_WIDTH, )
#define SMMA_LANES_RTZ SMMA_NAME(convert_int, SMMA_WIDTH, _rtz)
#define SMMA_LONGS_RTZ SMMA_NAME(convert_long, SMMA_WIDTH, _rtz)
#endif
typedef SMMA_LANES_OF(int) smma_ints;
typedef SMMA_LANES_OF(float) smma_floats;
typedef SMMA_LANES_OF(double) smma_doubles;
typedef SMMA_LANES_OF(long) smma_longs;
typedef SMMA_LANES_OF(uchar) smma_bytes;
SMMA_CORE smma_ints smma_ints_of(int x) { return (smma_ints)(x); }
SMMA_CORE smma_ints smma_ints_of_bytes(smma_bytes x) { return SMMA_LANES_OF(convert_int)(x); }
SMMA_CORE smma_ints smma_bits(smma_floats x) { return SMMA_LANES_OF(as_int)(x); }
SMMA_CORE smma_floats smma_floats_of_bits(smma_ints x) { return SMMA_LANES_OF(as_float)(x); }
SMMA_CORE smma_floats smma_fused(smma_floats x, smma_floats y, smma_floats z) { return fma(x, y, z); }
SMMA_CORE smma_floats smma_multiplied(smma_floats x, smma_floats y) { return x * y; }
SMMA_CORE smma_ints smma_clamped_sum(smma_ints x, smma_ints y) { return add_sat(x, y); }
SMMA_CORE smma_ints smma_wrapped_sum(smma_ints x, smma_ints y) {
  return SMMA_LANES_OF(as_int)(SMMA_LANES_OF(as_uint)(x) + SMMA_LANES_OF(as_uint)(y));
}
SMMA_CORE smma_ints smma_truncated(smma_floats x) { return SMMA_LANES_RTZ(x); }
SMMA_CORE smma_ints smma_greater(smma_ints x, smma_ints y) { return max(x, y); }
SMMA_CORE smma_ints smma_lesser(smma_ints x, smma_ints y) { return min(x, y); }
SMMA_CORE smma_doubles smma_doubles_of(smma_ints x) { return SMMA_LANES_OF(convert_double)(x); }
SMMA_CORE smma_doubles smma_doubles_of_floats(smma_floats x) { return SMMA_LANES_OF(convert_double)(x); }
SMMA_CORE smma_floats smma_floats_of(smma_doubles x) { return SMMA_LANES_OF(convert_float)(x); }
SMMA_CORE smma_doubles smma_power(smma_ints n) {
  return SMMA_LANES_OF(as_double)((SMMA_LANES_OF(convert_long)(n) + 1023) << 52);
}
SMMA_CORE smma_ints smma_exponent(smma_doubles x) {
  return SMMA_LANES_OF(convert_int)(SMMA_LANES_OF(as_long)(x) >> 52 & 2047) - 1023;
}
SMMA_CORE smma_floats smma_floats_of_ints(smma_ints x) { return SMMA_LANES_OF(convert_float)(x); }
SMMA_CORE smma_longs smma_truncated_doubles(smma_doubles x) { return SMMA_LONGS_RTZ(x); }
SMMA_CORE smma_doubles smma_doubles_of_longs(smma_longs x) { return SMMA_LANES_OF(convert_double)(x); }
SMMA_CORE smma_longs smma_double_bits(smma_doubles x) { return SMMA_LANES_OF(as_long)(x); }
SMMA_CORE smma_doubles smma_doubles_of_bits(smma_longs x) { return SMMA_LANES_OF(as_double)(x); }
SMMA_CORE smma_doubles smma_fused_doubles(smma_doubles x, smma_doubles y, smma_doubles z) { return fma(x, y, z); }
SMMA_CORE smma_doubles smma_doubles_where(smma_ints which, smma_doubles x, smma_doubles y) {
  return SMMA_LANES_OF(convert_long)(which) ? x : y;
}
SMMA_CORE smma_doubles smma_absolute(smma_doubles x) { return fabs(x); }
#if SMMA_WIDTH == 1
SMMA_CORE smma_doubles smma_trunc(smma_doubles x) { return trunc(x); }
SMMA_CORE smma_doubles smma_floor(smma_doubles x) { return floor(x); }
SMMA_CORE smma_doubles smma_rint(smma_doubles x) { return rint(x); }
#else /* vector libraries lack these functions; these versions round by adding 1.5 * 2^52, whose last bit has the \
         value 1 */
SMMA_CORE smma_longs smma_sign_of(smma_doubles x) { return SMMA_LANES_OF(as_long)(x) & LONG_MIN; }
SMMA_CORE smma_doubles smma_with_sign(smma_doubles x, smma_longs sign) {
  return SMMA_LANES_OF(as_double)(SMMA_LANES_OF(as_long)(x) | sign);
}
SMMA_CORE smma_doubles smma_rint(smma_doubles x) { return smma_with_sign((x + 0x1.8p52) - 0x1.8p52, smma_sign_of(x)); }
SMMA_CORE smma_doubles smma_floor(smma_doubles x) {
  const smma_doubles y = (x + 0x1.8p52) - 0x1.8p52;
  return y - SMMA_LANES_OF(as_double)((y > x) & as_long(1.0));
}
SMMA_CORE smma_doubles smma_trunc(smma_doubles x) {
  const smma_doubles magnitude = SMMA_LANES_OF(as_double)(SMMA_LANES_OF(as_long)(x) & LONG_MAX);
  return smma_with_sign(smma_floor(magnitude), smma_sign_of(x));
}
#endif
#endif

#elif defined(__CUDACC__)

#define SMMA_KERNEL extern "C" __global__ void
#define SMMA_GLOBAL
#define SMMA_UNROLL _Pragma("unroll")
static __device__ inline int smma_item(int axis) {
  return (int)(axis ? blockIdx.y * blockDim.y + threadIdx.y : blockIdx.x * blockDim.x + threadIdx.x);
}
static __device__ inline float smma_f32_fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
static __device__ inline float smma_f32_multiply(float a, float b) {
  return __fmul_rn(a, b);
} /* never contracted to an FMA */
static __device__ inline double smma_f64_fma(double a, double b, double c) { return __fma_rn(a, b, c); }
static __device__ inline float smma_f32_of(uint32_t bits) { return __uint_as_float(bits); }
static __device__ inline uint32_t smma_f32_bits(float x) { return __float_as_uint(x); }
static __device__ inline double smma_f64_of(uint64_t bits) { return __longlong_as_double((long long)bits); }
static __device__ inline uint64_t smma_f64_bits(double x) { return (uint64_t)__double_as_longlong(x); }
static __device__ inline void smma_count_one(uint32_t *x) { atomicAdd(x, 1u); }
static __device__ inline void smma_lower_to(uint32_t *x, uint32_t y) { atomicMin(x, y); }
#define SMMA_DEVICE static __device__ inline

#else

#include <math.h>
#include <string.h>

#define SMMA_KERNEL static void
#define SMMA_GLOBAL
#define SMMA_UNROLL
static _Thread_local int smma_items_here[2]; /* set by the caller of the kernel */
SMMA_CORE int smma_item(int axis) { return smma_items_here[axis]; }
SMMA_CORE float smma_f32_fma(float a, float b, float c) { return fmaf(a, b, c); }
SMMA_CORE float smma_f32_multiply(float a, float b) { return a * b; }
SMMA_CORE double smma_f64_fma(double a, double b, double c) { return fma(a, b, c); }
SMMA_CORE float smma_f32_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
SMMA_CORE uint32_t smma_f32_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
SMMA_CORE double smma_f64_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
SMMA_CORE uint64_t smma_f64_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
SMMA_CORE void smma_count_one(uint32_t *x) { ++*x; }
SMMA_CORE void smma_lower_to(uint32_t *x, uint32_t y) { *x = *x < y ? *x : y; }
#define SMMA_DEVICE SMMA_CORE

#endif

/* Returns the operation: a constant in programs compiled for one operation, else the argument. */
SMMA_DEVICE smma_operation smma_operation_here(smma_operation argument) {
#ifdef SMMA_OPERATION_WORDS
  union {
    int word[sizeof(smma_operation) / sizeof(int)];
    smma_operation operation;
  } known = {{SMMA_OPERATION_WORDS}};
  (void)argument;
  return known.operation;
#else
  return argument;
#endif
}

#ifndef SMMA_WIDTH
/* CUDA and C: each item has one lane. */
typedef int smma_ints;
typedef float smma_floats;
typedef double smma_doubles;
typedef int64_t smma_longs;
typedef uint8_t smma_bytes;
#define SMMA_WIDTH 1
SMMA_DEVICE smma_ints smma_ints_of(int x) { return x; }
SMMA_DEVICE smma_ints smma_ints_of_bytes(smma_bytes x) { return x; }
SMMA_DEVICE smma_ints smma_bits(smma_floats x) { return (int)smma_f32_bits(x); }
SMMA_DEVICE smma_floats smma_floats_of_bits(smma_ints x) { return smma_f32_of((uint32_t)x); }
SMMA_DEVICE smma_floats smma_fused(smma_floats x, smma_floats y, smma_floats z) { return smma_f32_fma(x, y, z); }
SMMA_DEVICE smma_floats smma_multiplied(smma_floats x, smma_floats y) { return smma_f32_multiply(x, y); }
SMMA_DEVICE smma_ints smma_clamped_sum(smma_ints x, smma_ints y) {
  const int64_t sum = (int64_t)x + y;
  return (int)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}
SMMA_DEVICE smma_ints smma_wrapped_sum(smma_ints x, smma_ints y) { return (int)((uint32_t)x + (uint32_t)y); }
SMMA_DEVICE smma_ints smma_truncated(smma_floats x) { return (int)x; }
SMMA_DEVICE smma_ints smma_greater(smma_ints x, smma_ints y) { return smma_maximum(x, y); }
SMMA_DEVICE smma_ints smma_lesser(smma_ints x, smma_ints y) { return smma_minimum(x, y); }
SMMA_DEVICE smma_doubles smma_doubles_of(smma_ints x) { return x; }
SMMA_DEVICE smma_doubles smma_doubles_of_floats(smma_floats x) { return x; }
SMMA_DEVICE smma_floats smma_floats_of(smma_doubles x) { return (float)x; }
SMMA_DEVICE smma_doubles smma_power(smma_ints n) { return smma_f64_of((uint64_t)(n + 1023) << 52); }
SMMA_DEVICE smma_ints smma_exponent(smma_doubles x) { return (int)(smma_f64_bits(x) >> 52 & 2047) - 1023; }
SMMA_DEVICE smma_floats smma_floats_of_ints(smma_ints x) { return (float)x; }
SMMA_DEVICE smma_longs smma_truncated_doubles(smma_doubles x) { return (int64_t)x; }
SMMA_DEVICE smma_doubles smma_doubles_of_longs(smma_longs x) { return (double)x; }
SMMA_DEVICE smma_longs smma_double_bits(smma_doubles x) { return (int64_t)smma_f64_bits(x); }
SMMA_DEVICE smma_doubles smma_doubles_of_bits(smma_longs x) { return smma_f64_of((uint64_t)x); }
SMMA_DEVICE smma_doubles smma_fused_doubles(smma_doubles x, smma_doubles y, smma_doubles z) {
  return smma_f64_fma(x, y, z);
}
SMMA_DEVICE smma_doubles smma_doubles_where(smma_ints which, smma_doubles x, smma_doubles y) { return which ? x : y; }
SMMA_DEVICE smma_doubles smma_absolute(smma_doubles x) { return fabs(x); }
SMMA_DEVICE smma_doubles smma_trunc(smma_doubles x) { return trunc(x); }
SMMA_DEVICE smma_doubles smma_floor(smma_doubles x) { return floor(x); }
SMMA_DEVICE smma_doubles smma_rint(smma_doubles x) { return rint(x); }

#endif

#if SMMA_WIDTH > 0
/* Loops over an item's rows. */
#define SMMA_EACH_ROW(r) SMMA_UNROLL for (r = 0; r < SMMA_ITEM_ROWS; r++)

/* Load and store lanes; `index` is a multiple of the number of lanes. */
SMMA_DEVICE smma_floats smma_load_floats(SMMA_GLOBAL const float *x, uint64_t index) {
  return *(SMMA_GLOBAL const smma_floats *)(x + index);
}
SMMA_DEVICE void smma_store_floats(SMMA_GLOBAL float *x, uint64_t index, smma_floats value) {
  *(SMMA_GLOBAL smma_floats *)(x + index) = value;
}
SMMA_DEVICE smma_doubles smma_load_doubles(SMMA_GLOBAL const double *x, uint64_t index) {
  return *(SMMA_GLOBAL const smma_doubles *)(x + index);
}
SMMA_DEVICE void smma_store_doubles(SMMA_GLOBAL double *x, uint64_t index, smma_doubles value) {
  *(SMMA_GLOBAL smma_doubles *)(x + index) = value;
}
SMMA_DEVICE void smma_store_ints(SMMA_GLOBAL int *x, uint64_t index, smma_ints value) {
  *(SMMA_GLOBAL smma_ints *)(x + index) = value;
}
SMMA_DEVICE smma_ints smma_load_ints(SMMA_GLOBAL const int *x, uint64_t index) {
  return *(SMMA_GLOBAL const smma_ints *)(x + index);
}
SMMA_DEVICE smma_ints smma_load_bytes(SMMA_GLOBAL const uint8_t *x, uint64_t index) {
  return smma_ints_of_bytes(*(SMMA_GLOBAL const smma_bytes *)(x + index));
}
#endif

/* ---- Encodings in containers of 1, 2, 4 or 8 bytes ---- */

SMMA_CORE int smma_code_bytes(smma_format format) {
  int bits = smma_encoding_of(format).bits;
  return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

SMMA_CORE uint64_t smma_read_code(SMMA_GLOBAL const void *codes, int bytes, uint64_t index) {
  switch (bytes) {
    case 1: return ((SMMA_GLOBAL const uint8_t *)codes)[index];
    case 2: return ((SMMA_GLOBAL const uint16_t *)codes)[index];
    case 4: return ((SMMA_GLOBAL const uint32_t *)codes)[index];
    default: return ((SMMA_GLOBAL const uint64_t *)codes)[index];
  }
}

SMMA_CORE void smma_write_code(SMMA_GLOBAL void *codes, int bytes, uint64_t index, uint64_t code) {
  switch (bytes) {
    case 1: ((SMMA_GLOBAL uint8_t *)codes)[index] = (uint8_t)code; break;
    case 2: ((SMMA_GLOBAL uint16_t *)codes)[index] = (uint16_t)code; break;
    case 4: ((SMMA_GLOBAL uint32_t *)codes)[index] = (uint32_t)code; break;
    default: ((SMMA_GLOBAL uint64_t *)codes)[index] = code; break;
  }
}

#endif
