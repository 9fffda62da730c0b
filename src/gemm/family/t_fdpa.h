/* T-FDPA with F of 23 to 25, ST-FDPA, and the blocks of FP8 through FP16: one truncation a product.

   A product p = a b is exact in binary32: significands have at most 11 bits. Its term, p at F bits below emax, is the
   integer trunc(p 2^(F - emax)), found by adding to the exponent field and converting. Rows hold values so scaled that
   what is added is `top` minus emax, where top is 32 above the exponent of a product without deficit: it is positive
   wherever c is not out of all proportion, and a product that is zero becomes a number below one. 16 terms add up in 32
   bits, together with that of c unless the row's significands are great; sums of 32 are found by their sign where they
   do not.

   Where every product is zero, so are the terms, and c is the result, if it is not below what 2^(F - emax) can be.

   Rows take one of two ways: t_fdpa_rows, which is fast and right for usual operands, and t_fdpa_row_with_care, which
   hands to the core what leaves [LEAST, GREATEST], within which nothing here overflows or is subnormal. */
#ifndef SMMA_GEMM_FAMILY_T_FDPA_H
#define SMMA_GEMM_FAMILY_T_FDPA_H

#include <float.h>

#include "gemm/family/deficits.h"

enum {
  T_FDPA_LEAST = -100,
  T_FDPA_GREATEST = 120,
  T_FDPA_HEADROOM = 32,
  T_FDPA_ZERO_SPAN = 63, /* c is right where products are zero, down to so many binades below deficit_top */
  T_FDPA_HALF = 16,      /* products whose terms add up in 32 bits */
  F16_LEAST = -14
};

static bool t_fdpa_takes(const smma_operation *o) {
  const smma_t_fdpa *p = &o->rule.with.t_fdpa;
  const int length = smma_block_of(o);
  switch (o->rule.algorithm) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA: break;
    default: return false;
  }
  if (p->alignment_bits < 23 || p->alignment_bits > 25) return false;
  if (length == 32) return smma_encoding_of(o->a).bits <= 8 && smma_encoding_of(o->b).bits <= 8;
  return length == 4 || length == 8 || length == 16;
}

/* What does not change within a run. */
typedef struct {
  int length;         /* of a block */
  int top;            /* of a product without deficit and bases, plus HEADROOM, biased as in binary32 */
  int alignment_bits; /* F */
  int least;          /* biased: below, the core computes */
  float most_weight;  /* a row's sum of significands with which the terms of its block may leave 32 bits */
  bool based, wide, to_half;
} t_fdpa_constants;

static t_fdpa_constants t_fdpa_constants_of(const smma_operation *o) {
  const smma_t_fdpa *p = &o->rule.with.t_fdpa;
  t_fdpa_constants t;
  t.length = smma_block_of(o);
  t.top = 127 + T_FDPA_HEADROOM + deficit_top(o);
  t.alignment_bits = p->alignment_bits;
  t.least = 127 + (p->zero_exponent > T_FDPA_LEAST ? p->zero_exponent : T_FDPA_LEAST);
  /* Terms are below 2 2^F times a significand of the row, and that of c is below 2 2^F. Halves of longer blocks have 16
     terms of 4-bit significands, below 3.6 2^F. */
  t.most_weight = t.length > T_FDPA_HALF ? FLT_MAX : smma_power_of_two(30 - p->alignment_bits) - 1;
  t.wide = deficit_is_wide(o);
  t.based = t.wide || o->scale_block;
  t.to_half = p->output == SMMA_F16;
  return t;
}

static void t_fdpa_pack_rows(const smma_pack *pack) {
  const t_fdpa_constants t = t_fdpa_constants_of(&pack->plan->operation);
  deficit_pack_rows(pack, smma_power_of_two(t.alignment_bits - (t.top - 127)));
}

static void t_fdpa_pack_columns(const smma_pack *pack) { deficit_pack_columns(pack, false); }

/* The exponent field of c; with F16, that which it has in FP16, whose subnormals are normal in binary32; 0 for zero. */
static inline vi t_fdpa_exponent(bool to_half, vf c, vi exponents) {
  vi exponent = vi_and(vf_bits(c), exponents);
  if (!to_half) return exponent;
  return vi_select(vi_equal(exponent, vi_set(0)), exponent, vi_max(exponent, vi_set((127 + F16_LEAST) << 23)));
}

