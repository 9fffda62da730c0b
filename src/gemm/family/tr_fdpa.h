/* TR-FDPA and GTR-FDPA with F = 24 and F2 = 31 (CDNA 3): truncated products, then an addition that rounds down.

   Names are those of docs/algorithms: t is the sum of the products, truncated at 24 bits below their greatest exponent
   edot; E is the greater of edot and the exponent of c. A product a b is exact in binary32. Its term
   trunc(a b 2^(24 - edot)) is computed by adding to the exponent field and converting. The sum of 16 terms stays below
   3.6 * 2^28 in magnitude, that of 8 terms below 2^29.

   E, edot and G, and their bounds and those of bases, are exponents as exponent fields give them. A subnormal is
   smaller than its field says, so upper bounds hold for it, too. A product that is far below edot or vanishes has a
   zero term whatever its sign, because terms are truncated.

   All later values are in units of 2^(G - 29), where G is the greater of E and edot + 5.
   - G = edot + 5: the unit is that of t, so t is exact. c is exact, too, unless its exponent is below edot, where the
     rule rounds it down to this same unit. The sum is below 2^31 units, so both roundings of the model leave it
     unchanged.
   - G > edot + 5: c is an integer of at least 2^29 and below 2^30 units, and exact. The rule rounds t down at 32 bits
     below E and then (revision 2) the sum to 32 significant bits. So of the bits of t below the unit it retains three
     if the sum is below 2^29 units, two below 2^30, else one. tr_take_note finds whether one of them is set: it reads
     the part of t below the unit as a 32-bit fraction, whose retained bits have higher positions than the leading bit
     of the sum (GTR: at most three). Revision 1 rounds t down at 31 bits below E and retains two. It only matters
     whether the retained bits are zero: t is less than half of c, so the sum has at least 27 bits, and a bit of it
     below the rounding position serves as sticky bit.
   The sum is converted to binary32 (RNE) and scaled back. deficits_compare.h explains how exponents are compared.

   The result is c itself if all products are zero, and if c is infinite or NaN, which can happen within a run. If a
   row's exponents do not fit bytes or fields of binary32 (in BF16 and XF32), it is computed from integer exponents. */
#ifndef SMMA_GEMM_FAMILY_TR_FDPA_H
#define SMMA_GEMM_FAMILY_TR_FDPA_H

#include <math.h>

#include "gemm/family/deficits_compare.h"

enum {
  TR_HEADROOM = 5,            /* G is at least edot plus this */
  TR_UNIT = 24 + TR_HEADROOM, /* the unit is 2^(G - TR_UNIT) */
  TR_LEAST = -97,             /* least G for which the unit 2^(G - 29) is a normal number */
  TR_CALM = 120,              /* bounds accumulators' exponents: below 2^120 they stay finite within a run */
  TR_LEAST_BASE = -40,        /* least base of a row plus a column: with a deficit of 62, G is not below TR_LEAST */
  TR_GREATEST_BASE = 110,     /* greatest base of a row plus a column: a run's products add up to less than 2^TR_CALM */
  TR_LONGEST = 64,            /* most products in a block of formats with 8 exponent bits; bulk.h uses it, too */
  TR_NONE = -1000             /* exponent of a zero: its sum with any exponent is below the exponent of every product */
};

/* Parameters that are constants in the inlined code. */
typedef struct {
  int length;
  bool grouped, wide; /* grouped: GTR-FDPA; wide: formats with 8 exponent bits */
  int revision;
} tr_shape;

/* Values that are computed once for a run. */
typedef struct {
  int top; /* binary32 exponent field of 2^(edot + 5), if the deficit and both bases are 0 */
  vf nan;
} tr_constants;

static inline bool tr_fdpa_takes(const smma_operation *o) {
  const smma_tr_fdpa *p = &o->rule.with.tr_fdpa;
  const int length = smma_block_of(o);
  switch (o->rule.algorithm) {
    case SMMA_TR_FDPA: return p->alignment_bits == 24 && p->sum_bits == 31 && (length == 8 || length == 4);
    case SMMA_GTR_FDPA: return p->alignment_bits == 24 && p->sum_bits == 31 && length == 16 && !deficit_is_wide(o);
    default: return false;
  }
}

