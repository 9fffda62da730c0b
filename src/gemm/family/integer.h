/* The family for the algorithm INTEGER. It holds a block of D in registers, with one accumulator for each element.

   A 32-bit lane holds two factors of at most 8 bits, each in 16 bits. One instruction multiplies the factors of two
   lanes and adds the two products; their sum is below 2^17 and exact. For single bits, a xor b = a (1 - 2 b) + 1 b is
   also a sum of two products, so a lane holds only one bit of a or b.

   Sums that wrap are sums modulo 2^32, which do not depend on the order of additions. If sums are clamped, an
   accumulator needs no check if it is so far from the limits that no products of the run can overflow it. Otherwise
   each step is added with a check for overflow. A run has at most 1024 products, each at most 2^16 in magnitude. */
#ifndef SMMA_GEMM_FAMILY_INTEGER_H
#define SMMA_GEMM_FAMILY_INTEGER_H

#include "gemm/family/words.h"
#include "gemm/pack.h"

/* Size of the block of D that registers hold: its rows, its vectors of columns, and the number of all its vectors. Rows
   are packed in groups of INTEGER_ROWS. */
enum { INTEGER_ROWS = REGISTERS < 32 ? 4 : 8, INTEGER_VECTORS = 2, INTEGER_SUMS = INTEGER_ROWS * INTEGER_VECTORS };
enum { INTEGER_COLUMNS = INTEGER_VECTORS * LANES };

static bool integer_is_xor(const smma_operation *o) { return o->rule.with.integer.product == SMMA_PRODUCT_XOR; }

static size_t integer_pairs(const smma_operation *o) { return (size_t)(integer_is_xor(o) ? o->k : o->k / 2); }
static size_t integer_bytes(const smma_operation *o) { return integer_pairs(o) * sizeof(int32_t); }

/* INTEGER in two stages adds groups of eight products in turn to one stage or the other. With xor the packed pairs do
   not have this grouping, so that combination is not accepted. */
static bool integer_takes(const smma_operation *o) {
  return o->rule.algorithm == SMMA_INTEGER && o->k % 2 == 0 && !(integer_is_xor(o) && o->rule.with.integer.two_stages);
}

/* Returns a word with two numbers in its halves. */
static inline int32_t integer_halves(int32_t low, int32_t high) {
  return (int32_t)(((uint32_t)low & 0xffff) | (uint32_t)high << 16);
}

/* Packs one step of `vectors` rows or columns: for each pair of k, one word of each vector. */
static inline __attribute__((always_inline)) void integer_pack_step(const smma_fetch *f, size_t vectors, int32_t *out) {
  const smma_operation *o = &f->multiplier->operation;
  const smma_integer_code format = smma_integer_code_of(f->of_a ? o->a : o->b);
  uint32_t code[SMMA_MOST_PRODUCTS * SMMA_MOST_VECTORS];
  smma_fetch_codes(f, code);
  if (integer_is_xor(o)) {
    for (size_t i = 0; i < integer_pairs(o) * vectors; i++) {
      const int32_t x = smma_integer_value(format, code[i]);
      out[i] = f->of_a ? integer_halves(x, 1) : integer_halves(1 - 2 * x, x);
    }
    return;
  }
  for (size_t pair = 0; pair < integer_pairs(o); pair++) {
#pragma omp simd /* tells compilers that `out` and `code` do not overlap */
    for (size_t v = 0; v < vectors; v++)
      out[pair * vectors + v] = integer_halves(smma_integer_value(format, code[2 * pair * vectors + v]),
                                               smma_integer_value(format, code[(2 * pair + 1) * vectors + v]));
  }
}

/* Packs groups of `vectors` lines, each with all steps. */
static inline __attribute__((always_inline)) void integer_pack(const smma_pack *pack, size_t vectors) {
  const smma_operation *o = &pack->multiplier->operation;
  smma_fetch f = {pack->multiplier, pack->view, pack->of_a, 0, vectors, 0, 0, o->k};
  int32_t *out = pack->out;
  for (size_t first = 0; first < pack->count; first += vectors)
    for (size_t step = 0; step < pack->steps; step++, out += integer_pairs(o) * vectors) {
      f.first = pack->first + first, f.step = pack->step + step;
      integer_pack_step(&f, vectors, out);
    }
}

static void integer_pack_rows(const smma_pack *pack) { integer_pack(pack, INTEGER_ROWS); }
static void integer_pack_columns(const smma_pack *pack) { integer_pack(pack, INTEGER_COLUMNS); }

