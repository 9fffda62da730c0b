/* Number formats, roundings, overflow: the words that softmma.h and the core share. C11, C++, CUDA C++ and OpenCL C.
 *
 * Numbers are frozen. A format that is named later has the number that it had when its name spelled it out. */
#ifndef SOFTMMA_NUMBER_H
#define SOFTMMA_NUMBER_H

typedef enum {
  SMMA_F64 = 0,
  SMMA_F32 = 1,
  SMMA_TF32 = 2, /* FP32 container, the 13 low bits are ignored */
  SMMA_F16 = 3,
  SMMA_BF16 = 4,
  SMMA_E5M2 = 5,
  SMMA_E4M3 = 6, /* E4M3FN */
  SMMA_E5M2FNUZ = 7,
  SMMA_E4M3FNUZ = 8,
  SMMA_E3M2 = 9,
  SMMA_E2M3 = 10,
  SMMA_E2M1 = 11,
  SMMA_UE8M0 = 12,
  SMMA_UE4M3 = 13,
  SMMA_S8 = 14, /* integers: two's complement, and unsigned */
  SMMA_U8 = 15,
  SMMA_S32 = 16,
  SMMA_E8M13 = 17, /* FP32 container with 13 fraction bits, what Ada and Hopper write for FP8: no operand */
  SMMA_S4 = 18,
  SMMA_U4 = 19,
  SMMA_B1 = 20, /* one bit: 0 or 1 */
  SMMA_NO_FORMAT = 255,
  SMMA_SPELLED_FORMATS = 1 << 24 /* numbers from here on: formats whose name spells them out, see smma_format_find */
} smma_format;

typedef enum {
  SMMA_ROUND_NEAREST_EVEN = 0,
  SMMA_ROUND_TOWARD_ZERO = 1,
  SMMA_ROUND_DOWN = 2,         /* toward minus infinity */
  SMMA_ROUND_UP = 3,           /* toward plus infinity */
  SMMA_ROUND_NEAREST_AWAY = 4, /* ties away from zero */
  SMMA_ROUND_NEAREST_ZERO = 5, /* ties toward zero */
  SMMA_ROUND_NEAREST_UP = 6,   /* ties toward plus infinity */
  SMMA_ROUND_NEAREST_DOWN = 7, /* ties toward minus infinity */
  SMMA_ROUND_TO_ODD = 8        /* toward zero, and the last bit is set if that lost anything */
} smma_rounding;

/* The formats of a product's matrices. A and B with scale factors have these in one format, for as many elements. */
typedef struct {
  smma_format a, b, d;
  smma_format scale; /* means nothing without scale_block */
  int scale_block;   /* elements along K that share a scale factor; 0 without scale factors */
} smma_formats;

/* What becomes of a magnitude that rounds above the greatest finite one, and of an infinity. A value is first rounded
 * as if exponents had no upper end, in every direction: toward zero, too, a magnitude of 2^128 or more overflows in
 * f32. Integers saturate whatever is asked for, at the end of their range that is nearer. */
typedef enum {
  SMMA_OVERFLOW_DEFAULT = 0, /* saturate in formats of at most 8 bits, as CUDA's satfinite conversions; else infinity */
  SMMA_OVERFLOW_SATURATE = 1, /* the greatest finite magnitude */
  SMMA_OVERFLOW_INFINITY = 2  /* infinity; NaN in formats without infinity (FP6 and FP4 have neither: saturate) */
} smma_overflow;

#endif
