/* Small products by T-FDPA, ST-FDPA, TR-FDPA and GTR-FDPA. The usual families would spend most of the time packing
   groups and panels of which only a part is inside the matrix. So panels here are one SIMD vector wide. Exponents are
   added for each product, so that no operands are a special case.

   A packed number has a signed significand below 2 and an exponent that includes its scale factor's. A zero has the
   significand 1 and an exponent so low that its products do not count. A row's numbers follow each other along K;
   columns are interleaved, LANES at a time. Products and sums are as in t_fdpa.h and tr_fdpa.h. */
#ifndef SMMA_GEMM_FAMILY_SMALL_H
#define SMMA_GEMM_FAMILY_SMALL_H

#include "gemm/family/t_fdpa_narrow.h"
#include "gemm/family/tr_fdpa.h"

enum {
  SMALL_WORDS = 2 * LANES, /* words of a panel for each k: significands and exponents */
  SMALL_LINES = 2,         /* up to this many columns are packed one after the other */
  SMALL_LOST = -104,       /* the least exponent by which products are scaled. A product then truncates to 0, and is
                              normal in binary32: that of two subnormals has a significand of at least 2^-20 */
  SMALL_NONE = -1000,      /* the exponent of a zero: its products have no effect */
  SMALL_LEAST = -500       /* the greatest exponent of products that are all zero */
};

static bool small_t_takes(const smma_operation *o) { return t_fdpa_takes(o) || t_fdpa_narrow_takes(o); }

/* Returns the number of words that a row's significands take; its exponents take as many. Both are packed in whole
   vectors. */
static inline size_t small_depth(size_t elements) { return (elements + LANES - 1) / LANES * LANES; }

static size_t small_row_bytes(const smma_operation *o) { return small_depth((size_t)o->k) * 8; }

static size_t small_column_bytes(const smma_operation *o) { return (size_t)o->k * 8; }

/* ---- Packing ---- */

/* LANES decoded numbers; `special` flags lanes that are not finite. */
typedef struct {
  vi significand, exponent;
  unsigned special;
} small_numbers;

/* Decodes LANES encodings. `least` is added to exponent fields (at least 1). */
static inline small_numbers small_decode(const deficit_decoder *d, vi least, vi x) {
  const vi one = vi_set(127 << 23), sign = vi_and(vi_shift_left_by(x, d->to_sign), vi_set(INT32_MIN));
  vm special;
  const vi fields = deficit_fields(d, x, &special), field = vi_shift_down_by(fields, d->fraction_bits);
  const vi fraction = vi_and(vi_shift_left_by(fields, d->to_float), vi_set(0x7fffff));
  const vm zero = vi_equal(fields, vi_set(0)), subnormal = vi_equal(field, vi_set(0));
  const vf hidden = vi_as_float(vi_select(subnormal, one, vi_set(0)));
  const vf magnitude = vf_subtract(vi_as_float(vi_or(fraction, one)), hidden);
  const vi exponent = vi_add(vi_max(field, vi_set(1)), least);
  return (small_numbers){vi_or(vi_select(zero, one, vf_bits(magnitude)), sign),
                         vi_select(zero, vi_set(SMALL_NONE), exponent), vm_bits(special)};
}

/* A line that is packed. */
typedef struct {
  const smma_pack *pack;
  deficit_decoder decoder;
  size_t line;  /* index of the row or column */
  size_t bytes; /* bytes of an encoding */
  int bias;     /* of the format's exponents */
} small_line;

static inline __attribute__((always_inline)) small_line small_line_of(const smma_pack *pack) {
  const smma_format format = pack->view->format;
  return (small_line){.pack = pack,
                      .decoder = deficit_decoder_of(&pack->multiplier->operation, format),
                      .bytes = smma_bytes_of(format),
                      .bias = smma_encoding_of(format).bias};
}

/* Returns the exponent of the scale factor of element k, which is a power of two. If the scale factor is NaN, flags the
   line and returns 0. */
static int small_scale(const small_line *l, size_t k) {
  const smma_multiplier *p = l->pack->multiplier;
  const smma_encoding format = smma_encoding_of(p->operation.scale);
  const uint64_t code = smma_scale_code_at(p, l->pack->of_a, l->line, k / (size_t)p->operation.scale_block);
  if (code <= smma_largest_fields(format)) return (int)code - format.bias;
  l->pack->special[l->line - l->pack->first] = 1;
  return 0;
}

