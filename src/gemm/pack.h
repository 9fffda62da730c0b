/* Functions for packing: they fetch encodings of A or B in the order in which kernels use them, and decode these to
   values and exponents. Each instruction set has its own compiled copy. */
#ifndef SMMA_GEMM_PACK_H
#define SMMA_GEMM_PACK_H

#include "gemm/element.h"
#include "gemm/family/words.h"
#include "gemm/kernel.h"
#include "host/load.h"

enum {
  SMMA_MOST_VECTORS = 64,             /* the most vectors (rows or columns) that are packed together */
  SMMA_MOST_PRODUCTS = SMMA_MAXIMUM_K /* the most products of a fused block */
};

/* Prefetch distance in bytes within panels: a multiplier's copy of B is in memory, not in a cache. */
enum { FETCH_AHEAD = 8192 };

/* A request to fetch the encodings of one block for `vectors` rows of A or columns of B. The i-th encoding of vector v
   is stored in code[i * vectors + v]. */
typedef struct {
  const smma_multiplier *multiplier;
  const smma_view *view;
  bool of_a;
  size_t first, vectors; /* first row or column, and number of rows or columns */
  size_t step;           /* instruction step */
  int block;             /* index of the block within the step */
  int length;            /* number of products in a block */
} smma_fetch;

/* Prefetches, into the second-level cache, data for later calls: `width` bytes for each of `length` indices along K,
   which are `step` bytes apart. `from` is the address that the caller reads. The data are the vectors after the next
   ones or, in a panel, elements with later indices. */
static inline __attribute__((always_inline)) void smma_prefetch_ahead(const smma_view *x, const unsigned char *from,
                                                                      size_t length, size_t step, size_t width) {
  const uintptr_t ahead = (uintptr_t)from + (x->panel != SIZE_MAX ? FETCH_AHEAD : 2 * (width < 64 ? 64 : width));
  for (size_t i = 0; i < length; i++)
    for (size_t at = 0; at < width; at += 64) __builtin_prefetch((const void *)(ahead + i * step + at), 0, 2);
}

/* Fetches encodings of at most 32 bits, scaled by the view's factor; those outside the matrix are +0. */
#define smma_fetch_codes SMMA_OF_KERNEL(fetch_codes)
void smma_fetch_codes(const smma_fetch *f, uint32_t *code);

/* Returns 2^exponent as binary32; it must be a normal number. */
static inline float smma_power_of_two(int exponent) {
  uint32_t bits = (uint32_t)(exponent + 127) << 23;
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Constants for decoding a format of at most 32 bits. */
typedef struct {
  uint32_t fields_mask; /* the exponent and fraction fields */
  uint32_t largest;     /* the fields of the largest finite number */
  uint32_t nan;         /* the code of a NaN whose fields are 0; all ones if the format has no such code */
  int ignored;          /* number of low bits that the format ignores; the other members refer to the rest */
  int sign_at;          /* position of the sign bit */
  int fraction_bits;
  /* The binary32 number with the bits `fields << (23 - fraction_bits)` + `rebias` is the value of a normal number. For
     a subnormal and for zero it is (value + `least`) / 2, where `least` is the least normal number. But if exponents
     have 8 bits, `rebias` is 0, and it is always the value. */
  uint32_t rebias;
  float least;
} smma_decoder;

static inline smma_decoder smma_decoder_of(smma_format format) {
  smma_encoding f = smma_encoding_of(format);
  int fields = f.exponent_bits + f.fraction_bits;
  return (smma_decoder){
      .fields_mask = (uint32_t)smma_low_bits(~UINT64_C(0), fields),
      .largest = (uint32_t)smma_largest_fields(f),
      .nan = smma_has_nan_for_negative_zero(f) ? 1u << fields : ~0u,
      .ignored = f.ignored_bits,
      .sign_at = fields,
      .fraction_bits = f.fraction_bits,
      .rebias = (uint32_t)(127 - f.bias) << 23,
      .least = smma_power_of_two(1 - f.bias),
  };
}

/* Decodes `length` x `vectors` encodings to exact values and to exponent fields (0 for zero, at least 1 otherwise).
   Infinities and NaN are decoded as zero and set the flag in `special` of their vector. No factor or product is a
   subnormal of binary32: on Intel's processors, such a multiplication takes more than a hundred cycles. */
static inline __attribute__((always_inline)) void smma_decode_codes(const smma_decoder *d, size_t length,
                                                                    size_t vectors, const uint32_t *restrict code,
                                                                    float *restrict value, uint8_t *restrict exponent,
                                                                    unsigned char *restrict special) {
  const smma_decoder f = *d;
  const uint32_t least_fields = f.rebias ? 1u << f.fraction_bits : 0; /* those of the least normal number */
  for (size_t i = 0; i < length; i++, code += vectors, value += vectors, exponent += vectors) {
    uint32_t field[SMMA_MOST_VECTORS], not_finite[SMMA_MOST_VECTORS], any = 0;
    for (size_t v = 0; v < vectors; v++) { /* the same operations in every lane, so that compilers vectorise */
      uint32_t x = code[v] >> f.ignored, fields = x & f.fields_mask, exponent_field, bits, small_bits, is_small;
      uint32_t finite = -(uint32_t)((fields <= f.largest) & (x != f.nan));
      float rebiased, small; /* `small` is the magnitude of a subnormal or of zero, if `rebias` is not 0 */
      fields &= finite;
      exponent_field = fields >> f.fraction_bits;
      bits = (fields << (23 - f.fraction_bits)) + f.rebias;
      memcpy(&rebiased, &bits, sizeof rebiased);
      small = rebiased + rebiased - f.least;
      memcpy(&small_bits, &small, sizeof small_bits);
      is_small = -(uint32_t)(fields < least_fields);
      bits = ((small_bits & is_small) | (bits & ~is_small)) & INT32_MAX; /* if the mode rounds down, 1 - 1 is -0 */
      bits |= (x >> f.sign_at & 1) << 31;
      memcpy(value + v, &bits, sizeof bits);
      exponent_field = exponent_field ? exponent_field : 1;
      field[v] = fields ? exponent_field : 0;
      not_finite[v] = ~finite;
      any |= ~finite;
    }
    for (size_t v = 0; v < vectors; v++) exponent[v] = (uint8_t)field[v];
    for (size_t v = 0; any && v < vectors; v++) special[v] |= not_finite[v] & 1;
  }
}

#endif