/* Adds `pairs` pairs of products to each accumulator of the block d, modulo 2^32. Prefetches the next block. */
static void integer_block(const int32_t *a, const int32_t *b, size_t pairs, int32_t *d) {
  vi sum[INTEGER_SUMS];
  UNROLL for (int i = 0; i < INTEGER_SUMS; i++) {
    sum[i] = vi_load(d + i * LANES);
    __builtin_prefetch(d + (i + INTEGER_SUMS) * LANES);
  }
  for (; pairs > 0; pairs--, a += INTEGER_ROWS, b += INTEGER_COLUMNS) {
    vi y[INTEGER_VECTORS];
    UNROLL for (int v = 0; v < INTEGER_VECTORS; v++) y[v] = vi_load(b + v * LANES);
    UNROLL for (int i = 0; i < INTEGER_SUMS; i++) sum[i] =
        vi_dot2(sum[i], vi_set(a[i / INTEGER_VECTORS]), y[i % INTEGER_VECTORS]);
  }
  UNROLL for (int i = 0; i < INTEGER_SUMS; i++) vi_store(d + i * LANES, sum[i]);
}

/* The stage of an operation that has only one. */
enum { INTEGER_ALL_STAGES = -1 };

/* Adds one step of products, clamped, to each accumulator of the block d: all products, or the even (`stage` 0) or odd
   (`stage` 1) groups of eight. If a sum wraps, it becomes the end of the range that has the accumulator's sign. */
static __attribute__((noinline)) void integer_clamped_step(const int32_t *a, const int32_t *b, size_t pairs, int stage,
                                                           int32_t *d) {
  for (int i = 0; i < INTEGER_SUMS; i++) {
    const vi before = vi_load(d + i * LANES);
    const vi end = vi_xor(vi_shift_down_by(before, vi_set(31)), vi_set(INT32_MAX));
    vi step = vi_set(0), sum;
    for (size_t pair = 0; pair < pairs; pair++)
      if (stage == INTEGER_ALL_STAGES || (int)(pair / 4 % 2) == stage)
        step = vi_dot2(step, vi_set(a[pair * INTEGER_ROWS + (size_t)i / INTEGER_VECTORS]),
                       vi_load(b + pair * INTEGER_COLUMNS + i % INTEGER_VECTORS * LANES));
    sum = vi_add(before, step);
    vi_store(d + i * LANES, vi_select(vi_less(vi_overflow(sum, before, step), vi_set(0)), end, sum));
  }
}

/* Reports whether adding `products` products could take an accumulator of the block out of range. */
static bool integer_needs_care(const int32_t *d, size_t products) {
  const int32_t room = INT32_MAX - ((int32_t)products << 16);
  vm far = vi_less(vi_set(0), vi_set(0)); /* no lane is set */
  UNROLL for (int i = 0; i < INTEGER_SUMS; i++) {
    const vi x = vi_load(d + i * LANES);
    far = vm_or(far, vm_or(vi_less(vi_set(room), x), vi_less(x, vi_set(-room))));
  }
  return vm_bits(far) != 0;
}

static void integer_run(const smma_run *r) {
  const smma_operation *o = &r->multiplier->operation;
  const int first = o->rule.with.integer.two_stages ? 0 : INTEGER_ALL_STAGES, last = first == 0 ? 1 : first;
  const bool clamps = o->rule.with.integer.overflow == SMMA_INTEGER_SATURATES;
  const size_t pairs = integer_pairs(o), steps = r->last - r->first, packed = r->packed_steps * pairs;
  const int32_t *b = (const int32_t *)r->b + r->first * pairs * INTEGER_COLUMNS;
  for (size_t i = 0; i < r->rows; i += INTEGER_ROWS) {
    const int32_t *a = (const int32_t *)r->a + i * packed + r->first * pairs * INTEGER_ROWS;
    int32_t *d = (int32_t *)r->accumulator + i * INTEGER_COLUMNS;
    if (clamps && integer_needs_care(d, steps * (size_t)o->k))
      for (size_t step = 0; step < steps; step++)
        for (int stage = first; stage <= last; stage++)
          integer_clamped_step(a + step * pairs * INTEGER_ROWS, b + step * pairs * INTEGER_COLUMNS, pairs, stage, d);
    else
      integer_block(a, b, steps * pairs, d);
  }
}

#endif