/* d is a sum rounded toward zero; where bits were cut, its last one is set. */
static inline vf t_fdpa_remember_cut(vf d, vi sum) {
  vm exact = vi_equal(vf_truncate(d), sum);
  return vi_as_float(vi_select(exact, vf_bits(d), vi_or(vf_bits(d), vi_set(1))));
}

/* One row, one panel, one block of any operands: a lane that this cannot compute goes to the core. */
static __attribute__((noinline)) void t_fdpa_row_with_care(const smma_run *r, const t_fdpa_constants *t,
                                                           const unsigned char *a, const unsigned char *b, size_t row,
                                                           size_t block, float *accumulator) {
  const int length = t->length;
  const float *column_value = (const float *)b;
  const vb least = deficit_compare_row(t->length, false, a, b).of[0], zeros = deficit_compare_zeros(t->length, a, b);
  const int F = t->alignment_bits;
  for (int v = 0; v < 4; v++) {
    const vb picker = vb_picker(v);
    const vf c = vf_load(accumulator + v * LANES);
    const vi bases = vi_add(vi_set(deficit_row_base(length, a)), vi_load(deficit_column_bases(length, b) + v * LANES));
    const vi top = vi_add(vi_set(t->top), bases), deficit = vi_shift_right(vb_pick(least, v, picker), 22);
    const vi c_exponent = vi_shift_right(t_fdpa_exponent(t->to_half, c, vi_set(255 << 23)), 23);
    const vm zero = vi_has(vb_pick(zeros, v, picker), vi_set(1 << 22));
    vi exponent = vi_subtract(vi_subtract(top, vi_set(T_FDPA_HEADROOM)), vi_shift_right(deficit, 1)), emax, scale;
    vi sum[2] = {vi_set(0), vi_set(0)}, total;
    vm rare;
    vf d;
    emax = vi_max(vi_select(zero, c_exponent, exponent), c_exponent);
    rare = vi_less(emax, vi_set(t->least));
    if (t->wide) rare = vm_or(rare, vi_less(vi_set(DEFICIT_CERTAIN), deficit));
    rare = vm_or(vm_and_not(rare, zero), vi_less(vi_set(127 + T_FDPA_GREATEST), emax));
    /* Where it is not positive, emax is so far above the products that their terms are 0. */
    scale = vi_max(vi_add(vi_subtract(top, emax), vi_set(127)), vi_set(0));
    for (int k = 0; k < length; k++) {
      vf x = vi_as_float(vi_set((int32_t)*deficit_row_word(a, k)));
      vf p = vf_multiply(x, vf_load(column_value + (k * 4 + v) * LANES));
      vi term = vf_truncate(vf_multiply(p, vi_as_float(vi_shift_left(scale, 23))));
      sum[k / T_FDPA_HALF] = vi_add(sum[k / T_FDPA_HALF], term);
    }
    scale = vi_shift_left(vi_subtract(vi_set(254 + F), emax), 23);
    sum[1] = vi_add(sum[1], vf_truncate(vf_multiply(c, vi_as_float(scale))));
    total = vi_add(sum[0], sum[1]);
    rare = vm_or(rare, vi_less(vi_overflow(total, sum[0], sum[1]), vi_set(0)));
    d = vi_to_float(total);
    if (t->to_half) d = t_fdpa_remember_cut(d, total);
    d = vf_multiply(d, vi_as_float(vi_subtract(vi_set(254 << 23), scale)));
    if (t->to_half) d = vf_round_to_half(d);
    vf_store(accumulator + v * LANES, vf_add_where(zero, c, vf_set(0), d));
    if (vm_bits(rare)) {
      float start[LANES];
      vf_store(start, c);
      smma_compute_lanes(r, row, (size_t)v * LANES, block, vm_bits(rare), start, accumulator + v * LANES);
    }
  }
}

/* Constants as vectors, which loops over rows keep in registers because compilers cannot look through them. */
typedef struct {
  vi top, exponents; /* as exponent fields, like: */
  vi scale, one;     /* 2^(F - emax) is scale - top + what is added to products; 2^(emax - F) is one - that */
  vi most;           /* what is added where emax is t_fdpa_constants.least */
  vb picker[4], certain, zero;
} t_fdpa_words;

