/* Packing for families that need no exponents or flags: interleaves the elements of several rows of A, or of several
   columns of B, and converts each to binary32 if the family wants that. The families include this file, so that each
   instruction set has its own compiled copy. */
#ifndef SMMA_GEMM_INTERLEAVE_H
#define SMMA_GEMM_INTERLEAVE_H

#include "gemm/element.h"
#include "gemm/kernel.h"
#include "host/load.h"

enum {
  SMMA_STRIP = 2048, /* encodings that are copied at a time */
  /* Vectors that are copied at a time if each is contiguous along K. This is the usual number of ways of a cache: if
     the leading dimension is a power of two, all vectors compete for the same cache lines. */
  SMMA_STRIP_VECTORS = 8
};

/* Converts an encoding, widened to 32 bits, to binary32. */
typedef uint32_t smma_to_f32(uint32_t code);

/* A matrix of encodings of `bytes` bytes. Element i of vector v (a row of A or a column of B) has the index
   i * step + v * stride. */
typedef struct {
  const void *at;
  size_t bytes, step, stride;
} smma_source;

/* The array to which encodings of `bytes` bytes are copied. Element i of vector v gets the index
   (i ^ swap) * stride + v. */
typedef struct {
  void *at;
  size_t bytes, stride, swap;
} smma_target;

/* Copies `count` elements of each of `vectors` vectors. Each is converted by `to_f32` (then out.bytes is 4) unless that
   is NULL. `to_f32` and many members are constants in the inlined copies. If vectors are interleaved (in.stride is 1),
   the vectors of later calls are prefetched. */
static inline __attribute__((always_inline)) void smma_move(smma_source in, smma_target out, size_t count,
                                                            size_t vectors, smma_to_f32 *to_f32) {
  enum { LINE = 64, AHEAD = 4 };
  for (size_t i = 0; i < count; i++) {
    const unsigned char *row = (const unsigned char *)in.at + i * in.step * in.bytes;
    for (size_t v = 0; in.stride == 1 && v < vectors * in.bytes; v += LINE)
      __builtin_prefetch(row + AHEAD * vectors * in.bytes + v, 0, 2);
    for (size_t v = 0; v < vectors; v++) {
      uint64_t code = smma_load(in.bytes, row, v * in.stride);
      if (to_f32) code = to_f32((uint32_t)code);
      smma_store(out.bytes, out.at, (i ^ out.swap) * out.stride + v, code);
    }
  }
}

/* A strip of a view: lines from `first` on, with `count` elements along K each, starting at index k. */
typedef struct {
  const smma_view *view;
  size_t first, k, count;
} smma_strip;

/* Copies `vectors` lines of the strip from the matrix, as smma_move does. Elements outside the matrix become +0. */
static inline __attribute__((always_inline)) void smma_fetch_strip(const smma_strip *s, size_t bytes, bool along_k,
                                                                   size_t vectors, smma_to_f32 *to_f32,
                                                                   smma_target out) {
  const smma_view *x = s->view;
  size_t width = smma_lines_present(x, s->first, vectors), count = s->k < x->count ? x->count - s->k : 0;
  size_t at = width && count ? smma_element(x, s->first, s->k) : 0;
  smma_source in = {(const unsigned char *)x->data + at * bytes, bytes, along_k ? 1 : x->k_step,
                    along_k ? x->line_step : 1};
  if (width == vectors && count >= s->count) {
    smma_move(in, out, s->count, vectors, to_f32);
    return;
  }
  for (size_t i = 0; i < s->count; i++)
    memset((unsigned char *)out.at + i * out.stride * out.bytes, 0, vectors * out.bytes);
  smma_move(in, out, count < s->count ? count : s->count, width, to_f32);
}

/* Does the same as smma_fetch_strip in two passes, and applies the view's factor: first fetches the encodings and
   scales them, then converts them, so that compilers vectorise the conversion. */
static inline __attribute__((always_inline)) void smma_fetch_in_two(const smma_strip *s, size_t bytes, bool along_k,
                                                                    size_t vectors, smma_to_f32 *to_f32,
                                                                    smma_target out) {
  const smma_view *x = s->view;
  const size_t width = smma_lines_present(x, s->first, vectors);
  uint64_t code[SMMA_STRIP];
  smma_target between = {code, out.bytes, vectors, 0};
  smma_source in = {code, out.bytes, vectors, 1};
  smma_fetch_strip(s, bytes, along_k, vectors, NULL, between);
  if (x->factor != 1)
    for (size_t i = 0; i < s->count && s->k + i < x->count; i++)
      for (size_t v = 0; v < width; v++) {
        uint64_t element = smma_load(out.bytes, code, i * vectors + v);
        smma_store(out.bytes, code, i * vectors + v, smma_scaled(x->format, element, x->factor));
      }
  smma_move(in, out, s->count, vectors, to_f32);
}

/* Packs groups of `width` vectors (4 or a multiple of 8). With `elements` elements in each vector, element i of vector
   group * width + v becomes out[(group * elements + (i ^ swap)) * width + v]. Encodings of `bytes` bytes are converted
   by `to_f32`, or copied if that is NULL, and then have `packed_bytes` bytes. All arguments but `pack` are constants in
   nearly all inlined copies. */
static inline __attribute__((always_inline)) void smma_interleave(const smma_pack *pack, size_t width, size_t bytes,
                                                                  size_t packed_bytes, smma_to_f32 *to_f32,
                                                                  size_t swap) {
  const smma_view *x = pack->view;
  const size_t k = (size_t)pack->multiplier->operation.k, elements = pack->steps * k;
  const bool along_k = smma_is_along_k(x), scaled = x->factor != 1;
  const size_t narrow = width < SMMA_STRIP_VECTORS ? width : SMMA_STRIP_VECTORS;
  const size_t vectors = along_k ? narrow : width, depth = SMMA_STRIP / vectors;
  for (size_t first = 0; first < pack->count; first += vectors)
    for (size_t i = 0; i < elements; i += depth) {
      smma_strip s = {x, pack->first + first, pack->step * k + i, elements - i};
      smma_target out = {pack->out, packed_bytes, width, swap};
      out.at = (unsigned char *)pack->out + ((first / width * elements + i) * width + first % width) * packed_bytes;
      if (s.count > depth) s.count = depth;
      if (along_k && (to_f32 || scaled))
        smma_fetch_in_two(&s, bytes, true, narrow, to_f32, out);
      else if (scaled)
        smma_fetch_in_two(&s, bytes, false, width, to_f32, out);
      else if (along_k)
        smma_fetch_strip(&s, bytes, true, narrow, to_f32, out);
      else
        smma_fetch_strip(&s, bytes, false, width, to_f32, out);
    }
}

#endif