static tr_constants tr_constants_of(const smma_operation *o) {
  const uint64_t nan = smma_nan_of(smma_encoding_of(SMMA_F32), o->rule.nan);
  return (tr_constants){127 + TR_HEADROOM + deficit_top(o), vi_as_float(vi_set((int32_t)nan))};
}

static inline void tr_pack_rows(const smma_pack *pack) {
  deficit_pack_rows(pack, smma_power_of_two(24 - deficit_top(&pack->multiplier->operation)));
}

static inline void tr_pack_columns(const smma_pack *pack) { deficit_pack_columns(pack, true); }

/* Constants as vectors. Loops over rows hold them in registers, because compilers cannot see their values. */
typedef struct {
  vi top[4];      /* exponent fields of 2^(edot + 5) if the deficit is 0, for four vectors of columns */
  vi exponents;   /* the mask of an exponent field */
  vi scale, unit; /* with G as a field, the field of 2^(29 - G) is scale - G, that of 2^(G - 29) is G + unit */
  vi word, one;   /* 32 and 1 */
  vb picker[4];   /* for vb_pick */
  vb certain;     /* DEFICIT_CERTAIN in all bytes */
} tr_words;

/* Returns the constants for columns that have this base. */
static inline tr_words tr_words_of(const tr_constants *t, int base) {
  tr_words w;
  w.top[0] = vi_keep(vi_set((int32_t)((uint32_t)(t->top + base) << 23)));
  w.top[1] = w.top[2] = w.top[3] = w.top[0];
  w.exponents = vi_keep(vi_set(255 << 23));
  w.scale = vi_keep(vi_set((int32_t)((254u + TR_UNIT) << 23)));
  w.unit = vi_keep(vi_set(-(TR_UNIT << 23)));
  w.word = vi_keep(vi_set(32));
  w.one = vi_keep(vi_set(1));
  for (int v = 0; v < 4; v++) w.picker[v] = vb_keep(vb_picker(v));
  w.certain = vb_keep(vb_repeat(DEFICIT_CERTAIN * 0x01010101));
  return w;
}

/* For one row and four vectors of columns: t, the deficit of edot, and the exponent field of 2^(edot + 5). */
typedef struct {
  vi sum[4], deficit[4], top[4];
} tr_sums;

/* Returns the sums of the terms of every `stride`-th product from `first` on, below `length`. The term of a zero
   product is 0: scaling takes the product to a number below one half. */
static inline __attribute__((always_inline)) tr_sums tr_sum(const tr_words *w, int first, int length, int stride,
                                                            const unsigned char *a, const unsigned char *b, vb least) {
  const float *column_value = (const float *)b;
  tr_sums r;
  UNROLL for (int v = 0; v < 4; v++) r.deficit[v] = vb_pick(least, v, w->picker[v]), r.sum[v] = vi_set(0);
  UNROLL for (int k = first; k < length; k += stride) {
    vf x = vi_as_float(vi_set((int32_t)*deficit_row_word(a, k)));
    vi term[4];
    UNROLL for (int v = 0; v < 4; v++) term[v] =
        in_order(vf_bits(vf_multiply(x, vf_load(column_value + (k * 4 + v) * LANES))));
    UNROLL for (int v = 0; v < 4; v++) term[v] = in_order(vi_add(term[v], r.deficit[v]));
    UNROLL for (int v = 0; v < 4; v++) term[v] = in_order(vf_truncate(vi_as_float(term[v])));
    UNROLL for (int v = 0; v < 4; v++) r.sum[v] = k == first ? term[v] : vi_keep(vi_add(r.sum[v], term[v]));
  }
  UNROLL for (int v = 0; v < 4; v++) r.top[v] = vi_subtract(w->top[v], r.deficit[v]);
  return r;
}