static inline t_fdpa_words t_fdpa_words_of(const t_fdpa_constants *t) {
  t_fdpa_words w;
  w.top = vi_keep(vi_set((int32_t)((uint32_t)t->top << 23)));
  w.exponents = vi_keep(vi_set(255 << 23));
  w.scale = vi_keep(vi_set((int32_t)((uint32_t)(254 + t->alignment_bits) << 23)));
  w.one = vi_keep(vi_set(254 << 23));
  w.most = vi_keep(vi_set((t->top - t->least) << 23));
  for (int v = 0; v < 4; v++) w.picker[v] = vb_keep(vb_picker(v));
  w.certain = vb_keep(vb_repeat(DEFICIT_CERTAIN * 0x01010101));
  w.zero = vb_keep(vb_repeat(DEFICIT_ZERO * 0x01010101));
  return w;
}

/* sum += the terms of products first..last - 1; `shift` is added to exponent fields. */
static inline __attribute__((always_inline)) void t_fdpa_add(int first, int last, const unsigned char *a,
                                                             const unsigned char *b, const vi shift[4], vi sum[4]) {
  const float *column_value = (const float *)b;
  UNROLL for (int k = first; k < last; k++) {
    vf x = vi_as_float(vi_set((int32_t)*deficit_row_word(a, k)));
    UNROLL for (int v = 0; v < 4; v++) {
      vf p = vf_multiply(x, vf_load(column_value + (k * 4 + v) * LANES));
      sum[v] = vi_keep(vi_add(sum[v], vf_truncate(vi_as_float(vi_add(vf_bits(p), shift[v])))));
    }
  }
}

/* One row of four vectors of columns, on its way through a block of usual operands. */
typedef struct {
  vi shift[4], top[4], sum[4], rest[4], care; /* rest: of the products from T_FDPA_HALF on, and c */
} t_fdpa_row;

/* `length`, `based` (there are bases) and `to_half` (rho is RNE-FP16) are constants where these are inlined. */
static inline __attribute__((always_inline)) t_fdpa_row t_fdpa_begin(const t_fdpa_words *w, int length, bool based,
                                                                     bool to_half, const unsigned char *a,
                                                                     const unsigned char *b, vb least,
                                                                     const float *accumulator) {
  const vi headroom = vi_set(T_FDPA_HEADROOM << 23);
  t_fdpa_row x;
  x.care = vi_set(0);
  UNROLL for (int v = 0; v < 4; v++) {
    vi room;
    x.top[v] = w->top;
    if (based) {
      vi base = vi_shift_left(vi_load(deficit_column_bases(length, b) + v * LANES), 23);
      x.top[v] = vi_add(x.top[v], vi_add(vi_set(deficit_row_base_field(length, a)), base));
    }
    room = vi_subtract(x.top[v], t_fdpa_exponent(to_half, vf_load(accumulator + v * LANES), w->exponents));
    x.care = vi_or(x.care, room);
    x.shift[v] = vi_min(vi_add(vb_pick(least, v, w->picker[v]), headroom), room);
    if (to_half) x.care = vi_or(x.care, vi_subtract(w->most, x.shift[v]));
    x.sum[v] = x.rest[v] = vi_set(0);
  }
  return x;
}

static inline __attribute__((always_inline)) void t_fdpa_end(const t_fdpa_words *w, int length, bool to_half,
                                                             t_fdpa_row *x, const float *accumulator, vf d[4]) {
  vi scale[4], total[4];
  UNROLL for (int v = 0; v < 4; v++) {
    vf c = vf_load(accumulator + v * LANES);
    scale[v] = vi_add(x->shift[v], vi_subtract(w->scale, x->top[v]));
    x->rest[v] = vi_add(x->rest[v], vf_truncate(vf_multiply(c, vi_as_float(scale[v]))));
  }
  UNROLL for (int v = 0; v < 4; v++) {
    total[v] = vi_add(x->sum[v], x->rest[v]);
    if (length > T_FDPA_HALF) x->care = vi_or(x->care, vi_overflow(total[v], x->sum[v], x->rest[v]));
    d[v] = vi_to_float(total[v]);
    if (to_half) d[v] = t_fdpa_remember_cut(d[v], total[v]);
    d[v] = vf_multiply(d[v], vi_as_float(vi_subtract(w->one, scale[v])));
    if (to_half) d[v] = vf_round_to_half(d[v]);
  }
}

