/* Number formats, rounding modes and overflow: definitions that softmma.h and the core share. Valid in C11, C++, CUDA
 * C++ and OpenCL C.
 *
 * The numbers of enumerators are frozen. A format that gets a name later keeps the number that its spelled name has. */
#ifndef SOFTMMA_NUMBER_H
#define SOFTMMA_NUMBER_H

typedef enum {
  SMMA_F64 = 0,
  SMMA_F32 = 1,
  SMMA_TF32 = 2, /* FP32 container; the 13 low bits are ignored */
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
  SMMA_S8 = 14, /* integers: S formats are two's complement, U formats unsigned */
  SMMA_U8 = 15,
  SMMA_S32 = 16,
  SMMA_E8M13 = 17, /* FP32 container with 13 fraction bits, written by Ada and Hopper for FP8; not an operand format */
  SMMA_S4 = 18,
  SMMA_U4 = 19,
  SMMA_B1 = 20,              /* one bit: 0 or 1 */
  SMMA_OCP_INT8 = 0x1800b07, /* element of MXINT8: an integer in two's complement, times 2^-6 */
  SMMA_NO_FORMAT = 255,
  SMMA_SPELLED_FORMATS = 1 << 24 /* numbers from here on are formats whose name spells them out, see smma_format_find */
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
  SMMA_ROUND_TO_ODD = 8        /* toward zero, and the last bit is set if the result is inexact */
} smma_rounding;

/* The formats of a product's matrices. If A and B have scale factors, both have the same scale format and block. */
typedef struct {
  smma_format a, b, d;
  smma_format scale; /* unused if scale_block is 0 */
  int scale_block;   /* elements along K that share a scale factor; 0 without scale factors */
} smma_formats;

/* The result for infinity, and for a magnitude that rounds above the largest finite magnitude. A value is first rounded
 * as if exponents had no upper end, in every rounding mode: even toward zero, a magnitude of 2^128 or more overflows in
 * f32. Integer formats always saturate, at the nearer end of their range. The saturation modes of IEEE P3109 are
 * SMMA_OVERFLOW_SATURATE (SatFinite), SMMA_OVERFLOW_PROPAGATE (SatPropagate) and SMMA_OVERFLOW_BY_DIRECTION
 * (SatNone). */
typedef enum {
  SMMA_OVERFLOW_DEFAULT =
      0, /* saturate in formats of at most 8 bits, as CUDA's satfinite conversions; otherwise infinity */
  SMMA_OVERFLOW_SATURATE = 1, /* the largest finite magnitude */
  SMMA_OVERFLOW_INFINITY =
      2, /* infinity; NaN in formats without infinity; saturate in FP6 and FP4, which have neither */
  SMMA_OVERFLOW_PROPAGATE = 3, /* numbers saturate, infinity stays; formats without infinity saturate */
  SMMA_OVERFLOW_BY_DIRECTION =
      4 /* infinity, but numbers saturate if they are rounded away from that infinity (IEEE 754-2019, section 7.4);
           SMMA_ROUND_TO_ODD saturates numbers in unsigned formats only. Formats without infinity saturate. In unsigned
           formats with NaN, negative results are NaN; rounded toward zero or up, negative numbers are zero */
} smma_overflow;

#endif