/* Returns the sums of the sums of even and of odd k, which are rounded down at 24 bits below the greater exponent. */
static inline __attribute__((always_inline)) tr_sums tr_join(const tr_words *w, tr_sums even, tr_sums odd) {
  tr_sums r;
  UNROLL for (int v = 0; v < 4; v++) {
    r.deficit[v] = vi_min(even.deficit[v], odd.deficit[v]);
    even.sum[v] = vi_shift_down_by(even.sum[v], vi_shift_right(vi_subtract(even.deficit[v], r.deficit[v]), 23));
    odd.sum[v] = vi_shift_down_by(odd.sum[v], vi_shift_right(vi_subtract(odd.deficit[v], r.deficit[v]), 23));
    r.sum[v] = vi_add(even.sum[v], odd.sum[v]);
    r.top[v] = vi_subtract(w->top[v], r.deficit[v]);
  }
  return r;
}

/* Returns t for one row, from the least sums of its bytes. */
static inline __attribute__((always_inline)) tr_sums tr_products(tr_shape s, const tr_words *w, const unsigned char *a,
                                                                 const unsigned char *b, deficit_least least) {
  if (!s.grouped) return tr_sum(w, 0, s.length, 1, a, b, least.of[0]);
  return tr_join(w, tr_sum(w, 0, s.length, 2, a, b, least.of[0]), tr_sum(w, 1, s.length, 2, a, b, least.of[1]));
}

/* Returns c in units of 2^(G - 29), rounded down. `field` is its exponent field, g that of G, and `scale` are the bits
   of 2^(29 - G). In GTR-FDPA c counts as zero if its exponent is below edot - 25. */
static inline __attribute__((always_inline)) vi tr_align(tr_shape s, vf c, vi field, vi g, vi scale) {
  vf scaled;
  if (!s.grouped) return vf_floor_units(c, field, g, scale);
  scaled = vf_multiply(c, vi_as_float(scale));
  return vi_select(vi_less(vf_bits(scaled), vf_bits(vf_set(-0.5f))), vi_set(0), vf_floor(scaled));
}

/* Returns the sum, with its last bit set if a retained bit of `cut`, the part of t below the unit, is set. `magnitude`
   is that of the sum. (x has a higher leading bit than y if x without the bits of y is above y.) */
static inline __attribute__((always_inline)) vi tr_take_note(tr_shape s, vi one, vi sum, vi magnitude, vi cut) {
  if (s.revision == 1) return vi_or(sum, vi_shift_right(cut, 30));
  if (s.grouped) cut = vi_and(cut, vi_set((int32_t)0xe0000000));
  return vi_or_where(vi_above(vi_and_not(cut, magnitude), magnitude), sum, one);
}

/* Computes d from t and c for one row. If t is shifted down by 32 or more, the bits shifted out do not matter, because
   c is then an even integer, and its distance from a tie is greater than t. */
static inline __attribute__((always_inline)) void tr_add(tr_shape s, const tr_words *w, const tr_sums *t,
                                                         const float *c, vf d[4]) {
  vi exponent[4], below[4], sum[4];
  UNROLL for (int v = 0; v < 4; v++) {
    const vf start = vf_load(c + v * LANES);
    const vi field = vi_and(vf_bits(start), w->exponents);
    exponent[v] = vi_max(field, t->top[v]);
    below[v] = vi_shift_right(vi_subtract(exponent[v], t->top[v]), 23);
    sum[v] = tr_align(s, start, field, exponent[v], vi_subtract(w->scale, exponent[v]));
  }
  UNROLL for (int v = 0; v < 4; v++) sum[v] = vi_add(sum[v], vi_shift_down_by(t->sum[v], below[v]));
  UNROLL for (int v = 0; v < 4; v++) sum[v] = tr_take_note(s, w->one, sum[v], vi_magnitude(sum[v]),
                                                           vi_shift_left_by(t->sum[v], vi_subtract(w->word, below[v])));
  UNROLL for (int v = 0; v < 4; v++) d[v] = vf_multiply(vi_to_float(sum[v]), vi_as_float(vi_add(exponent[v], w->unit)));
}