/* `count` rows, at most ROWS, one panel, one block of usual operands; false, and nothing done, where a c or a sum is
   too great. */
static inline __attribute__((always_inline)) bool t_fdpa_rows(const t_fdpa_words *w, int count, int length, bool based,
                                                              bool to_half, const unsigned char *a,
                                                              const unsigned char *b, const vb *least,
                                                              float *accumulator) {
  t_fdpa_row x[ROWS];
  vf d[ROWS][4];
  vi care = vi_set(0);
  UNROLL for (int i = 0; i < count; i++) {
    x[i] = t_fdpa_begin(w, length, based, to_half, a + i * 4, b, least[i], accumulator + i * PANEL);
    care = vi_or(care, x[i].care);
  }
  if (vi_any_negative(care)) return false;
  UNROLL for (int i = 0; i < count; i++) {
    t_fdpa_add(0, length < T_FDPA_HALF ? length : T_FDPA_HALF, a + i * 4, b, x[i].shift, x[i].sum);
    t_fdpa_add(T_FDPA_HALF, length, a + i * 4, b, x[i].shift, x[i].rest);
  }
  UNROLL for (int i = 0; i < count; i++) {
    t_fdpa_end(w, length, to_half, &x[i], accumulator + i * PANEL, d[i]);
    care = vi_or(care, x[i].care);
  }
  if (length > T_FDPA_HALF && vi_any_negative(care)) return false;
  UNROLL for (int i = 0; i < count; i++) UNROLL for (int v = 0; v < 4; v++)
      vf_store(accumulator + i * PANEL + v * LANES, d[i][v]);
  return true;
}

/* Where c is not zero, but below what may be added to products that are all zero, whose greatest bases are `bases`. */
static inline vm t_fdpa_is_low(const t_fdpa_constants *t, int bases, vf c) {
  const int least = t->top - T_FDPA_HEADROOM - T_FDPA_ZERO_SPAN + bases;
  const vi magnitude = vi_and(vf_bits(c), vi_set(INT32_MAX));
  return vm_and(vi_less(vi_set(0), magnitude), vi_less(magnitude, vi_set(least << 23)));
}

static inline bool t_fdpa_has_low_c(const t_fdpa_constants *t, int bases, const float *c) {
  unsigned low = 0;
  for (int v = 0; v < 4; v++) low |= vm_bits(t_fdpa_is_low(t, bases, vf_load(c + v * LANES)));
  return low != 0;
}

/* Whether t_fdpa_rows may compute a row but for what it finds itself. `range` is that of the columns' bases. */
static inline bool t_fdpa_is_usual(const t_fdpa_constants *t, const t_fdpa_words *w, const unsigned char *a,
                                   const int32_t range[2], vb least, const float *c) {
  const int base = deficit_row_base(t->length, a);
  const int top = t->top - T_FDPA_HEADROOM - 127 + base;
  if (deficit_row_weight(t->length, a) > t->most_weight) return false;
  if (t->based && (top + range[0] < T_FDPA_LEAST + DEFICIT_MOST || top + range[1] > T_FDPA_GREATEST - T_FDPA_HEADROOM))
    return false;
  return !vb_any_less(w->certain, least) || (!t->wide && !t_fdpa_has_low_c(t, base + range[1], c));
}

