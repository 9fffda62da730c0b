/* C-FDPA with L = 2 (RDNA 3) and GD-FDPA with L = 4 (RDNA 4), F = 24 and Fc = 26, into FP32, FP16 or BF16.

   A product a b is exact in binary32. Of a group of products e is the greatest exponent, of c C; everything is in units
   of 2^(E - 24), where E is the greatest of all e and C - 2: so c is below 2^27 units, and sums below 2^30. They are
   converted to binary32, RNE, and scaled back; of BF16 the lower half is then cut off.
   - GD-FDPA: products are rounded down in units of their group, which is done by adding to the exponent field and
     converting, then the groups' sums by shifting. A product of -0 is made +0, which would round down to -1.
   - C-FDPA: products are multiplied by the scale that has the sign of c; the sign of what comes out, zeros' too, is
     the one unit that they count less.
   How exponents are compared: deficits_compare.h. c is the result as it is, -0 as +0, where all products are zero (the
   complements of two zeros are less than what rounding sees of c), and where it is infinite, as a run's own sums may
   become. A row whose exponents do not fit is left to the core. */
#ifndef SMMA_GEMM_FAMILY_C_FDPA_H
#define SMMA_GEMM_FAMILY_C_FDPA_H

#include "gemm/family/tr_fdpa.h"

enum { C_FDPA_LEAST_NORMAL_BASE = -62 }; /* below 63 binades a subnormal's deficit is one that was cut */

/* What is constant where the work is inlined. */
typedef struct {
  int length, group;   /* products in a block, and in a group */
  bool opposing, wide; /* C-FDPA; formats with 8 exponent bits */
  smma_format output;
} c_fdpa_shape;

static bool c_fdpa_takes(const smma_operation *o) {
  const smma_c_fdpa *p = &o->rule.with.c_fdpa;
  const smma_encoding a = smma_encoding_of(o->a), b = smma_encoding_of(o->b);
  const bool alike = (a.exponent_bits == 8) == (b.exponent_bits == 8);
  const int length = smma_block_of(o);
  const bool pairs = length == 2 || (o->rule.algorithm == SMMA_GD_FDPA && length == 4 && p->group == 2);
  const bool bytes = o->rule.algorithm == SMMA_GD_FDPA && length == 4 && p->group == 4 && a.bits == 8 && b.bits == 8;
  if (o->rule.algorithm != SMMA_C_FDPA && o->rule.algorithm != SMMA_GD_FDPA) return false;
  if (length == 2 && o->rule.algorithm == SMMA_GD_FDPA && p->group < 2) return false;
  return (pairs || bytes) && p->alignment_bits == 24 && p->c_bits == 26 && alike && a.bits <= 16 && b.bits <= 16 &&
         a.exponent_bits >= 4 && b.exponent_bits >= 4 &&
         (p->output == SMMA_F32 || p->output == (a.exponent_bits == 8 ? SMMA_BF16 : SMMA_F16)) &&
         (p->output == SMMA_F16 || p->overflow == SMMA_SUM_TO_INFINITY) && o->c == o->d;
}

typedef struct {
  vi top; /* e as an exponent field, for a deficit of 0 */
  vi exponents, two, scale, unit;
  vf zero;
  vb picker[4], certain;
  bool saturates;
} c_fdpa_words;

static inline c_fdpa_words c_fdpa_words_of(const smma_operation *o, int base) {
  c_fdpa_words w;
  w.top = vi_keep(vi_set((int32_t)((uint32_t)(127 + deficit_top(o) + base) << 23)));
  w.exponents = vi_keep(vi_set(255 << 23));
  w.two = vi_keep(vi_set(2 << 23));
  w.scale = vi_keep(vi_set((int32_t)(278u << 23))); /* 2^(24 - E) is scale - E */
  w.unit = vi_keep(vi_set(24 << 23));               /* 2^(E - 24) is E - unit */
  w.zero = vi_as_float(vi_keep(vi_set(0)));
  for (int v = 0; v < 4; v++) w.picker[v] = vb_keep(vb_picker(v));
  w.certain = vb_keep(vb_repeat(DEFICIT_CERTAIN * 0x01010101));
  w.saturates = o->rule.with.c_fdpa.overflow == SMMA_SUM_SATURATES;
  return w;
}

