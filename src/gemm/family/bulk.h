/* Bulk normalization of RISC-V (docs/algorithms/bulk.md): each product is rounded to odd at F = 23 + G bits below emax,
   the exact sum of the terms is rounded to odd, and so is its sum with c.

   A product a b is exact in binary32. Its term is the integer a b 2^(F - emax), rounded to odd. A zero product must
   stay zero, and another product must not vanish, because it makes its term odd. So products are scaled by
   multiplication.

   Terms are below 3.97 * 2^F, so 2^(6 - G) terms add up in 32 bits to a partial sum. The sum of all K = 2^G terms has
   up to 25 + 2 G bits. Two 32-bit numbers hold it: `low` is the sum modulo 2^32, and `high` adds up the partial sums
   without their last 2 G - 6 bits. They determine the sum, because the bits that `high` lacks add up to less than
   2^(4 G - 12). The sum is then divided into two parts that are exact in binary32: `high` without its last 16 bits,
   and the rest, which is below 2^24. A single addition of both rounds the sum to odd.

   deficits_compare.h explains how exponents are compared. If all products are zero, so are the terms. If a row's
   exponents do not fit bytes or fields of binary32 (BF16), it is computed from significands and integer exponents. */
#ifndef SMMA_GEMM_FAMILY_BULK_H
#define SMMA_GEMM_FAMILY_BULK_H

#include "gemm/family/aligned.h"
#include "gemm/family/pairs.h"
#include "gemm/family/t_fdpa.h"
#include "gemm/family/tr_fdpa.h"

enum {
  BULK_LEAST_BASE = -35, /* least base of a row plus a column: with a deficit of 62 and G = 6, 2^(emax - F) is normal */
  BULK_GREATEST_BASE = 110, /* greatest base of a row plus a column: sums stay below 2^118, accumulators finite */
  BULK_TERM_BITS = 6,       /* 2^(6 - G) terms add up in 32 bits */
  BULK_SPLIT = 0xffff,      /* the last 16 bits of `high`, which count with the rest of the sum */
  BULK_LEAST_SHIFT = -100   /* a product that must be scaled by less is scaled by 2^-100: its term is 1 or -1 anyway */
};

/* Parameters that are constants in the inlined code. */
typedef struct {
  int length, guard; /* K, G */
  bool wide;         /* formats with 8 exponent bits */
} bulk_shape;

/* Returns F. */
static inline int bulk_bits(int guard) { return 23 + guard; }

/* bulk_terms returns how many terms make a partial sum. bulk_shift returns the number of last bits of a partial sum
   that `high` lacks, in every lane. */
static inline int bulk_terms(bulk_shape s) { return 1 << (BULK_TERM_BITS - s.guard); }
static inline vi bulk_shift(bulk_shape s) { return vi_set(2 * s.guard - BULK_TERM_BITS); }

static bool bulk_reads(smma_format format) { return format == SMMA_BF16 || format == SMMA_E4M3 || format == SMMA_E5M2; }

/* Reports whether a step aligns all products to their greatest exponent, and rounds the terms and their sum to odd. */
static bool bulk_aligns(const smma_step *s, int k) {
  return aligned_is_sum(s, k, SMMA_NONE, SMMA_ROUND_TO_ODD) && s->output == SMMA_F32 &&
         s->rounding == SMMA_ROUND_TO_ODD && s->overflow == SMMA_SUM_TO_INFINITY &&
         s->subnormal_outputs == SMMA_SUBNORMALS_KEPT && !s->early_underflow && s->zero_sign == SMMA_ZERO_POSITIVE;
}

/* Reports whether a step adds a single sum to c and rounds to odd. */
static bool bulk_adds_c(const smma_step *s) {
  return smma_is_exact_step(s, 1, SMMA_JOIN_CHAIN) && s->start == SMMA_START_C && s->output == SMMA_F32 &&
         s->rounding == SMMA_ROUND_TO_ODD && s->subnormal_outputs == SMMA_SUBNORMALS_KEPT;
}

/* Returns G. */
static int bulk_guard(const smma_operation *o) { return o->rule.with.composition.step[0].term.bits - 23; }