/* One block of at most DEFICIT_CHUNK rows, whose accumulators stay in the first cache from block to block. */
static inline __attribute__((always_inline)) void t_fdpa_block(const smma_run *r, const t_fdpa_constants *t,
                                                               const t_fdpa_words *w, int length, bool based,
                                                               bool to_half, size_t first, size_t rows, size_t block,
                                                               float *accumulator) {
  const size_t row_bytes = deficit_row_block((size_t)length);
  const int count = based ? 1 : ROWS; /* as many as registers hold */
  const unsigned char *a = (const unsigned char *)r->a + (block * r->packed_rows + first) * row_bytes;
  const unsigned char *b = (const unsigned char *)r->b + block * PANEL * deficit_column_block((size_t)length);
  const int32_t *range = deficit_column_bases(length, b) + PANEL;
  deficit_chunk least;
  deficit_compare_rows(length, false, (const unsigned char *)deficit_row_word(a, length), row_bytes,
                       b + (size_t)length * 4 * PANEL, rows, &least);
  for (size_t row = 0; row < rows; row += (size_t)count, accumulator += count * PANEL) {
    const unsigned char *of_row = deficit_row(a, row_bytes, row);
    bool usual = true;
    vb x[ROWS];
    UNROLL for (int i = 0; i < count; i++) {
      x[i] = vb_min(vb_load(least.of[0][row + i]), w->zero);
      usual &= t_fdpa_is_usual(t, w, of_row + i * 4, range, x[i], accumulator + i * PANEL);
    }
    if (usual && t_fdpa_rows(w, count, length, based, to_half, of_row, b, x, accumulator)) continue;
    for (int i = 0; i < count; i++)
      t_fdpa_row_with_care(r, t, of_row + i * 4, b, first + row + i, block, accumulator + i * PANEL);
  }
}

static inline __attribute__((always_inline)) void t_fdpa_panel(const smma_run *r, int length, bool based,
                                                               bool to_half) {
  const t_fdpa_constants t = t_fdpa_constants_of(&r->plan->operation);
  const t_fdpa_words w = t_fdpa_words_of(&t);
  const size_t blocks = deficit_blocks(&r->plan->operation);
  for (size_t row = 0; row < r->rows; row += DEFICIT_CHUNK) {
    const size_t rows = deficit_chunk_rows(r, row);
    for (size_t block = r->first * blocks; block < r->last * blocks; block++)
      t_fdpa_block(r, &t, &w, length, based, to_half, row, rows, block, (float *)r->accumulator + row * PANEL);
  }
}

/* One function for each shape, not all in one: compilers allocate registers to each by itself. */
#define T_FDPA_SHAPE(NAME, LENGTH, BASED, TO_HALF) \
  static void NAME(const smma_run *r) { t_fdpa_panel(r, LENGTH, BASED, TO_HALF); }
T_FDPA_SHAPE(t_fdpa_run_4, 4, false, false)
T_FDPA_SHAPE(t_fdpa_run_8, 8, false, false)
T_FDPA_SHAPE(t_fdpa_run_16, 16, false, false)
T_FDPA_SHAPE(t_fdpa_run_32, 32, false, false)
T_FDPA_SHAPE(t_fdpa_run_based_4, 4, true, false)
T_FDPA_SHAPE(t_fdpa_run_based_8, 8, true, false)
T_FDPA_SHAPE(t_fdpa_run_based_16, 16, true, false)
T_FDPA_SHAPE(t_fdpa_run_based_32, 32, true, false)
T_FDPA_SHAPE(t_fdpa_run_to_half_4, 4, false, true)
T_FDPA_SHAPE(t_fdpa_run_to_half_8, 8, false, true)
T_FDPA_SHAPE(t_fdpa_run_to_half_16, 16, false, true)
T_FDPA_SHAPE(t_fdpa_run_to_half_32, 32, false, true)

static void t_fdpa_run(const smma_run *r) {
  static void (*const run[3][4])(const smma_run *) = {
      {t_fdpa_run_4, t_fdpa_run_8, t_fdpa_run_16, t_fdpa_run_32},
      {t_fdpa_run_based_4, t_fdpa_run_based_8, t_fdpa_run_based_16, t_fdpa_run_based_32},
      {t_fdpa_run_to_half_4, t_fdpa_run_to_half_8, t_fdpa_run_to_half_16, t_fdpa_run_to_half_32},
  };
  const t_fdpa_constants t = t_fdpa_constants_of(&r->plan->operation);
  run[t.based ? 1 : t.to_half ? 2 : 0][t.length == 4 ? 0 : t.length == 8 ? 1 : t.length == 16 ? 2 : 3](r);
}

static const smma_kernel_family t_fdpa_family = {
    t_fdpa_takes,        PANEL,      deficit_row_bytes,    deficit_column_bytes, t_fdpa_pack_rows,
    t_fdpa_pack_columns, t_fdpa_run, SMMA_MODE_TOWARD_ZERO};

#endif
