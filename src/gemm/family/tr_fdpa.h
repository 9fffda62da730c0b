/* TR-FDPA and GTR-FDPA with F of 24 and F2 of 31 (CDNA 3): truncated products, then an addition that rounds down.

   Names as in docs/algorithms: t is the sum of the products, truncated at 24 bits below their greatest exponent edot;
   E is the greater of edot and the exponent of c. A product a b is exact in binary32; its term trunc(a b 2^(24 - edot))
   is found by adding to the exponent field and converting. 16 terms stay below 3.6 * 2^28 (8: 2^29) in magnitude.

   Everything then happens in units of 2^(G - 29), where G is the greater of E and edot + 5.
   - G = edot + 5: the unit is that of t, so t is exact, and so is c unless its exponent is below edot, where the
     rule rounds it down to just this unit. The sum is below 2^31 units: both roundings of the model leave it alone.
   - G > edot + 5: c is exact, an integer from 2^29 on, below 2^30. The rule rounds t down at 32 bits below E and then
     (revision 2) the sum to 32 significant bits, so of the bits of t that are cut below the unit, it keeps three if
     the sum is below 2^29 units, two below 2^30, else one. That is: the bits in which the cut part, read as a 32-bit
     fraction, exceeds the leading bit of the sum (GTR: but no more than three). Revision 1 rounds t down at 31 bits
     below E and keeps two. What is kept only matters by not being zero: t is less than half of c, so that the sum has
     27 bits or more and a bit of it that is below the rounding position takes note.
   The sum is converted to binary32, RNE, and scaled back. How exponents are compared: deficits.h. */
#ifndef SMMA_GEMM_FAMILY_TR_FDPA_H
#define SMMA_GEMM_FAMILY_TR_FDPA_H

#include "gemm/family/deficits.h"

enum {
  TR_HEADROOM = 5,
  TR_UNIT = 24 + TR_HEADROOM,
  TR_LEAST = -97,        /* of G: the least whose unit 2^(G - 29) is a normal number */
  TR_CALM = 120,         /* below 2^120, accumulators stay finite within a run */
  TR_LEAST_BASE = -40,   /* of a row and a column, added: then E of a certain sum is not below TR_LEAST */
  TR_GREATEST_BASE = 110 /* and not above TR_CALM */
};

/* What is constant where the work is inlined. */
typedef struct {
  int length;
  bool grouped, wide; /* GTR-FDPA; formats with 8 exponent bits */
  int revision;
} tr_shape;

/* What does not change within a run. */
typedef struct {
  tr_shape shape;
  int top; /* edot + 5, biased as in binary32, for a deficit of 0 and bases of 0 */
} tr_constants;

static bool tr_fdpa_takes(const smma_operation *o) {
  const smma_tr_fdpa *p = &o->rule.with.tr_fdpa;
  const int length = smma_block_of(o);
  switch (o->rule.algorithm) {
    case SMMA_TR_FDPA: return p->alignment_bits == 24 && p->sum_bits == 31 && (length == 8 || length == 4);
    case SMMA_GTR_FDPA: return p->alignment_bits == 24 && p->sum_bits == 31 && length == 16 && !deficit_is_wide(o);
    default: return false;
  }
}

static tr_constants tr_constants_of(const smma_operation *o) {
  tr_constants t;
  t.shape.length = smma_block_of(o);
  t.shape.grouped = o->rule.algorithm == SMMA_GTR_FDPA;
  t.shape.wide = deficit_is_wide(o);
  t.shape.revision = o->rule.with.tr_fdpa.revision;
  t.top = 127 + TR_HEADROOM + deficit_top(o);
  return t;
}

static void tr_pack_rows(const smma_pack *pack) {
  deficit_pack_rows(pack, smma_power_of_two(24 - deficit_top(&pack->plan->operation)));
}

static void tr_pack_columns(const smma_pack *pack) { deficit_pack_columns(pack, true); }

/* Constants as vectors, which loops over rows keep in registers because compilers cannot look through them. */
typedef struct {
  vi top[4];                 /* edot + 5 for a deficit of 0, as exponent fields, of four vectors of columns */
  vi exponents, scale, unit; /* of c: its exponent's bits; 2^(29 - G) is scale - G; 2^(G - 29) is G + unit */
  vi word, one;              /* 32, 1 */
  vb picker[4], certain;
} tr_words;

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

/* Of one row and four vectors of columns: t, and the deficit of edot and edot + 5 as exponent fields. */
typedef struct {
  vi sum[4], deficit[4], top[4];
} tr_sums;