static bool bulk_takes(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  const bool alike = (o->a == SMMA_BF16) == (o->b == SMMA_BF16);
  int guard;
  if (o->rule.algorithm != SMMA_COMPOSITION || p->steps != 2 || !smma_has_one_nan(o->rule.nan) || o->scale_block != 0 ||
      !bulk_reads(o->a) || !bulk_reads(o->b) || !alike || o->c != SMMA_F32 || o->d != SMMA_F32)
    return false;
  guard = bulk_guard(o);
  return aligned_has_plain_products(p) && p->subnormal_c == SMMA_SUBNORMALS_KEPT && p->scaled_step == 0 &&
         bulk_aligns(&p->step[0], o->k) && bulk_adds_c(&p->step[1]) && guard >= 3 && guard <= BULK_TERM_BITS &&
         o->k == 1 << guard;
}

static void bulk_pack_rows(const smma_pack *pack) {
  const smma_operation *o = &pack->multiplier->operation;
  deficit_pack_rows(pack, smma_power_of_two(bulk_bits(bulk_guard(o)) - deficit_top(o)));
}

static void bulk_pack_columns(const smma_pack *pack) { deficit_pack_columns(pack, true); }

/* ---- Sums ---- */

/* A sum of terms, as the head of this file describes. */
typedef struct {
  vi low, high;
} bulk_sum;

/* Adds a partial sum. If G is 3, `low` alone holds the whole sum. */
static inline __attribute__((always_inline)) void bulk_add(bulk_shape s, vi terms, bulk_sum *sum) {
  sum->low = vi_add(sum->low, terms);
  if (s.guard > BULK_TERM_BITS / 2) sum->high = vi_add(sum->high, vi_shift_down_by(terms, bulk_shift(s)));
}

/* Returns the sum times `unit`, rounded to odd. */
static inline __attribute__((always_inline)) vf bulk_round(bulk_shape s, bulk_sum sum, vf unit) {
  const vi high = vi_and_not(s.guard > BULK_TERM_BITS / 2 ? sum.high : sum.low, vi_set(BULK_SPLIT));
  const vi rest = vi_subtract(sum.low, vi_shift_left_by(high, bulk_shift(s)));
  const vf unit_of_high = vf_multiply(unit, vf_set((float)(1 << (2 * s.guard - BULK_TERM_BITS))));
  return vf_add_odd(vf_multiply(vi_to_float(high), unit_of_high), vf_multiply(vi_to_float(rest), unit));
}

/* Computes the sums of the terms of one row and four vectors of columns. `scale` is 2^deficit, for the greatest
   exponent of each column's products. */
static inline __attribute__((always_inline)) void bulk_products(bulk_shape s, const unsigned char *a,
                                                                const unsigned char *b, const vf scale[4],
                                                                bulk_sum sum[4]) {
  const float *column_value = (const float *)b;
  UNROLL for (int v = 0; v < 4; v++) sum[v].low = sum[v].high = vi_set(0);
  for (int first = 0; first < s.length; first += bulk_terms(s)) {
    vi terms[4] = {vi_set(0), vi_set(0), vi_set(0), vi_set(0)};
    UNROLL for (int k = first; k < first + bulk_terms(s); k++) {
      const vf x = vi_as_float(vi_set((int32_t)*deficit_row_word(a, k)));
      UNROLL for (int v = 0; v < 4; v++) {
        const vf p = vf_multiply(vf_multiply(x, vf_load(column_value + (k * 4 + v) * LANES)), scale[v]);
        terms[v] = vi_keep(vi_add(terms[v], vf_to_odd(p)));
      }
    }
    UNROLL for (int v = 0; v < 4; v++) bulk_add(s, terms[v], &sum[v]);
  }
}

/* ---- Exponents of any size ---- */

