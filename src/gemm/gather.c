/* Lines of a matrix side by side: what kernels read in the order in which they read it, whatever the caller's order. */
#include "gemm/gather.h"

#include <string.h>

#include "host/load.h"

/* In front of short loops over words that are registers. */
#define UNROLL _Pragma("GCC unroll 8")

/* What is asked for ahead, as it lies too far apart for processors to guess: lines, or elements along K. */
enum { AHEAD = 16, CACHE_LINE = 64 };

/* The part of K from `k` on, and where it goes: element i of the v-th line becomes
   out[(v / panel * depth + i) * panel + v % panel]. */
typedef struct {
  const smma_view *x;
  size_t bytes, line, k, depth, panel;
  unsigned char *out;
} target;

static const unsigned char *source(const target *t, size_t v, size_t i) {
  return (const unsigned char *)t->x->data + smma_element(t->x, t->line + v, t->k + i) * t->bytes;
}

static unsigned char *place(const target *t, size_t v, size_t i) {
  return t->out + ((v / t->panel * t->depth + i) * t->panel + v % t->panel) * t->bytes;
}

static void ask_for(const unsigned char *from, size_t apart, size_t bytes) {
  for (size_t i = 0; i < bytes; i += CACHE_LINE) __builtin_prefetch((const void *)((uintptr_t)from + apart + i));
}

/* The odd parts of x, of `shift` bits each, for the even ones of y; `low` has ones where the even ones are. */
static inline void swap_parts(uint64_t *x, uint64_t *y, uint64_t low, int shift) {
  const uint64_t even = (*x & low) | (*y & low) << shift, odd = (*x >> shift & low) | (*y & ~low);
  *x = even, *y = odd;
}

/* 4 x 4 encodings of 16 bits, or 8 x 8 of 8. */
static inline void transpose_16(uint64_t *x) {
  swap_parts(&x[0], &x[1], UINT64_C(0x0000ffff0000ffff), 16),
      swap_parts(&x[2], &x[3], UINT64_C(0x0000ffff0000ffff), 16);
  swap_parts(&x[0], &x[2], UINT64_C(0x00000000ffffffff), 32),
      swap_parts(&x[1], &x[3], UINT64_C(0x00000000ffffffff), 32);
}

static inline void transpose_8(uint64_t *x) {
  UNROLL for (int i = 0; i < 8; i += 2) swap_parts(&x[i], &x[i + 1], UINT64_C(0x00ff00ff00ff00ff), 8);
  UNROLL for (int i = 0; i < 8; i += 4) UNROLL for (int j = i; j < i + 2; j++)
      swap_parts(&x[j], &x[j + 2], UINT64_C(0x0000ffff0000ffff), 16);
  UNROLL for (int i = 0; i < 4; i++) swap_parts(&x[i], &x[i + 4], UINT64_C(0x00000000ffffffff), 32);
}

/* So many lines from the v-th on as 8 bytes have elements; `count` is a multiple of that, `bytes` the target's. */
static inline __attribute__((always_inline)) void gather_square(const target *t, size_t bytes, size_t v, size_t count) {
  const size_t square = 8 / bytes, apart = t->panel * bytes;
  const unsigned char *from[8];
  unsigned char *out = place(t, v, 0);
  for (size_t x = 0; x < square; x++) {
    from[x] = source(t, v + x, 0);
    ask_for(from[x], AHEAD * t->x->line_step * bytes, count * bytes);
  }
  for (size_t i = 0; i < count * bytes; i += 8, out += square * apart) {
    uint64_t word[8];
    UNROLL for (size_t x = 0; x < square; x++) memcpy(&word[x], from[x] + i, 8);
    if (bytes == 2)
      transpose_16(word);
    else
      transpose_8(word);
    UNROLL for (size_t x = 0; x < square; x++) memcpy(out + x * apart, &word[x], 8);
  }
}

static void gather_squares(const target *t, size_t lines, size_t count) {
  if (t->bytes == 2)
    for (size_t v = 0; v < lines; v += 4) gather_square(t, 2, v, count);
  else
    for (size_t v = 0; v < lines; v += 8) gather_square(t, 1, v, count);
}

static void gather_line(const target *t, size_t v, size_t first, size_t count) {
  const unsigned char *from = source(t, v, 0);
  unsigned char *out = place(t, v, 0);
  for (size_t i = first; i < count; i++) smma_store(t->bytes, out, i * t->panel, smma_load(t->bytes, from, i));
}

/* Lines that lie along K. */
static void gather_along(const target *t, size_t lines, size_t count) {
  const size_t square = 8 / t->bytes;
  const bool squares = t->bytes <= 2 && t->panel % square == 0 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  const size_t whole_lines = squares ? lines / square * square : 0, whole = count / square * square;
  if (whole_lines) gather_squares(t, whole_lines, whole);
  for (size_t v = 0; v < lines; v++) gather_line(t, v, v < whole_lines ? whole : 0, count);
}

/* Lines that lie side by side. */
static void gather_across(const target *t, size_t lines, size_t count) {
  const size_t width = t->panel * t->bytes;
  for (size_t i = 0; i < count; i++) {
    const unsigned char *from = source(t, 0, i);
    unsigned char *out = place(t, 0, i);
    for (size_t left = lines * t->bytes, part; left > 0; left -= part, from += part, out += t->depth * width) {
      part = left < width ? left : width;
      for (size_t done = 0; done < part; done += CACHE_LINE)
        if (part - done >= CACHE_LINE)
          memcpy(out + done, from + done, CACHE_LINE);
        else
          memcpy(out + done, from + done, part - done);
    }
  }
}

smma_view smma_gather(const smma_view *x, size_t line, size_t lines, size_t panel, size_t k, size_t count, void *out) {
  const target t = {x,  smma_container_bytes(smma_encoding_of(x->format)), line, k, smma_gathered_depth(count), panel,
                    out};
  const size_t present = smma_lines_present(x, line, lines), there = x->count - k < count ? x->count - k : count;
  smma_view y = *x;
  y.data = out, y.line_step = 1, y.k_step = panel, y.panel = panel, y.panel_step = t.depth * panel;
  y.line = line, y.k = k;
  if (!present || !there) return y;
  if (smma_is_along_k(x))
    gather_along(&t, present, there);
  else
    gather_across(&t, present, there);
  return y;
}