/* Reports whether `count` accumulators are calm: below 2^120 in magnitude, so that none becomes infinite in a run. */
static bool tr_are_calm(const float *accumulator, size_t count) {
  vi care = vi_set(0);
  for (size_t i = 0; i < count; i += LANES) {
    vi c = vi_and(vf_bits(vf_load(accumulator + i)), vi_set(INT32_MAX));
    care = vi_or(care, vi_subtract(vi_set(((127 + TR_CALM) << 23) - 1), c));
  }
  return !vi_any_negative(care);
}

/* ---- Exponents of any size ---- */

/* Elements of one block as significand * 2^exponent. That of index k of vector v is entry k * vectors + v. A subnormal
   has the exponent -126 and a significand below one. */
typedef struct {
  _Alignas(64) float significand[TR_LONGEST * SMMA_MOST_VECTORS];
  _Alignas(64) int32_t exponent[TR_LONGEST * SMMA_MOST_VECTORS];
} tr_elements;

/* Decodes one block of `vectors` rows of A (or columns of B), from the run's row (or column) `first` on. Infinities and
   NaN become zero. */
static void tr_decode(const smma_run *r, bool of_a, size_t first, size_t vectors, size_t block, tr_elements *x) {
  const smma_operation *o = &r->multiplier->operation;
  const smma_decoder d = smma_decoder_of(of_a ? o->a : o->b);
  const size_t blocks = deficit_blocks(o), length = (size_t)smma_block_of(o);
  const smma_fetch f = {.multiplier = r->multiplier,
                        .view = smma_view_of(r->multiplier, of_a),
                        .of_a = of_a,
                        .first = (of_a ? r->row : r->column) + first,
                        .vectors = vectors,
                        .step = r->step + block / blocks,
                        .block = (int)(block % blocks),
                        .length = (int)length};
  uint32_t code[TR_LONGEST * SMMA_MOST_VECTORS];
  uint8_t field[TR_LONGEST * SMMA_MOST_VECTORS];
  unsigned char special[SMMA_MOST_VECTORS] = {0}; /* not used: packing has set the flags */
  smma_fetch_codes(&f, code);
  smma_decode_codes(&d, length, vectors, code, x->significand, field, special);
  for (size_t i = 0; i < length * vectors; i++) {
    const uint32_t bits = (255u - (field[i] ? field[i] : 1)) << 23;
    const float value = x->significand[i];
    float twice; /* 2^(128 - field) */
    uint32_t magnitude;
    memcpy(&twice, &bits, sizeof twice);
    memcpy(&magnitude, &value, sizeof magnitude);
    magnitude &= INT32_MAX;
    /* No factor is a subnormal of binary32, as in smma_decode_codes. */
    x->significand[i] = magnitude >> 23 ? value * twice * 0.5f : copysignf((float)(int32_t)magnitude * 0x1p-23f, value);
    x->exponent[i] = field[i] ? field[i] - 127 : TR_NONE;
  }
}

/* The products of one row and a vector of columns. */
typedef struct {
  vi exponent; /* edot */
  vi sum;      /* t */
  /* The greatest magnitudes of positive and of negative products, as binary32 bits, in units of 2^(edot - 24). */
  vi high, low;
} tr_exact;

/* Returns the exponents of product k. `a` and `b` are the addresses of the first exponents of the row (one of
   DEFICIT_CHUNK) and of the vector (in PANEL columns). */
static inline __attribute__((always_inline)) vi tr_product_exponent(const int32_t *a, const int32_t *b, int k) {
  return vi_add(vi_set(a[k * DEFICIT_CHUNK]), vi_load(b + k * PANEL));
}

static inline __attribute__((always_inline)) vi tr_greatest_exponent(int length, const int32_t *a, const int32_t *b) {
  vi greatest = vi_set(2 * TR_NONE);
  UNROLL for (int k = 0; k < length; k++) greatest = vi_max(greatest, tr_product_exponent(a, b, k));
  return greatest;
}

/* Returns the products of elements row + k * DEFICIT_CHUNK and column + k * PANEL; `greatest` is edot. `extremes`:
   finds the greatest magnitudes, too. */