/* Updates one row of accumulators, by the integer exponents of all products. */
static inline __attribute__((always_inline)) void bulk_compute_exactly(bulk_shape s, vf nan, const tr_elements *a,
                                                                       size_t row, const tr_elements *b,
                                                                       float *accumulator) {
  for (size_t v = 0; v < PANEL; v += LANES) {
    const vi emax = tr_greatest_exponent(s.length, a->exponent + row, b->exponent + v);
    const vi bits = vi_subtract(vi_set(bulk_bits(s.guard)), emax);
    bulk_sum sum = {vi_set(0), vi_set(0)};
    vf products;
    for (int k = 0; k < s.length; k++) {
      const vi shift = vi_add(tr_product_exponent(a->exponent + row, b->exponent + v, k), bits);
      const vi field = vi_add(vi_max(shift, vi_set(BULK_LEAST_SHIFT)), vi_set(127));
      const vf x = vf_set(a->significand[row + (size_t)k * DEFICIT_CHUNK]);
      const vf p = vf_multiply(x, vf_load(b->significand + v + (size_t)k * PANEL));
      bulk_add(s, vf_to_odd(vf_multiply(p, vi_as_float(vi_shift_left(field, 23)))), &sum);
    }
    products = t_fdpa_scale(bulk_round(s, sum, vf_set(1)), vi_subtract(vi_set(0), bits), true);
    vf_store(accumulator + v, vf_replace_nan(pairs_whole_sum(vf_load(accumulator + v), products), nan));
  }
}

/* ---- Blocks ---- */

/* The rows of a chunk. */
typedef struct {
  deficit_chunk least;
  size_t count, row[DEFICIT_CHUNK];         /* the rows whose exponents fit */
  size_t exact_count, exact[DEFICIT_CHUNK]; /* the other rows */
} bulk_rows;

/* Divides the rows into those whose exponents fit and the others. A row fits if bases are within their bounds, no
   product vanishes, and only products of zeros have a deficit that is not certain. `base` is the base of all columns;
   `columns_most` is twice their greatest deficit. */
static inline __attribute__((always_inline)) void bulk_choose_rows(bulk_shape s, const unsigned char *a, size_t rows,
                                                                   int base, int columns_most, bulk_rows *p) {
  const vb certain = vb_repeat(DEFICIT_CERTAIN * 0x01010101);
  p->count = p->exact_count = 0;
  for (size_t row = 0; row < rows; row++) {
    const unsigned char *x = deficit_row(a, deficit_row_block((size_t)s.length), row);
    const int bases = base + deficit_row_base(s.length, x), most = deficit_row_most(s.length, x) + columns_most;
    bool fits = bases >= BULK_LEAST_BASE && bases <= BULK_GREATEST_BASE && most <= DEFICIT_VISIBLE;
    if (s.wide && most > DEFICIT_CERTAIN) fits &= !vb_any_less(certain, vb_load(p->least.of[0][row]));
    if (fits || !s.wide)
      p->row[p->count++] = row;
    else
      p->exact[p->exact_count++] = row;
  }
}

/* Updates one row of accumulators, if its exponents fit. `unit` is the exponent field of 2^(emax - F) for a deficit of
   0. `calm`: no sum with c can overflow. */
static inline __attribute__((always_inline)) void bulk_row(bulk_shape s, const unsigned char *a, const unsigned char *b,
                                                           vi unit, vb least, bool calm, vf nan, float *accumulator) {
  const vb known = vb_min(least, vb_repeat(DEFICIT_CERTAIN * 0x01010101));
  vi deficit[4];
  vf scale[4];
  bulk_sum sum[4];
  UNROLL for (int v = 0; v < 4; v++) {
    deficit[v] = vb_pick(known, v, vb_picker(v));
    scale[v] = vi_as_float(vi_add(deficit[v], vi_set(127 << 23)));
  }
  bulk_products(s, a, b, scale, sum);
  UNROLL for (int v = 0; v < 4; v++) {
    const vf c = vf_load(accumulator + v * LANES);
    const vf products = bulk_round(s, sum[v], vi_as_float(vi_subtract(unit, deficit[v])));
    const vf d = calm ? vf_add_odd(c, products) : vf_replace_nan(pairs_whole_sum(c, products), nan);
    vf_store(accumulator + v * LANES, d);
  }
}

/* Computes one block of `rows` rows from `first` on. `calm`: no accumulator can become infinite in the rest of the run
   (see tr_are_calm). Returns whether this still holds after the block. */