/* Every `stride`-th product from `first` on. A product that is zero becomes a number below one half. */
static inline __attribute__((always_inline)) tr_sums tr_sum(const tr_words *w, int first, int length, int stride,
                                                            const unsigned char *a, const unsigned char *b, vb least) {
  const float *column_value = (const float *)b;
  tr_sums r;
  UNROLL for (int v = 0; v < 4; v++) r.deficit[v] = vb_pick(least, v, w->picker[v]), r.sum[v] = vi_set(0);
  UNROLL for (int k = first; k < length; k += stride) {
    vf x = vi_as_float(vi_set((int32_t)*deficit_row_word(a, k)));
    UNROLL for (int v = 0; v < 4; v++) {
      vf p = vf_multiply(x, vf_load(column_value + (k * 4 + v) * LANES));
      vi term = vf_truncate(vi_as_float(vi_add(vf_bits(p), r.deficit[v])));
      r.sum[v] = k == first ? term : vi_keep(vi_add(r.sum[v], term));
    }
  }
  UNROLL for (int v = 0; v < 4; v++) r.top[v] = vi_subtract(w->top[v], r.deficit[v]);
  return r;
}

/* The sums of even and of odd k, rounded down at 24 bits below the greater exponent. */
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

static inline __attribute__((always_inline)) tr_sums tr_products(tr_shape s, const tr_words *w, const unsigned char *a,
                                                                 const unsigned char *b, deficit_least least) {
  if (!s.grouped) return tr_sum(w, 0, s.length, 1, a, b, least.of[0]);
  return tr_join(w, tr_sum(w, 0, s.length, 2, a, b, least.of[0]), tr_sum(w, 1, s.length, 2, a, b, least.of[1]));
}

/* c at 29 bits below G. GTR: c counts as zero if its exponent is below edot - 25. */
static inline __attribute__((always_inline)) vi tr_align(tr_shape s, vf c, vf scale) {
  vf scaled;
  if (!s.grouped) return vf_floor_product(c, scale);
  scaled = vf_multiply(c, scale);
  return vi_select(vi_less(vf_bits(scaled), vf_bits(vf_set(-0.5f))), vi_set(0), vf_floor(scaled));
}

/* The sum with its last bit set where bits of `cut` are kept. Of x and y, x has the higher leading bit where x without
   the bits of y is above y. */
static inline __attribute__((always_inline)) vi tr_take_note(tr_shape s, const tr_words *w, vi sum, vi cut) {
  vi magnitude;
  if (s.revision == 1) return vi_or(sum, vi_shift_right(cut, 30));
  magnitude = vi_magnitude(sum);
  if (s.grouped) cut = vi_and(cut, vi_set((int32_t)0xe0000000));
  return vi_or_where(vi_above(vi_and_not(cut, magnitude), magnitude), sum, w->one, sum);
}

/* d from t and c. A shift by 32 - 32 or more leaves nothing of t, and what it cuts does not matter: c is even then, and
   further from a tie than t. */
static inline __attribute__((always_inline)) void tr_add(tr_shape s, const tr_words *w, const tr_sums *t,
                                                         const float *c, vf d[4]) {
  vi exponent[4], below[4], sum[4];
  UNROLL for (int v = 0; v < 4; v++) {
    vf start = vf_load(c + v * LANES);
    exponent[v] = vi_max(vi_and(vf_bits(start), w->exponents), t->top[v]);
    below[v] = vi_shift_right(vi_subtract(exponent[v], t->top[v]), 23);
    sum[v] = tr_align(s, start, vi_as_float(vi_subtract(w->scale, exponent[v])));
  }
  UNROLL for (int v = 0; v < 4; v++) sum[v] = vi_add(sum[v], vi_shift_down_by(t->sum[v], below[v]));
  UNROLL for (int v = 0; v < 4; v++) sum[v] =
      tr_take_note(s, w, sum[v], vi_shift_left_by(t->sum[v], vi_subtract(w->word, below[v])));
  UNROLL for (int v = 0; v < 4; v++) d[v] = vf_multiply(vi_to_float(sum[v]), vi_as_float(vi_add(exponent[v], w->unit)));
}

/* Whether all are below 2^120 in magnitude. */
static bool tr_are_calm(const float *accumulator, size_t count) {
  vi care = vi_set(0);
  for (size_t i = 0; i < count; i += LANES) {
    vi c = vi_and(vf_bits(vf_load(accumulator + i)), vi_set(INT32_MAX));
    care = vi_or(care, vi_subtract(vi_set(((127 + TR_CALM) << 23) - 1), c));
  }
  return !vi_any_negative(care);
}