/* Loads `there` encodings along K, which begin at `from`, scaled by the view's factor; the other lanes are +0. `bytes`
   is a constant in the inlined copies. */
static inline __attribute__((always_inline)) vi small_load_as(const small_line *l, size_t bytes,
                                                              const unsigned char *from, size_t there) {
  const smma_view *x = l->pack->view;
  uint32_t code[LANES] = {0};
  if (there == LANES && x->k_step == 1 && x->factor == 1) return deficit_load(&l->decoder, bytes, from);
  for (size_t i = 0; i < there; i++) code[i] = (uint32_t)smma_load(bytes, from, i * x->k_step);
  for (size_t i = 0; i < there && x->factor != 1; i++) code[i] = (uint32_t)smma_scaled(x->format, code[i], x->factor);
  return deficit_load(&l->decoder, 4, (const unsigned char *)code);
}

/* Loads the encodings of LANES elements along K, from index k on, which must be inside the matrix. Elements outside
   are +0. */
static inline vi small_load(const small_line *l, size_t k) {
  const smma_view *x = l->pack->view;
  const size_t there = x->count - k < LANES ? x->count - k : LANES;
  const unsigned char *from = (const unsigned char *)x->data + smma_element(x, l->line, k) * l->bytes;
  switch (l->bytes) {
    case 1: return small_load_as(l, 1, from, there);
    case 2: return small_load_as(l, 2, from, there);
    default: return small_load_as(l, 4, from, there);
  }
}

/* Decodes LANES elements of a line, from the i-th element to pack on. Call it for ascending i: `*scale` holds the
   exponent of the current scale factor. Flags the line if an element is infinite or NaN. */
static inline small_numbers small_next(small_line *l, size_t i, int *scale) {
  const smma_operation *o = &l->pack->multiplier->operation;
  const size_t k = l->pack->step * (size_t)o->k + i;
  small_numbers x;
  if (o->scale_block && i % (size_t)o->scale_block == 0) *scale = small_scale(l, k);
  x = small_decode(&l->decoder, vi_set(*scale - l->bias), small_load(l, k));
  if (x.special) l->pack->special[l->line - l->pack->first] = 1;
  return x;
}

/* Returns how many elements along K of these steps are inside the matrix. Later elements are not packed. */
static inline size_t small_elements(const smma_multiplier *p, size_t step, size_t steps) {
  const size_t k = (size_t)p->operation.k, there = p->a.count - step * k;
  return there < steps * k ? there : steps * k;
}

static void small_pack_rows(const smma_pack *pack) {
  const size_t elements = small_elements(pack->multiplier, pack->step, pack->steps), depth = small_depth(elements);
  const size_t rows = smma_lines_present(pack->view, pack->first, pack->count);
  small_line l = small_line_of(pack);
  for (size_t row = 0; row < rows; row++) {
    int32_t *out = (int32_t *)pack->out + row * 2 * depth;
    int scale = 0;
    l.line = pack->first + row;
    for (size_t i = 0; i < elements; i += LANES) {
      const small_numbers x = small_next(&l, i, &scale);
      vi_store(out + i, x.significand);
      vi_store(out + depth + i, x.exponent);
    }
  }
}

/* Packs columns one after the other, which suits columns that are contiguous along K. */
static void small_pack_lines(small_line *l, size_t columns, size_t elements, int32_t *out) {
  for (size_t column = 0; column < columns; column++) {
    int32_t *at = out + column;
    int scale = 0;
    l->line = l->pack->first + column;
    for (size_t i = 0; i < elements; i += LANES) {
      const small_numbers x = small_next(l, i, &scale);
      int32_t significand[LANES], exponent[LANES];
      vi_store(significand, x.significand);
      vi_store(exponent, x.exponent);
      for (size_t k = 0; k < LANES && i + k < elements; k++, at += SMALL_WORDS)
        at[0] = significand[k], at[LANES] = exponent[k];
    }
  }
}