static inline __attribute__((always_inline)) tr_exact tr_sum_exactly(int length, bool extremes, vi greatest,
                                                                     const tr_elements *a, size_t row,
                                                                     const tr_elements *b, size_t column) {
  tr_exact r = {greatest, vi_set(0), vi_set(0), vi_set(0)};
  const vi base = vi_subtract(greatest, vi_set(127 + 24));
  UNROLL for (int k = 0; k < length; k++) {
    const vi exponent = vi_subtract(tr_product_exponent(a->exponent + row, b->exponent + column, k), base);
    const vf x = vf_set(a->significand[row + (size_t)k * DEFICIT_CHUNK]);
    const vf y = vf_load(b->significand + column + (size_t)k * PANEL);
    const vf p = vf_multiply(vf_multiply(x, y), vi_as_float(vi_shift_left(vi_max(exponent, vi_set(1)), 23)));
    r.sum = vi_add(r.sum, vf_truncate(p));
    if (!extremes) continue;
    r.high = vi_max(r.high, vf_bits(p));
    r.low = vi_max(r.low, vi_xor(vf_bits(p), vi_set(INT32_MIN)));
  }
  return r;
}

/* Returns d from t and c, which are added in units of 2^(G - 29); E is at least -126 here. If G is -126, the sum's
   exponent counts as at least -126, so that at most two bits below the unit are retained. If all products are zero,
   edot is so low that only c remains. */
static inline __attribute__((always_inline)) vf tr_add_exactly(tr_shape s, const tr_exact *t, vf c) {
  const vi bits = vf_bits(c), one = vi_set(1), field = vi_shift_right(vi_shift_left(bits, 1), 24);
  const vi fraction = vi_shift_right(vi_shift_left(bits, 9), 3), hidden = vi_shift_left(vi_min(field, one), 29);
  const vi c_magnitude = vi_or(hidden, fraction), c_exponent = vi_max(field, one);
  const vi top = vi_add(t->exponent, vi_set(127 + TR_HEADROOM)), g = vi_max(c_exponent, top),
           below = vi_subtract(g, top);
  const vi c_units = vi_select(vi_less(bits, vi_set(0)), vi_subtract(vi_set(0), c_magnitude), c_magnitude);
  const vi cut = vi_shift_left_by(t->sum, vi_max(vi_subtract(vi_set(32), below), vi_set(0)));
  const vm small = vi_less(g, vi_set(127 + TR_LEAST));
  vi sum = vi_add(vi_shift_down_by(c_units, vi_subtract(g, c_exponent)), vi_shift_down_by(t->sum, below));
  vi magnitude = vi_magnitude(sum);
  vf d;
  magnitude = vi_or_where(vi_equal(g, one), magnitude, vi_set(1 << 29));
  sum = tr_take_note(s, one, sum, magnitude, cut);
  d = vf_multiply(vi_to_float(sum), vi_as_float(vi_shift_left(vi_subtract(g, vi_set(TR_UNIT)), 23)));
  if (vm_bits(small)) { /* rounded once, to a multiple of 2^-149 */
    const vf scale = vi_as_float(vi_shift_left(g, 23));
    const vd unit = vd_set(0x1p-29);
    const vd low = vd_multiply(vd_low_int(sum), vd_multiply(vd_low(scale), unit));
    const vd high = vd_multiply(vd_high_int(sum), vd_multiply(vd_high(scale), unit));
    d = vf_select(small, vf_narrow(low, high), d);
  }
  return d;
}

/* Returns d, corrected where a product is infinite (2^128 or more) or c is infinite or NaN. In revision 1 an infinite c
   takes precedence over infinite products. */