/* The lanes that the core must compute: c is special, or there are products and their exponents are out of range or may
   be lower. `top` is edot + 5 for a deficit of 0. Where all products are `zero`, c is the result. */
static inline vm tr_rare(tr_shape s, vi deficit, vi top, vm zero, vf c) {
  vi exponent = vi_shift_right(vi_shift_left(vf_bits(c), 1), 24);
  vm rare;
  deficit = vi_shift_right(deficit, 23);
  top = vi_subtract(top, deficit);
  rare = vm_or(vi_less(vi_max(exponent, top), vi_set(127 + TR_LEAST)), vi_less(vi_set(127 + TR_CALM), top));
  if (s.wide) rare = vm_or(rare, vi_less(vi_set(DEFICIT_CERTAIN / 2), deficit));
  return vm_or(vi_equal(exponent, vi_set(255)), vm_and_not(rare, zero));
}

/* One row of any operands. `a` are that row's packed operands of the block, `b` the columns'. Returns whether the
   accumulators are calm then. */
static inline __attribute__((always_inline)) bool tr_compute_with_care(const smma_run *r, const tr_constants *t,
                                                                       tr_shape s, const unsigned char *a,
                                                                       const unsigned char *b, size_t row,
                                                                       size_t block) {
  const vi row_base = vi_set(deficit_row_base(s.length, a));
  const int32_t *column_base = deficit_column_bases(s.length, b);
  const vb zeros = deficit_compare_zeros(s.length, a, b);
  deficit_least least = deficit_compare_row(s.length, s.grouped, a, b);
  float *accumulator = (float *)r->accumulator + row * PANEL;
  tr_words w = tr_words_of(t, 0);
  tr_sums sums;
  vi top[4];
  vf d[4];
  if (s.grouped) least.of[0] = vb_min(least.of[0], w.certain), least.of[1] = vb_min(least.of[1], w.certain);
  for (int v = 0; v < 4; v++) {
    top[v] = vi_add(vi_set(t->top), vi_add(row_base, vi_load(column_base + v * LANES)));
    w.top[v] = vi_shift_left(top[v], 23);
  }
  sums = tr_products(s, &w, a, b, least);
  tr_add(s, &w, &sums, accumulator, d);
  for (int v = 0; v < 4; v++) {
    vf c = vf_load(accumulator + v * LANES);
    vm zero = vi_has(vb_pick(zeros, v, w.picker[v]), vi_set(1 << 22));
    vm rare = tr_rare(s, sums.deficit[v], top[v], zero, c);
    vf_store(accumulator + v * LANES, vf_add_where(zero, c, vf_set(0), d[v]));
    if (vm_bits(rare)) {
      float start[LANES];
      vf_store(start, c);
      smma_compute_lanes(r, row, (size_t)v * LANES, block, vm_bits(rare), start, accumulator + v * LANES);
    }
  }
  return tr_are_calm(accumulator, PANEL);
}

/* The rows of a chunk and what each pass over them leaves for the next. */
typedef struct {
  deficit_chunk least;
  _Alignas(64) int32_t sum[DEFICIT_CHUNK][PANEL];
  _Alignas(64) int32_t top[DEFICIT_CHUNK][PANEL];
  size_t count, row[DEFICIT_CHUNK];         /* rows that tr_add may do as they are */
  size_t other_count, other[DEFICIT_CHUNK]; /* the others */
} tr_passes;

/* Behind the first pass: accumulators are `calm`, `base` is that of all columns, and E is within range; no element has
   only products that are zero or whose exponents may be lower. */
static inline __attribute__((always_inline)) void tr_choose_rows(tr_shape s, const tr_words *w, const unsigned char *a,
                                                                 size_t rows, int base, bool calm, tr_passes *p) {
  const size_t row_bytes = deficit_row_block((size_t)s.length);
  p->count = p->other_count = 0;
  for (size_t row = 0; row < rows; row++) {
    const int bases = base + deficit_row_base(s.length, deficit_row(a, row_bytes, row));
    vb least = vb_load(p->least.of[0][row]);
    if (s.grouped) least = vb_min(least, vb_load(p->least.of[1][row]));
    if (!calm || bases < TR_LEAST_BASE || bases > TR_GREATEST_BASE || vb_any_less(w->certain, least))
      p->other[p->other_count++] = row;
    else
      p->row[p->count++] = row;
  }
}