/* Packs all columns of a panel together. */
static void small_pack_side_by_side(small_line *l, size_t columns, size_t elements, int32_t *out) {
  const smma_operation *o = &l->pack->multiplier->operation;
  smma_fetch f = {l->pack->multiplier, l->pack->view, false, l->pack->first, LANES, l->pack->step, 0, LANES};
  int32_t added[LANES];
  unsigned special = 0;
  vi_store(added, vi_set(-l->bias));
  for (size_t i = 0; i < elements; i += LANES, f.block++) {
    uint32_t code[LANES * LANES];
    smma_fetch_codes(&f, code);
    for (size_t v = 0; o->scale_block && i % (size_t)o->scale_block == 0 && v < columns; v++) {
      l->line = l->pack->first + v;
      added[v] = small_scale(l, l->pack->step * (size_t)o->k + i) - l->bias;
    }
    for (size_t k = 0; k < LANES && i + k < elements; k++, out += SMALL_WORDS) {
      const vi y = deficit_load(&l->decoder, 4, (const unsigned char *)(code + k * LANES));
      const small_numbers x = small_decode(&l->decoder, vi_load(added), y);
      vi_store(out, x.significand);
      vi_store(out + LANES, x.exponent);
      special |= x.special;
    }
  }
  for (size_t v = 0; special; v++, special >>= 1) l->pack->special[v] |= special & 1;
}

static void small_pack_columns(const smma_pack *pack) {
  const size_t elements = small_elements(pack->multiplier, pack->step, pack->steps);
  const size_t columns = smma_lines_present(pack->view, pack->first, LANES);
  small_line l = small_line_of(pack);
  (columns <= SMALL_LINES ? small_pack_lines : small_pack_side_by_side)(&l, columns, elements, pack->out);
}

/* ---- Products ---- */

/* A row and a vector of columns at the first product of a block, and the number of products inside the matrix. */
typedef struct {
  const int32_t *a, *a_exponent, *b;
  int length;
} small_operands;

/* Returns the exponents of product k. */
static inline vi small_exponent(small_operands x, int k) {
  return vi_add(vi_set(x.a_exponent[k]), vi_load(x.b + k * SMALL_WORDS + LANES));
}

/* Returns product k times 2^bits, or a number of magnitude below 1 if it is that small. */
static inline vf small_scaled(small_operands x, int k, vi bits) {
  const vf p = vf_multiply(vi_as_float(vi_set(x.a[k])), vi_as_float(vi_load(x.b + k * SMALL_WORDS)));
  const vi shift = vi_max(vi_add(small_exponent(x, k), bits), vi_set(SMALL_LOST));
  return vi_as_float(vi_add(vf_bits(p), vi_shift_left(shift, 23)));
}

/* Returns the greatest exponents of every `stride`-th product from `first` on. */
static inline vi small_greatest(small_operands x, int first, int stride) {
  vi greatest = vi_set(SMALL_LEAST);
  for (int k = first; k < x.length; k += stride) greatest = vi_max(greatest, small_exponent(x, k));
  return greatest;
}

/* Returns the sum of the terms of every `stride`-th product from `first` on, below `length`: products times 2^bits,
   truncated. */
static inline vi small_sum(small_operands x, int first, int length, int stride, vi bits) {
  vi sum = vi_set(0);
  for (int k = first; k < length; k += stride) sum = vi_add(sum, vf_truncate(small_scaled(x, k, bits)));
  return sum;
}

/* Returns the operands of a row and a block of a run. */
static inline small_operands small_operands_of(const smma_run *r, size_t row, size_t block) {
  const size_t elements = small_elements(r->multiplier, r->step, r->packed_steps), depth = small_depth(elements);
  const size_t length = (size_t)smma_block_of(&r->multiplier->operation), k = block * length;
  const size_t there = k < elements ? elements - k : 0;
  const int32_t *a = (const int32_t *)r->a + row * 2 * depth + k;
  return (small_operands){a, a + depth, (const int32_t *)r->b + k * SMALL_WORDS,
                          (int)(there < length ? there : length)};
}

/* ---- T-FDPA, ST-FDPA ---- */