/* The least sums of bytes of each group of a row, the second the same where there is one group. */
static inline __attribute__((always_inline)) deficit_least c_fdpa_compare(c_fdpa_shape s, const unsigned char *a,
                                                                          const vb *column) {
  deficit_least least;
  UNROLL for (int k = 0; k < s.length; k++) {
    const vb sum = vb_add_four(column[k], deficit_row_word(a, s.length + k));
    vb *of = &least.of[k / s.group];
    *of = k % s.group ? vb_min(*of, sum) : sum;
  }
  if (s.length == s.group) least.of[1] = least.of[0];
  return least;
}

enum { C_FDPA_LEAST_OF_HALF = (127 - 14) << 23 }; /* the exponent that c has at least, as a field */

/* E of a vector, from its groups' exponents and c. */
static inline __attribute__((always_inline)) vi c_fdpa_exponent(c_fdpa_shape s, const c_fdpa_words *w, vi products,
                                                                vf c) {
  vi of_c = vi_and(vf_bits(c), w->exponents);
  if (s.output == SMMA_F16) of_c = vi_max(of_c, vi_set(C_FDPA_LEAST_OF_HALF));
  return vi_max(products, vi_subtract(of_c, w->two));
}

/* The sum times 2^(E - 24), with the sign of `scale`. To FP16 it is rounded once: of more than 24 bits the last seven
   become one that tells whether any of them is set. */
static inline __attribute__((always_inline)) vf c_fdpa_round(c_fdpa_shape s, const c_fdpa_words *w, vi sum, vf scale) {
  const vi low = vi_set(0x7f), cut = vi_and_not(sum, low), finite = vi_set(INT32_MAX);
  vf d;
  if (s.output != SMMA_F16) {
    d = vf_multiply_add(vi_to_float(sum), scale, w->zero);
    return s.output == SMMA_BF16 ? vi_as_float(vi_and(vf_bits(d), vi_set((int32_t)0xffff0000))) : d;
  }
  sum = vi_select(vi_less(vi_set((1 << 24) - 1), vi_magnitude(sum)),
                  vi_or_where(vi_has(sum, low), cut, vi_set(0x40), cut), sum);
  d = vf_round_to_half(vf_multiply(vi_to_float(sum), scale));
  if (w->saturates) {
    const vm infinite = vi_equal(vi_and(vf_bits(d), finite), w->exponents);
    const vi greatest = vf_bits(vf_set(65504)), sign = vi_and_not(vf_bits(d), finite);
    d = vi_as_float(vi_select(infinite, vi_or(greatest, sign), vf_bits(d)));
  }
  return vf_add(d, w->zero);
}

static inline __attribute__((always_inline)) vf c_fdpa_product(const unsigned char *a, const unsigned char *b, int k,
                                                               int v) {
  const vf x = vi_as_float(vi_set((int32_t)*deficit_row_word(a, k)));
  return vf_multiply(x, vf_load((const float *)b + (k * 4 + v) * LANES));
}

/* C-FDPA. Where p 2^(24 - E) is less than 2^-126 it is less than a unit, too. */
static inline __attribute__((always_inline)) vf c_fdpa_add_opposing(c_fdpa_shape s, const c_fdpa_words *w, vi top,
                                                                    vi deficit, vf c, const unsigned char *a,
                                                                    const unsigned char *b, int v) {
  const vi exponent = c_fdpa_exponent(s, w, vi_subtract(top, deficit), c);
  const vi sign = vi_and(vf_bits(c), vi_set(INT32_MIN)), one = vi_set(127 << 23);
  const vi field = vi_max(vi_add(vi_subtract(top, exponent), one), vi_set(0));
  const vf scale = vi_as_float(vi_or(field, sign));
  const vf units = vi_as_float(vi_or(vi_subtract(w->scale, exponent), sign));
  vi sum = vf_truncate(vf_multiply(c, units));
  UNROLL for (int k = 0; k < 2; k++) {
    const vf p = vf_multiply(c_fdpa_product(a, b, k, v), scale);
    sum = vi_add(sum, vi_subtract(vf_truncate(p), vi_shift_right(vf_bits(p), 31)));
  }
  return c_fdpa_round(s, w, sum, vi_as_float(vi_or(vi_subtract(exponent, w->unit), sign)));
}