static inline __attribute__((always_inline)) bool bulk_block(const smma_run *r, bulk_shape s, vf nan, size_t first,
                                                             size_t rows, size_t block, bool calm) {
  const size_t row_bytes = deficit_row_block((size_t)s.length);
  const unsigned char *a = (const unsigned char *)r->a + (block * r->packed_rows + first) * row_bytes;
  const unsigned char *b = (const unsigned char *)r->b + block * PANEL * deficit_column_block((size_t)s.length);
  const int32_t *range = deficit_column_bases(s.length, b) + PANEL;
  /* The columns' base. If their bases differ, a value so low that no row fits. */
  const int base = range[0] == range[1] ? range[0] : BULK_LEAST_BASE - 256;
  const int top = 127 + deficit_top(&r->multiplier->operation) - bulk_bits(s.guard);
  float *accumulator = (float *)r->accumulator + first * PANEL;
  bulk_rows p;
  deficit_compare_rows(s.length, false, a, s.length, row_bytes, r->packed_rows * row_bytes,
                       b + (size_t)s.length * 4 * PANEL, rows, &p.least);
  bulk_choose_rows(s, a, rows, base, range[2], &p);
  for (size_t i = 0; i < p.count; i++) {
    const size_t row = p.row[i];
    const unsigned char *x = deficit_row(a, row_bytes, row);
    const vi unit = vi_set((top + (s.wide ? base + deficit_row_base(s.length, x) : 0)) << 23);
    const vb least = vb_load(p.least.of[0][row]);
    if (calm)
      bulk_row(s, x, b, unit, least, true, nan, accumulator + row * PANEL);
    else
      bulk_row(s, x, b, unit, least, false, nan, accumulator + row * PANEL);
  }
  if (s.wide && p.exact_count) {
    tr_elements of_a, of_b;
    tr_decode(r, true, first, DEFICIT_CHUNK, block, &of_a);
    tr_decode(r, false, 0, PANEL, block, &of_b);
    for (size_t i = 0; i < p.exact_count; i++)
      bulk_compute_exactly(s, nan, &of_a, p.exact[i], &of_b, accumulator + p.exact[i] * PANEL);
    calm = false;
  }
  return calm;
}

static inline __attribute__((always_inline)) void bulk_panel(const smma_run *r, bulk_shape s) {
  const vf nan = fma_f32_nan(r->multiplier->operation.rule.nan, vf_set(0));
  for (size_t row = 0; row < r->rows; row += DEFICIT_CHUNK) {
    const size_t rows = r->rows - row < DEFICIT_CHUNK ? r->rows - row : DEFICIT_CHUNK;
    bool calm = tr_are_calm((const float *)r->accumulator + row * PANEL, rows * PANEL);
    for (size_t block = r->first; block < r->last; block++) calm = bulk_block(r, s, nan, row, rows, block, calm);
  }
}

/* One function per shape, because compilers allocate registers for each function separately. */
#define BULK_SHAPE(NAME, LENGTH, GUARD, WIDE) \
  static void NAME(const smma_run *r) { bulk_panel(r, (bulk_shape){LENGTH, GUARD, WIDE}); }
BULK_SHAPE(bulk_run_8, 8, 3, false)
BULK_SHAPE(bulk_run_16, 16, 4, false)
BULK_SHAPE(bulk_run_32, 32, 5, false)
BULK_SHAPE(bulk_run_64, 64, 6, false)
BULK_SHAPE(bulk_run_wide_8, 8, 3, true)
BULK_SHAPE(bulk_run_wide_16, 16, 4, true)
BULK_SHAPE(bulk_run_wide_32, 32, 5, true)
BULK_SHAPE(bulk_run_wide_64, 64, 6, true)

static void bulk_run(const smma_run *r) {
  static void (*const run[2][4])(const smma_run *) = {
      {bulk_run_8, bulk_run_16, bulk_run_32, bulk_run_64},
      {bulk_run_wide_8, bulk_run_wide_16, bulk_run_wide_32, bulk_run_wide_64},
  };
  const smma_operation *o = &r->multiplier->operation;
  run[deficit_is_wide(o)][bulk_guard(o) - 3](r);
}

#endif