/* Returns the accumulators after one block; they were c. `cut` is a mask of the bits of a result that rho retains. */
static inline vf small_t_block(const t_fdpa_constants *t, vi cut, small_operands x, vf c) {
  const int half = x.length < T_FDPA_HALF ? x.length : T_FDPA_HALF;
  const vi emax = t_fdpa_greatest(t, c, small_greatest(x, 0, 1));
  const vi bits = vi_subtract(vi_set(t->alignment_bits), emax);
  const vi sum = small_sum(x, 0, half, 1, bits), rest = small_sum(x, half, x.length, 1, bits);
  const vf d = t_fdpa_finish(t, true, sum, rest, emax, c);
  return vi_as_float(vi_and(vf_bits(d), cut));
}

static void small_t_run(const smma_run *r) {
  const smma_operation *o = &r->multiplier->operation;
  const t_fdpa_constants t = t_fdpa_constants_of(o);
  const vi cut = vi_set(o->rule.with.t_fdpa.output == SMMA_E8M13 ? NARROW_CUT : ~0);
  const size_t blocks = deficit_blocks(o);
  float *accumulator = r->accumulator;
  for (size_t row = 0; row < r->rows; row++, accumulator += LANES) {
    vf c = vf_load(accumulator);
    for (size_t block = r->first * blocks; block < r->last * blocks; block++)
      c = small_t_block(&t, cut, small_operands_of(r, row, block), c);
    vf_store(accumulator, c);
  }
}

/* ---- TR-FDPA, GTR-FDPA ---- */

/* Sets t->high and t->low to the greatest magnitudes of positive and of negative products, as binary32 bits, in units
   of 2^(edot - 24). */
static inline void small_tr_extremes(small_operands x, tr_exact *t) {
  const vi bits = vi_subtract(vi_set(24), t->exponent);
  for (int k = 0; k < x.length; k++) {
    const vi p = vf_bits(small_scaled(x, k, bits));
    t->high = vi_max(t->high, p);
    t->low = vi_max(t->low, vi_xor(p, vi_set(INT32_MIN)));
  }
}

/* Returns t and its exponent. In GTR-FDPA t is the sum of the sums of even and of odd k, which are rounded down at 24
   bits below the greater exponent. */
static inline tr_exact small_tr_products(tr_shape s, small_operands x) {
  const vi bits = vi_set(24), even = small_greatest(x, 0, 1 + s.grouped);
  tr_exact t = {even, small_sum(x, 0, x.length, 1 + s.grouped, vi_subtract(bits, even)), vi_set(0), vi_set(0)};
  if (s.grouped) {
    const vi odd = small_greatest(x, 1, 2), sum = small_sum(x, 1, x.length, 2, vi_subtract(bits, odd));
    t.exponent = vi_max(even, odd);
    t.sum = vi_add(vi_shift_down_by(t.sum, vi_subtract(t.exponent, even)),
                   vi_shift_down_by(sum, vi_subtract(t.exponent, odd)));
  }
  return t;
}

/* Returns the accumulators after one block; they were c. */
static inline vf small_tr_block(tr_shape s, vf nan, small_operands x, vf c) {
  const vi exponents = vi_set(255 << 23), field = vi_and(vf_bits(c), exponents);
  tr_exact t = small_tr_products(s, x);
  const vm great = vi_less(vi_set(126), t.exponent), special = vi_equal(field, exponents);
  vf start = c, d;
  if (s.grouped) {
    const vi least = vi_add(t.exponent, vi_set(127 - 25));
    start = vf_select(vi_less(vi_shift_right(field, 23), least), vf_set(0), c);
  }
  d = tr_add_exactly(s, &t, start);
  if (!vm_bits(vm_or(great, special))) return d;
  small_tr_extremes(x, &t);
  return tr_take_infinities(s, &t, c, nan, d);
}

static void small_tr_run(const smma_run *r) {
  const smma_operation *o = &r->multiplier->operation;
  const tr_constants t = tr_constants_of(o);
  const tr_shape s = {smma_block_of(o), o->rule.algorithm == SMMA_GTR_FDPA, true, o->rule.with.tr_fdpa.revision};
  const size_t blocks = deficit_blocks(o);
  float *accumulator = r->accumulator;
  for (size_t row = 0; row < r->rows; row++, accumulator += LANES) {
    vf c = vf_load(accumulator);
    for (size_t block = r->first * blocks; block < r->last * blocks; block++)
      c = small_tr_block(s, t.nan, small_operands_of(r, row, block), c);
    vf_store(accumulator, c);
  }
}

#endif