/* GD-FDPA: one group, rounded down in its own units. */
static inline __attribute__((always_inline)) vi c_fdpa_group(c_fdpa_shape s, const c_fdpa_words *w, int first,
                                                             vi deficit, const unsigned char *a, const unsigned char *b,
                                                             int v) {
  vi sum = vi_set(0);
  UNROLL for (int k = first; k < first + s.group; k++) {
    const vf x = vi_as_float(vi_set((int32_t)*deficit_row_word(a, k)));
    const vf p = vf_multiply_add(x, vf_load((const float *)b + (k * 4 + v) * LANES), w->zero);
    const vi term = vf_floor(vi_as_float(vi_add(vf_bits(p), deficit)));
    sum = k == first ? term : vi_add(sum, term);
  }
  return sum;
}

/* c in units, rounded down; 0 from -1 on, without -1, where a unit is more than the least exponent of c. */
static inline __attribute__((always_inline)) vi c_fdpa_round_down(c_fdpa_shape s, const c_fdpa_words *w, vf x,
                                                                  vi exponent) {
  vm tiny = vi_less(vf_bits(x), vi_set((int32_t)0xbf800000));
  if (s.output == SMMA_F16) tiny = vm_and(tiny, vi_less(vi_set(C_FDPA_LEAST_OF_HALF), vi_subtract(exponent, w->unit)));
  return vi_select(tiny, vi_set(0), vf_floor(x));
}

static inline __attribute__((always_inline)) vf c_fdpa_add_down(c_fdpa_shape s, const c_fdpa_words *w, vi top,
                                                                const vi *deficit, vf c, const unsigned char *a,
                                                                const unsigned char *b, int v) {
  const bool two = s.length > s.group;
  const vi first = vi_subtract(top, deficit[0]), second = two ? vi_subtract(top, deficit[1]) : first;
  const vi exponent = c_fdpa_exponent(s, w, two ? vi_max(first, second) : first, c);
  vi sum = c_fdpa_round_down(s, w, vf_multiply(c, vi_as_float(vi_subtract(w->scale, exponent))), exponent);
  vi group = c_fdpa_group(s, w, 0, deficit[0], a, b, v);
  sum = vi_add(sum, vi_shift_down_by(group, vi_shift_right(vi_subtract(exponent, first), 23)));
  if (two) {
    group = c_fdpa_group(s, w, s.group, deficit[1], a, b, v);
    sum = vi_add(sum, vi_shift_down_by(group, vi_shift_right(vi_subtract(exponent, second), 23)));
  }
  return c_fdpa_round(s, w, sum, vi_as_float(vi_subtract(exponent, w->unit)));
}

/* Whether the kernel can compute the row, and which columns keep c, if any may. */
static inline __attribute__((always_inline)) bool c_fdpa_fits(c_fdpa_shape s, const c_fdpa_words *w,
                                                              const unsigned char *x, int base, int columns_most,
                                                              deficit_least least, bool *zeros) {
  const int of_row = deficit_row_base(s.length, x), bases = base + of_row;
  bool fits = bases >= TR_LEAST_BASE && bases <= TR_GREATEST_BASE;
  *zeros = vb_any_less(w->certain, least.of[0]) || (s.length > s.group && vb_any_less(w->certain, least.of[1]));
  if (!s.wide) return fits;
  if (*zeros) fits &= deficit_row_most(s.length, x) + columns_most <= DEFICIT_CERTAIN;
  /* C-FDPA reads subnormals as zeros: none of them is among numbers of which none was cut. */
  if (s.opposing)
    fits &= of_row >= C_FDPA_LEAST_NORMAL_BASE && base >= C_FDPA_LEAST_NORMAL_BASE &&
            deficit_row_most(s.length, x) <= DEFICIT_CERTAIN && columns_most <= DEFICIT_CERTAIN;
  return fits;
}