static inline __attribute__((always_inline)) vf tr_take_infinities(tr_shape s, const tr_exact *t, vf c, vf nan, vf d) {
  const vi bits = vf_bits(c), magnitude = vi_and(bits, vi_set(INT32_MAX));
  const vi infinity = vi_set(255 << 23), negative = vi_or(infinity, vi_set(INT32_MIN));
  const vi field = vi_min(vi_subtract(vi_set(127 + 24 + 128), t->exponent), vi_set(255));
  const vi limit = vi_subtract(vi_shift_left(field, 23), vi_set(1)); /* below 2^128 in units of the products */
  const vm plus = vm_or(vi_less(limit, t->high), vi_equal(bits, infinity));
  const vm minus = vm_or(vi_less(limit, t->low), vi_equal(bits, negative));
  const vm keeps = vi_less(vi_set(s.revision == 1 ? (255 << 23) - 1 : 255 << 23), magnitude);
  d = vf_select(plus, vi_as_float(infinity), d);
  d = vf_select(minus, vi_as_float(negative), d);
  return vf_select(keeps, c, vf_select(vm_and(plus, minus), nan, d));
}

/* Updates one row of accumulators by the integer exponents of all products. NaN accumulators stay NaN. */
static inline __attribute__((always_inline)) void tr_compute_exactly(tr_shape s, vf nan, const tr_elements *a,
                                                                     size_t row, const tr_elements *b,
                                                                     float *accumulator) {
  const vi infinity = vi_set(255 << 23);
  for (size_t v = 0; v < PANEL; v += LANES) {
    const vf c = vf_load(accumulator + v);
    const vi magnitude = vi_and(vf_bits(c), vi_set(INT32_MAX));
    vi greatest;
    vm great;
    tr_exact t;
    vf d;
    if (vm_bits(vi_less(infinity, magnitude)) == (1u << LANES) - 1) continue;
    greatest = tr_greatest_exponent(s.length, a->exponent + row, b->exponent + v);
    great = vi_less(vi_set(126), greatest);
    if (vm_bits(great))
      t = tr_sum_exactly(s.length, true, greatest, a, row, b, v);
    else
      t = tr_sum_exactly(s.length, false, greatest, a, row, b, v);
    d = tr_add_exactly(s, &t, c);
    if (vm_bits(vm_or(great, vi_equal(vi_and(magnitude, infinity), infinity))))
      d = tr_take_infinities(s, &t, c, nan, d);
    vf_store(accumulator + v, d);
  }
}

/* ---- Blocks ---- */

/* The rows of a chunk, and the data that one pass leaves for the next. Entry i of an array belongs to row[i]. */
typedef struct {
  deficit_chunk least; /* the exception: entries belong to the chunk's rows */
  /* Members of tr_sums. */
  _Alignas(64) int32_t sum[DEFICIT_CHUNK][PANEL];
  _Alignas(64) int32_t top[DEFICIT_CHUNK][PANEL];
  /* All ones for columns whose products are all zero; filled only for rows with `keeps`. */
  _Alignas(64) uint8_t zeros[DEFICIT_CHUNK][PANEL];
  bool keeps[DEFICIT_CHUNK]; /* some d may be c itself, because all its products are zero, or c is infinite or NaN */
  size_t count, row[DEFICIT_CHUNK];         /* the rows whose exponents fit */
  size_t exact_count, exact[DEFICIT_CHUNK]; /* the other rows */
} tr_passes;

/* Divides the rows, after the first pass, into those whose exponents fit and the others. In formats that are not wide
   all bases are 0, so all rows fit. `base` is the base of all columns, `columns_most` is twice their greatest deficit.
   If `columns_most` plus twice the row's greatest deficit is at most DEFICIT_CERTAIN, a greater sum of bytes shows that
   a factor is zero. */
static inline __attribute__((always_inline)) void tr_choose_rows(tr_shape s, const tr_words *w, const unsigned char *a,
                                                                 size_t rows, int base, int columns_most, bool calm,
                                                                 tr_passes *p) {
  const size_t row_bytes = deficit_row_block((size_t)s.length);
  p->count = p->exact_count = 0;
  for (size_t row = 0; row < rows; row++) {
    const unsigned char *x = deficit_row(a, row_bytes, row);
    const int bases = base + deficit_row_base(s.length, x);
    vb least = vb_load(p->least.of[0][row]);
    bool zeros, fits = !s.wide || (bases >= TR_LEAST_BASE && bases <= TR_GREATEST_BASE);
    if (s.grouped) least = vb_min(least, vb_load(p->least.of[1][row]));
    zeros = vb_any_less(w->certain, least);
    if (s.wide && zeros) fits &= deficit_row_most(s.length, x) + columns_most <= DEFICIT_CERTAIN;
    if (!fits) {
      p->exact[p->exact_count++] = row;
      continue;
    }
    p->keeps[p->count] = zeros || !calm;
    if (p->keeps[p->count]) vb_store(p->zeros[p->count], vb_less(w->certain, least));
    p->row[p->count++] = row;
  }
}

