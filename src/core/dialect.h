/* Defines what the core needs from its language: C11, CUDA C++ or OpenCL C. No other file of the core distinguishes
   languages. */
#ifndef SMMA_CORE_DIALECT_H
#define SMMA_CORE_DIALECT_H

#if defined(__OPENCL_C_VERSION__) || defined(__OPENCL_VERSION__)

typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
#define SMMA_CORE static inline
#define SMMA_EVALUATOR SMMA_CORE
SMMA_CORE int smma_leading_zeros(uint64_t x) { return (int)clz(x); }
SMMA_CORE uint64_t smma_multiply_high(uint64_t x, uint64_t y) { return mul_hi(x, y); }

#elif defined(__CUDACC__)

#ifdef __CUDACC_RTC__ /* NVRTC has no system headers */
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT32_MAX 2147483647
#define INT32_MIN (-INT32_MAX - 1)
#else
#include <stdint.h>
#endif
#define SMMA_CORE static __host__ __device__ inline
#define SMMA_EVALUATOR SMMA_CORE
SMMA_CORE int smma_leading_zeros(uint64_t x) {
#ifdef __CUDA_ARCH__
  return __clzll((long long)x);
#else
  return x ? __builtin_clzll(x) : 64;
#endif
}
SMMA_CORE uint64_t smma_multiply_high(uint64_t x, uint64_t y) {
#ifdef __CUDA_ARCH__
  return __umul64hi(x, y);
#else
  return (uint64_t)((unsigned __int128)x * y >> 64);
#endif
}

#else

#include <stdbool.h>
#include <stdint.h>
#define SMMA_CORE static inline
/* Storage class of the evaluator's functions. By default the evaluator is compiled once, in host/evaluator.c, and
   called. A file that needs its own copy (a module, or a file that observes sums) defines SMMA_EVALUATOR before it
   includes the core. */
#ifndef SMMA_EVALUATOR
#define SMMA_EVALUATOR
#define SMMA_EVALUATOR_IS_CALLED
#endif
/* Returns the number of leading zero bits; 64 if x is zero. */
SMMA_CORE int smma_leading_zeros(uint64_t x) { return x ? __builtin_clzll(x) : 64; }
/* Returns the high 64 bits of the 128-bit product. */
__extension__ typedef unsigned __int128 smma_uint128;
SMMA_CORE uint64_t smma_multiply_high(uint64_t x, uint64_t y) { return (uint64_t)((smma_uint128)x * y >> 64); }

#endif

/* A rule's algorithm. In kernels compiled for one operation it is a constant. The compiler then removes the other
   algorithms before it decides which functions are short enough to inline. Functions that are not inlined would not
   see that the parameters of the operation are constants. */
#ifdef SMMA_OPERATION_ALGORITHM
#define SMMA_ALGORITHM(rule) ((void)(rule), SMMA_OPERATION_ALGORITHM)
#else
#define SMMA_ALGORITHM(rule) (rule)->algorithm
#endif

/* Whether a composition has the sum of G-FDPA; also a constant in kernels compiled for one operation. */
#ifdef SMMA_OPERATION_IS_G_FDPA
#define SMMA_IS_SHORT_G_FDPA(operation) SMMA_OPERATION_IS_G_FDPA
#else
#define SMMA_IS_SHORT_G_FDPA(operation) smma_is_short_g_fdpa(operation)
#endif

/* The longest dot product of one instruction. Kernels compiled for one operation use its K, or its number of products
   of slices (smma_most_nodes). A device's other kernels are compiled with less than 256, because every thread has
   memory for this many elements. */
#ifdef SMMA_OPERATION_K
#define SMMA_MAXIMUM_K SMMA_OPERATION_K
#else
#define SMMA_MAXIMUM_K 256
#endif
#endif