/* d, or c where all products are zero, and where it is infinite; -0 becomes +0, and of C-FDPA what is subnormal. */
static inline __attribute__((always_inline)) vf c_fdpa_keep(c_fdpa_shape s, const c_fdpa_words *w, vb least, int v,
                                                            vf c, vf d) {
  const vi exponent = vi_and(vf_bits(c), w->exponents);
  const vm zero = vi_has(vb_pick(vb_less(w->certain, least), v, w->picker[v]), vi_set(1 << 22));
  const vm special = vi_equal(exponent, w->exponents);
  if (s.opposing && s.output != SMMA_F16) c = vf_select(vi_equal(exponent, vi_set(0)), w->zero, c);
  return vf_add_where(vm_or(zero, special), c, w->zero, d);
}

static inline __attribute__((always_inline)) void c_fdpa_row(c_fdpa_shape s, const c_fdpa_words *w,
                                                             const unsigned char *x, const unsigned char *b,
                                                             deficit_least least, bool keeps, float *c) {
  const vi top = s.wide ? vi_add(w->top, vi_set(deficit_row_base_field(s.length, x))) : w->top;
  const vb all = vb_min(least.of[0], least.of[1]);
  vf d[4];
  /* A group of zeros has no exponent, and may take any that is not above the other's. */
  if (s.length > s.group) least.of[0] = vb_min(least.of[0], w->certain), least.of[1] = vb_min(least.of[1], w->certain);
  UNROLL for (int v = 0; v < 4; v++) {
    const vf start = vf_load(c + v * LANES);
    const vi deficit[2] = {vb_pick(least.of[0], v, w->picker[v]), vb_pick(least.of[1], v, w->picker[v])};
    d[v] = s.opposing ? c_fdpa_add_opposing(s, w, top, deficit[0], start, x, b, v)
                      : c_fdpa_add_down(s, w, top, deficit, start, x, b, v);
    if (keeps) d[v] = c_fdpa_keep(s, w, all, v, start, d[v]);
  }
  UNROLL for (int v = 0; v < 4; v++) vf_store(c + v * LANES, d[v]);
}

static void c_fdpa_leave(const smma_run *r, size_t row, size_t block, float *c) {
  for (size_t v = 0; v < PANEL; v += LANES) {
    float result[LANES];
    memcpy(result, c + v, sizeof result);
    smma_compute_lanes(r, row, v, block, (UINT64_C(1) << LANES) - 1, c + v, result);
    memcpy(c + v, result, sizeof result);
  }
}

static inline __attribute__((always_inline)) void c_fdpa_block(const smma_run *r, c_fdpa_shape s, size_t first,
                                                               size_t rows, size_t block, bool *calm) {
  const size_t row_bytes = deficit_row_block((size_t)s.length);
  const unsigned char *a = (const unsigned char *)r->a + (block * r->packed_rows + first) * row_bytes;
  const unsigned char *b = (const unsigned char *)r->b + block * PANEL * deficit_column_block((size_t)s.length);
  const int32_t *range = deficit_column_bases(s.length, b) + PANEL;
  const int base = range[0] == range[1] ? range[0] : TR_LEAST_BASE - 256; /* of all columns, or one out of range */
  const c_fdpa_words w = c_fdpa_words_of(&r->multiplier->operation, base);
  vb column[4];
  UNROLL for (int k = 0; k < s.length; k++) column[k] = vb_load(b + (size_t)(s.length * 4 + k) * PANEL);
  for (size_t row = 0; row < rows; row++) {
    const unsigned char *x = deficit_row(a, row_bytes, row);
    const deficit_least least = c_fdpa_compare(s, x, column);
    float *c = (float *)r->accumulator + (first + row) * PANEL;
    bool zeros;
    if (c_fdpa_fits(s, &w, x, base, range[2], least, &zeros)) {
      c_fdpa_row(s, &w, x, b, least, zeros || !*calm, c);
    } else {
      c_fdpa_leave(r, first + row, block, c);
      *calm = false;
    }
  }
}