/* Second pass: t. */
static inline __attribute__((always_inline)) void tr_multiply_rows(tr_shape s, const tr_words *w,
                                                                   const unsigned char *a, const unsigned char *b,
                                                                   size_t count, tr_passes *p) {
  for (size_t i = 0; i < count; i++) {
    const unsigned char *x = deficit_row(a, deficit_row_block((size_t)s.length), p->row[i]);
    deficit_least least = {{vb_load(p->least.of[0][p->row[i]]), vb_load(p->least.of[s.grouped][p->row[i]])}};
    tr_words of_row = *w;
    tr_sums sums;
    /* A half of zeros has no exponent, and may take any that is not above the other's. */
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

/* Third pass: c. */
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
    UNROLL for (int v = 0; v < 4; v++) vf_store(c + v * LANES, d[v]);
  }
}

/* One block of `rows` rows from `first` on; returns whether their accumulators are calm behind it. */
static inline __attribute__((always_inline)) bool tr_block(const smma_run *r, const tr_constants *t, tr_shape s,
                                                           size_t first, size_t rows, size_t block, bool calm) {
  const size_t row_bytes = deficit_row_block((size_t)s.length);
  const unsigned char *a = (const unsigned char *)r->a + (block * r->packed_rows + first) * row_bytes;
  const unsigned char *b = (const unsigned char *)r->b + block * PANEL * deficit_column_block((size_t)s.length);
  const int32_t *range = deficit_column_bases(s.length, b) + PANEL;
  const int base = range[0] == range[1] ? range[0] : TR_LEAST_BASE - 256; /* of all columns, or one out of range */
  const tr_words w = tr_words_of(t, base);
  tr_passes p;
  deficit_compare_rows(s.length, s.grouped, (const unsigned char *)deficit_row_word(a, s.length), row_bytes,
                       b + (size_t)s.length * 4 * PANEL, rows, &p.least);
  tr_choose_rows(s, &w, a, rows, base, calm, &p);
  tr_multiply_rows(s, &w, a, b, p.count, &p);
  tr_add_rows(s, &w, p.count, &p, (float *)r->accumulator + first * PANEL);
  for (size_t i = 0; i < p.other_count; i++)
    if (!tr_compute_with_care(r, t, s, deficit_row(a, row_bytes, p.other[i]), b, first + p.other[i], block))
      calm = false;
  return calm;
}

static inline __attribute__((always_inline)) void tr_panel(const smma_run *r, const tr_constants *t, tr_shape s) {
  size_t blocks = deficit_blocks(&r->plan->operation);
  for (size_t row = 0; row < r->rows; row += DEFICIT_CHUNK) {
    const size_t rows = r->rows - row < DEFICIT_CHUNK ? r->rows - row : DEFICIT_CHUNK;
    bool calm = tr_are_calm((const float *)r->accumulator + row * PANEL, rows * PANEL);
    for (size_t block = r->first * blocks; block < r->last * blocks; block++)
      calm = tr_block(r, t, s, row, rows, block, calm);
  }
}

/* One function for each shape, not all in one: compilers allocate registers to each by itself. */
#define TR_SHAPE(NAME, LENGTH, GROUPED, WIDE)                      \
  static void NAME##_1(const smma_run *r, const tr_constants *t) { \
    tr_panel(r, t, (tr_shape){LENGTH, GROUPED, WIDE, 1});          \
  }                                                                \
  static void NAME##_2(const smma_run *r, const tr_constants *t) { \
    tr_panel(r, t, (tr_shape){LENGTH, GROUPED, WIDE, 2});          \
  }
TR_SHAPE(tr_run_4, 4, false, false)
TR_SHAPE(tr_run_8, 8, false, false)
TR_SHAPE(tr_run_wide_4, 4, false, true)
TR_SHAPE(tr_run_wide_8, 8, false, true)
TR_SHAPE(tr_run_grouped, 16, true, false)

static void tr_fdpa_run(const smma_run *r) {
  static void (*const run[5][2])(const smma_run *, const tr_constants *) = {
      {tr_run_4_1, tr_run_4_2},
      {tr_run_8_1, tr_run_8_2},
      {tr_run_wide_4_1, tr_run_wide_4_2},
      {tr_run_wide_8_1, tr_run_wide_8_2},
      {tr_run_grouped_1, tr_run_grouped_2},
  };
  const tr_constants t = tr_constants_of(&r->plan->operation);
  run[t.shape.grouped ? 4 : t.shape.wide * 2 + (t.shape.length == 8)][t.shape.revision != 1](r, &t);
}

static const smma_kernel_family tr_fdpa_family = {
    tr_fdpa_takes, PANEL,           deficit_row_bytes, deficit_column_bytes,
    tr_pack_rows,  tr_pack_columns, tr_fdpa_run,       SMMA_MODE_NEAREST};

#endif