/* Second pass: computes t. */
static inline __attribute__((always_inline)) void tr_multiply_rows(tr_shape s, const tr_words *w,
                                                                   const unsigned char *a, const unsigned char *b,
                                                                   size_t count, tr_passes *p) {
  for (size_t i = 0; i < count; i++) {
    const unsigned char *x = deficit_row(a, deficit_row_block((size_t)s.length), p->row[i]);
    deficit_least least = {{vb_load(p->least.of[0][p->row[i]]), vb_load(p->least.of[s.grouped][p->row[i]])}};
    tr_words of_row = *w;
    tr_sums sums;
    /* If the products of even (or odd) k are all zero, they have no exponent. They can be given any exponent that is
       not above that of the others. */
    if (s.grouped) least.of[0] = vb_min(least.of[0], w->certain), least.of[1] = vb_min(least.of[1], w->certain);
    if (s.wide) {
      of_row.top[0] = vi_add(w->top[0], vi_set(deficit_row_base_field(s.length, x)));
      of_row.top[1] = of_row.top[2] = of_row.top[3] = of_row.top[0];
    }
    sums = tr_products(s, &of_row, x, b, least);
    UNROLL for (int v = 0; v < 4; v++) {
      vi_store(p->sum[i] + v * LANES, sums.sum[v]);
      vi_store(p->top[i] + v * LANES, sums.top[v]);
    }
  }
}

/* Replaces d by c where c is infinite or NaN, or all products are zero. Then -0 becomes +0. */
static inline __attribute__((always_inline)) void tr_keep(const tr_words *w, const uint8_t *zeros, const float *c,
                                                          vf d[4]) {
  const vb bytes = vb_load(zeros);
  UNROLL for (int v = 0; v < 4; v++) {
    const vf start = vf_load(c + v * LANES);
    const vm zero = vi_has(vb_pick(bytes, v, w->picker[v]), vi_set(1 << 22));
    const vm special = vi_equal(vi_and(vf_bits(start), w->exponents), w->exponents);
    d[v] = vf_add_where(vm_or(zero, special), start, vf_set(0), d[v]);
  }
}

/* Third pass: adds c and stores d. */
static inline __attribute__((always_inline)) void tr_add_rows(tr_shape s, const tr_words *w, size_t count,
                                                              const tr_passes *p, float *accumulator) {
  for (size_t i = 0; i < count; i++) {
    float *c = accumulator + p->row[i] * PANEL;
    tr_sums sums;
    vf d[4];
    UNROLL for (int v = 0; v < 4; v++) {
      sums.sum[v] = vi_load(p->sum[i] + v * LANES);
      sums.top[v] = vi_load(p->top[i] + v * LANES);
    }
    tr_add(s, w, &sums, c, d);
    if (p->keeps[i]) tr_keep(w, p->zeros[i], read_again(c), d);
    UNROLL for (int v = 0; v < 4; v++) vf_store(c + v * LANES, d[v]);
  }
}

/* Computes the rows of a chunk whose exponents do not fit. The chunk begins at row `first`. */
static inline __attribute__((always_inline)) void tr_compute_rows_exactly(const smma_run *r, vf nan, tr_shape s,
                                                                          size_t first, size_t block,
                                                                          const tr_passes *p) {
  tr_elements a, b;
  tr_decode(r, true, first, DEFICIT_CHUNK, block, &a);
  tr_decode(r, false, 0, PANEL, block, &b);
  for (size_t i = 0; i < p->exact_count; i++) {
    const size_t row = p->exact[i];
    tr_compute_exactly(s, nan, &a, row, &b, (float *)r->accumulator + (first + row) * PANEL);
  }
}

