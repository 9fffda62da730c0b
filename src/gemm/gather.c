/* Interleaves lines of a matrix, from any order of the caller's to the order that kernels read. */
#include "gemm/gather.h"

#include <string.h>

#include "host/load.h"

/* Unrolls a short loop over an array of vectors, so that it is held in registers. */
#define UNROLL _Pragma("GCC unroll 16")
#define ALWAYS __attribute__((always_inline))
#define SHUFFLE __builtin_shufflevector

enum {
  AHEAD = 16,     /* prefetch distance in lines; these are so far apart that the CPU does not prefetch them by itself */
  CACHE_LINE = 64 /* bytes */
};

/* A request: the lines from `line` on, their elements from index k on, and the panels to which these are copied.
   Element i of the v-th line becomes out[(v / panel * depth + i) * panel + v % panel]; `bytes` is the size of an
   encoding. */
typedef struct {
  const smma_view *x;
  size_t bytes, line, k, depth, panel;
  unsigned char *out;
} target;

static const unsigned char *source(const target *t, size_t v, size_t i) {
  return (const unsigned char *)t->x->data + smma_element(t->x, t->line + v, t->k + i) * t->bytes;
}

static unsigned char *destination(const target *t, size_t v, size_t i) {
  return t->out + ((v / t->panel * t->depth + i) * t->panel + v % t->panel) * t->bytes;
}

static void prefetch(const unsigned char *from, size_t apart, size_t bytes) {
  for (size_t i = 0; i < bytes; i += CACHE_LINE) __builtin_prefetch((const void *)((uintptr_t)from + apart + i));
}

typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint16_t halves __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));
typedef uint64_t longs __attribute__((vector_size(16)));

/* Returns the elements in the lower halves of x and y, interleaved. Elements have `size` bytes. `upper` does the same
   for the upper halves. */
static inline ALWAYS bytes lower(size_t size, bytes x, bytes y) {
  switch (size) {
    case 1: return SHUFFLE(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    case 2: return (bytes)SHUFFLE((halves)x, (halves)y, 0, 8, 1, 9, 2, 10, 3, 11);
    case 4: return (bytes)SHUFFLE((words)x, (words)y, 0, 4, 1, 5);
    default: return (bytes)SHUFFLE((longs)x, (longs)y, 0, 2);
  }
}

static inline ALWAYS bytes upper(size_t size, bytes x, bytes y) {
  switch (size) {
    case 1: return SHUFFLE(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    case 2: return (bytes)SHUFFLE((halves)x, (halves)y, 4, 12, 5, 13, 6, 14, 7, 15);
    case 4: return (bytes)SHUFFLE((words)x, (words)y, 2, 6, 3, 7);
    default: return (bytes)SHUFFLE((longs)x, (longs)y, 1, 3);
  }
}

/* Transposes a square block of `16 / size` lines, each with `16 / size` elements of `size` bytes. The index of an element
   consists of the bits of its line, then those of its position. Each round rotates every index by one bit, so the
   rounds together exchange line and position. */
static inline ALWAYS void transpose(size_t size, bytes *x) {
  const size_t square = sizeof *x / size;
  for (size_t round = 1; round < square; round *= 2) {
    bytes y[sizeof *x];
    UNROLL for (size_t i = 0; i < square / 2; i++) {
      y[2 * i] = lower(size, x[i], x[i + square / 2]);
      y[2 * i + 1] = upper(size, x[i], x[i + square / 2]);
    }
    UNROLL for (size_t i = 0; i < square; i++) x[i] = y[i];
  }
}

/* Copies `16 / size` lines, from line v on, in square blocks that it transposes. `count`, the number of elements of a
   line, is a multiple of `16 / size`. `size` is t->bytes, as a constant. */
static inline ALWAYS void gather_square(const target *t, size_t size, size_t v, size_t count) {
  const size_t square = sizeof(bytes) / size, apart = t->panel * size;
  const unsigned char *from[sizeof(bytes)];
  unsigned char *out = destination(t, v, 0);
  for (size_t x = 0; x < square; x++) {
    from[x] = source(t, v + x, 0);
    prefetch(from[x], AHEAD * t->x->line_step * size, count * size);
  }
  for (size_t i = 0; i < count * size; i += sizeof(bytes), out += square * apart) {
    bytes line[sizeof(bytes)];
    UNROLL for (size_t x = 0; x < square; x++) memcpy(&line[x], from[x] + i, sizeof line[x]);
    transpose(size, line);
    UNROLL for (size_t x = 0; x < square; x++) memcpy(out + x * apart, &line[x], sizeof line[x]);
  }
}

static void gather_squares(const target *t, size_t v, size_t count) {
  switch (t->bytes) {
    case 1: gather_square(t, 1, v, count); break;
    case 2: gather_square(t, 2, v, count); break;
    case 4: gather_square(t, 4, v, count); break;
    default: gather_square(t, 8, v, count); break;
  }
}

/* Copies elements first..count - 1 of line v, one by one. */
static void gather_line(const target *t, size_t v, size_t first, size_t count) {
  const unsigned char *from = source(t, v, 0);
  unsigned char *out = destination(t, v, 0);
  for (size_t i = first; i < count; i++) smma_store(t->bytes, out, i * t->panel, smma_load(t->bytes, from, i));
}

/* Gathers lines that are contiguous along K. */
static void gather_along(const target *t, size_t lines, size_t count) {
  const size_t square = sizeof(bytes) / t->bytes, whole = count / square * square;
  const size_t whole_lines = t->panel % square == 0 ? lines / square * square : 0;
  for (size_t v = 0; v < whole_lines; v += square) gather_squares(t, v, whole);
  for (size_t v = 0; v < lines; v++) gather_line(t, v, v < whole_lines ? whole : 0, count);
}

/* Gathers lines that are interleaved: elements of the same k are contiguous. */
static void gather_across(const target *t, size_t lines, size_t count) {
  const size_t width = t->panel * t->bytes;
  for (size_t i = 0; i < count; i++) {
    const unsigned char *from = source(t, 0, i);
    unsigned char *out = destination(t, 0, i);
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
  const target t = {x, smma_bytes_of(x->format), line, k, smma_gathered_depth(count), panel, out};
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