static inline __attribute__((always_inline)) void c_fdpa_panel(const smma_run *r, c_fdpa_shape s) {
  const size_t blocks = deficit_blocks(&r->multiplier->operation);
  for (size_t row = 0; row < r->rows; row += DEFICIT_CHUNK) {
    const size_t rows = r->rows - row < DEFICIT_CHUNK ? r->rows - row : DEFICIT_CHUNK;
    /* FP16 may become infinite anywhere */
    bool calm = s.output != SMMA_F16 && tr_are_calm((const float *)r->accumulator + row * PANEL, rows * PANEL);
    for (size_t block = r->first * blocks; block < r->last * blocks; block++)
      c_fdpa_block(r, s, row, rows, block, &calm);
  }
}

#define C_FDPA_SHAPE(NAME, LENGTH, GROUP, OPPOSING, WIDE, OUTPUT) \
  static void NAME(const smma_run *r) { c_fdpa_panel(r, (c_fdpa_shape){LENGTH, GROUP, OPPOSING, WIDE, OUTPUT}); }
C_FDPA_SHAPE(c_fdpa_run_opposing, 2, 2, true, false, SMMA_F32)
C_FDPA_SHAPE(c_fdpa_run_opposing_half, 2, 2, true, false, SMMA_F16)
C_FDPA_SHAPE(c_fdpa_run_opposing_wide, 2, 2, true, true, SMMA_F32)
C_FDPA_SHAPE(c_fdpa_run_opposing_bf16, 2, 2, true, true, SMMA_BF16)
C_FDPA_SHAPE(c_fdpa_run_pairs, 4, 2, false, false, SMMA_F32)
C_FDPA_SHAPE(c_fdpa_run_pairs_half, 4, 2, false, false, SMMA_F16)
C_FDPA_SHAPE(c_fdpa_run_pairs_wide, 4, 2, false, true, SMMA_F32)
C_FDPA_SHAPE(c_fdpa_run_pairs_bf16, 4, 2, false, true, SMMA_BF16)
C_FDPA_SHAPE(c_fdpa_run_pair, 2, 2, false, false, SMMA_F32)
C_FDPA_SHAPE(c_fdpa_run_pair_half, 2, 2, false, false, SMMA_F16)
C_FDPA_SHAPE(c_fdpa_run_pair_wide, 2, 2, false, true, SMMA_F32)
C_FDPA_SHAPE(c_fdpa_run_pair_bf16, 2, 2, false, true, SMMA_BF16)
C_FDPA_SHAPE(c_fdpa_run_bytes, 4, 4, false, false, SMMA_F32)
C_FDPA_SHAPE(c_fdpa_run_bytes_half, 4, 4, false, false, SMMA_F16)

static void c_fdpa_run(const smma_run *r) {
  static void (*const run[4][4])(const smma_run *) = {
      {c_fdpa_run_pairs, c_fdpa_run_pairs_half, c_fdpa_run_pairs_wide, c_fdpa_run_pairs_bf16},
      {c_fdpa_run_opposing, c_fdpa_run_opposing_half, c_fdpa_run_opposing_wide, c_fdpa_run_opposing_bf16},
      {c_fdpa_run_bytes, c_fdpa_run_bytes_half, NULL, NULL},
      {c_fdpa_run_pair, c_fdpa_run_pair_half, c_fdpa_run_pair_wide, c_fdpa_run_pair_bf16},
  };
  const smma_operation *o = &r->multiplier->operation;
  const int kind = o->rule.algorithm == SMMA_C_FDPA ? 1
                   : smma_block_of(o) == 2          ? 3
                   : o->rule.with.c_fdpa.group == 4 ? 2
                                                    : 0;
  run[kind][2 * deficit_is_wide(o) + (o->d != SMMA_F32)](r);
}

static const smma_kernel_family c_fdpa_family = {c_fdpa_takes,
                                                 PANEL,
                                                 deficit_row_bytes,
                                                 deficit_column_bytes,
                                                 tr_pack_rows,
                                                 tr_pack_columns,
                                                 c_fdpa_run,
                                                 SMMA_MODE_NEAREST_EVEN,
                                                 false,
                                                 false};

#endif