/* Computes one block of `rows` rows from `first` on. `calm`: no accumulator can become infinite in the rest of the run
   (see tr_are_calm). Returns whether this still holds after the block. */
static inline __attribute__((always_inline)) bool tr_block(const smma_run *r, const tr_constants *t, tr_shape s,
                                                           size_t first, size_t rows, size_t block, bool calm) {
  const size_t row_bytes = deficit_row_block((size_t)s.length);
  const unsigned char *a = (const unsigned char *)r->a + (block * r->packed_rows + first) * row_bytes;
  const unsigned char *b = (const unsigned char *)r->b + block * PANEL * deficit_column_block((size_t)s.length);
  const int32_t *range = deficit_column_bases(s.length, b) + PANEL;
  /* The columns' base. If their bases differ, a value so low that no row fits. */
  const int base = range[0] == range[1] ? range[0] : TR_LEAST_BASE - 256;
  const tr_words w = tr_words_of(t, base);
  tr_passes p;
  deficit_compare_rows(s.length, s.grouped, a, s.length, row_bytes, r->packed_rows * row_bytes,
                       b + (size_t)s.length * 4 * PANEL, rows, &p.least);
  tr_choose_rows(s, &w, a, rows, base, range[2], calm, &p);
  tr_multiply_rows(s, &w, a, b, p.count, &p);
  tr_add_rows(s, &w, p.count, &p, (float *)r->accumulator + first * PANEL);
  if (s.wide && p.exact_count) {
    tr_compute_rows_exactly(r, t->nan, s, first, block, &p);
    calm = false;
  }
  return calm;
}

static inline __attribute__((always_inline)) void tr_panel(const smma_run *r, const tr_constants *t, tr_shape s) {
  size_t blocks = deficit_blocks(&r->multiplier->operation);
  for (size_t row = 0; row < r->rows; row += DEFICIT_CHUNK) {
    const size_t rows = r->rows - row < DEFICIT_CHUNK ? r->rows - row : DEFICIT_CHUNK;
    bool calm = tr_are_calm((const float *)r->accumulator + row * PANEL, rows * PANEL);
    for (size_t block = r->first * blocks; block < r->last * blocks; block++)
      calm = tr_block(r, t, s, row, rows, block, calm);
  }
}

/* One function per shape, because compilers allocate registers for each function separately. */
#define TR_SHAPE(NAME, LENGTH, GROUPED, WIDE)                                                      \
  static void NAME##_1(const smma_run *r, const tr_constants *t) {                                 \
    tr_panel(r, t, (tr_shape){.length = LENGTH, .grouped = GROUPED, .wide = WIDE, .revision = 1}); \
  }                                                                                                \
  static void NAME##_2(const smma_run *r, const tr_constants *t) {                                 \
    tr_panel(r, t, (tr_shape){.length = LENGTH, .grouped = GROUPED, .wide = WIDE, .revision = 2}); \
  }
TR_SHAPE(tr_run_4, 4, false, false)
TR_SHAPE(tr_run_8, 8, false, false)
TR_SHAPE(tr_run_wide_4, 4, false, true)
TR_SHAPE(tr_run_wide_8, 8, false, true)
TR_SHAPE(tr_run_grouped, 16, true, false)

static inline void tr_fdpa_run(const smma_run *r) {
  static void (*const run[5][2])(const smma_run *, const tr_constants *) = {
      {tr_run_4_1, tr_run_4_2},
      {tr_run_8_1, tr_run_8_2},
      {tr_run_wide_4_1, tr_run_wide_4_2},
      {tr_run_wide_8_1, tr_run_wide_8_2},
      {tr_run_grouped_1, tr_run_grouped_2},
  };
  const smma_operation *o = &r->multiplier->operation;
  const tr_constants t = tr_constants_of(o);
  const bool grouped = o->rule.algorithm == SMMA_GTR_FDPA;
  run[grouped ? 4 : deficit_is_wide(o) * 2 + (smma_block_of(o) == 8)][o->rule.with.tr_fdpa.revision != 1](r, &t);
}

#endif
