/* C-FDPA with L = 2 (RDNA 3) and GD-FDPA with L = 2 or 4 (RDNA 4), F = 24 and Fc = 26, to FP32, FP16 or BF16.

   A product a b is exact in binary32. Let e be the greatest exponent in a group of products, C the exponent of c, and E
   the greatest of all e and C - 2. All terms are in units of 2^(E - 24), so c is below 2^27 units and sums are below
   2^30. Sums are converted to binary32 (RNE) and scaled back; for BF16 the lower half is then cleared.
   - GD-FDPA: products are rounded down in units of their group, by adding to the exponent field and converting; then
     the groups' sums are rounded down by shifts. A product of -0 becomes +0, because -0 would be rounded down to -1.
     The greatest product of a group is an integer in the group's units. In the units of another group it is still an
     integer if that group's exponent is at most 10 binades higher and products have 16 bits. If products have 22 bits,
     the limit is 8 binades, with conversions that keep four more bits (below 2^31). Two groups within this limit are
     near each other: both are rounded down in units of the greater exponent and shifted by the same amount.
   - C-FDPA: products are multiplied by 2^(24 - E) with the sign of c. If the result is negative, also if it is -0, the
     product opposes c and counts as a complement, which is one unit less. So the sign bit is subtracted.
   deficits_compare.h explains how exponents are compared. In two cases d is c itself (-0 becomes +0): all products are
   zero, because the complements of two zeros are too small to change the rounding of c; or c is infinite, which can
   happen within a run. If neither case can occur in a row and its groups are near each other, the first pass computes
   it as soon as its exponents are known. The second pass computes the other rows. If a row's exponents do not fit, it
   is computed from significands and integer exponents. */
#ifndef SMMA_GEMM_FAMILY_C_FDPA_H
#define SMMA_GEMM_FAMILY_C_FDPA_H

#include <math.h>

#include "gemm/family/tr_fdpa.h"

/* The least base of a row, and of columns, with which C-FDPA is fast. A base of -62 is an exponent field of 65, and
   subnormals have the field 1, so their deficits are at least 64 and not certain. If all deficits of a row or column
   are certain, it therefore has no subnormals. */
enum { C_FDPA_LEAST_NORMAL_BASE = -62 };

/* Parameters that are constants in the inlined code. */
typedef struct {
  int length, group;   /* products in a block, and in a group */
  bool opposing, wide; /* opposing: C-FDPA; wide: formats with 8 exponent bits */
  smma_format output;
} c_fdpa_shape;

/* Two groups are near each other if the exponents of their greatest products differ by at most C_FDPA_NEAR or
   C_FDPA_NEAR_WIDE binades. Exponents are those of fields, because these determine the position of a product's last
   bit, of subnormals, too. In FP16 the last bit is 20 binades below the exponent, in BF16 14 binades. */
enum {
  C_FDPA_MORE_BITS = 4, /* products of formats with short exponents are converted with this many bits more than 24 */
  C_FDPA_NEAR = 8,      /* for formats with short exponents: 24 + 4 - 20 */
  C_FDPA_NEAR_WIDE = 10 /* for formats with 8 exponent bits: 24 - 14 */
};

/* Returns with how many bits more than F the products of a group are converted. It is 0 for a single group, and for
   formats with 8 exponent bits. */
static inline int c_fdpa_more_bits(int length, int group, bool wide) {
  return length > group && !wide ? C_FDPA_MORE_BITS : 0;
}

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

/* Constants as vectors, for the columns of a panel. Loops over rows hold them in registers. */
typedef struct {
  vi top;         /* exponent field of e + 2, for a group whose deficit and row base are 0 */
  vi exponents;   /* the mask of an exponent field */
  vi scale, unit; /* with x = E + 2 as a field: 2^(24 - E) is scale - x, 2^(E - 24) is x - unit */
  vi up, down;    /* the same two powers, from y = top - x, the deficit of E + 2: up + y and down - y */
  int32_t bases;  /* 2^base of the columns, as bits */
  vf zero;        /* 0 */
  vi more;        /* c_fdpa_more_bits as a field */
  vb picker[4], certain;
  vb near; /* the greatest difference between the sums of bytes of two groups that are near each other */
  bool saturates;
} c_fdpa_words;

static inline c_fdpa_words c_fdpa_words_of(c_fdpa_shape s, const smma_operation *o, int base) {
  const int near = 2 * (s.wide ? C_FDPA_NEAR_WIDE : C_FDPA_NEAR);
  c_fdpa_words w;
  w.top = vi_keep(vi_set((int32_t)((uint32_t)(129 + deficit_top(o) + base) << 23)));
  w.exponents = vi_keep(vi_set(255 << 23));
  w.scale = vi_keep(vi_set((int32_t)(280u << 23)));
  w.unit = vi_keep(vi_set(26 << 23));
  w.up = vi_keep(vi_subtract(w.scale, w.top)), w.down = vi_keep(vi_subtract(w.top, w.unit));
  w.bases = (int32_t)((uint32_t)(127 + base) << 23);
  w.more = vi_keep(vi_set(c_fdpa_more_bits(s.length, s.group, s.wide) << 23));
  w.zero = vi_as_float(vi_keep(vi_set(0)));
  for (int v = 0; v < 4; v++) w.picker[v] = vb_keep(vb_picker(v));
  w.certain = vb_keep(vb_repeat(DEFICIT_CERTAIN * 0x01010101));
  w.near = vb_keep(vb_repeat(near * 0x01010101));
  w.saturates = o->rule.with.c_fdpa.overflow == SMMA_SUM_SATURATES;
  return w;
}

/* Returns the least sum of bytes of each group of a row. With only one group, both are equal. */
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

/* The exponent of FP16's subnormals, as a field of binary32. The rule gives this exponent to a subnormal c, which is a
   normal number with a smaller exponent in binary32. */
enum { C_FDPA_LEAST_OF_HALF = (127 - 14) << 23 };

/* Returns sum * scale, rounded once to FP32 or FP16, with +0 for -0; for BF16 the lower half of FP32 is then cleared.
   `scale` is 2^(E - 24), in C-FDPA with the sign of c. For FP16 a sum of more than 24 bits is first shortened: its last
   seven bits become one sticky bit. If the rule saturates, the greatest FP16 number replaces infinities. */
static inline __attribute__((always_inline)) vf c_fdpa_round(c_fdpa_shape s, const c_fdpa_words *w, vi sum, vf scale) {
  const vi low = vi_set(0x7f), cut = vi_and_not(sum, low), finite = vi_set(INT32_MAX);
  vf d;
  if (s.output != SMMA_F16) {
    d = vf_multiply_add(vi_to_float(sum), scale, w->zero);
    return s.output == SMMA_BF16 ? vi_as_float(vi_and(vf_bits(d), vi_set((int32_t)0xffff0000))) : d;
  }
  sum = vi_select(vi_less(vi_set((1 << 24) - 1), vi_magnitude(sum)), vi_or_where(vi_has(sum, low), cut, vi_set(0x40)),
                  sum);
  d = vf_round_to_half(vf_multiply(vi_to_float(sum), scale));
  if (w->saturates) {
    const vm infinite = vi_equal(vi_and(vf_bits(d), finite), w->exponents);
    const vi greatest = vf_bits(vf_set(65504)), sign = vi_and_not(vf_bits(d), finite);
    d = vi_as_float(vi_select(infinite, vi_or(greatest, sign), vf_bits(d)));
  }
  return vf_add(d, w->zero);
}

/* Returns d of C-FDPA for the v-th vector of columns. `x` holds the row's elements unscaled, so that products have
   their true value. If a scaled product is below 2^-126, it is also less than one unit, so that its rounding does not
   matter. */
static inline __attribute__((always_inline)) vf c_fdpa_add_opposing(c_fdpa_shape s, const c_fdpa_words *w, vi top,
                                                                    vi deficit, vf c, const vf *x,
                                                                    const unsigned char *b, int v) {
  vi exponent = vi_subtract(top, deficit), sum;
  vf units;
  if (s.output == SMMA_F16) exponent = vi_max(exponent, vi_set(C_FDPA_LEAST_OF_HALF));
  exponent = vf_exponent_above(c, exponent);
  units = vi_as_float(vi_subtract(w->scale, exponent));
  sum = vf_truncate(vf_multiply(c, units));
  UNROLL for (int k = 0; k < 2; k++) {
    const vf p = vf_multiply(vf_multiply(x[k], vf_load((const float *)b + (k * 4 + v) * LANES)), units);
    sum = vi_add(sum, vi_subtract(vf_truncate(p), vi_shift_right(vf_bits(p), 31)));
  }
  return c_fdpa_round(s, w, sum, vi_as_float(vi_subtract(exponent, w->unit)));
}

/* Returns the sum of the products of one group of GD-FDPA, each rounded down in the group's units. */
static inline __attribute__((always_inline)) vi c_fdpa_group(c_fdpa_shape s, const c_fdpa_words *w, int first,
                                                             vi deficit, const unsigned char *a, const unsigned char *b,
                                                             int v) {
  vi sum = vi_set(0);
  UNROLL for (int k = first; k < first + s.group; k++) {
    const vf x = vi_as_float(vi_set((int32_t)*deficit_row_word(a, k)));
    const vf y = vi_as_float(vi_keep(vi_load((const int32_t *)b + (k * 4 + v) * LANES)));
    const vf p = vf_multiply_add(x, y, w->zero);
    const vi term = vf_floor(vi_as_float(vi_add(vf_bits(p), deficit)));
    sum = k == first ? term : vi_add(sum, term);
  }
  return sum;
}

/* Returns x, which is c in units, rounded down. Returns 0 if -1 < x < 0, because the rule ignores a c whose exponent is
   below the unit's. An FP16 subnormal has the exponent -14, so it is not ignored if the unit is at most 2^-14. */
static inline __attribute__((always_inline)) vi c_fdpa_round_down(c_fdpa_shape s, vf x, vf unit) {
  vm counts = vi_less(vi_set((int32_t)0xbf7fffff), vf_bits(x));
  if (s.output == SMMA_F16) counts = vm_or(counts, vi_less(vf_bits(unit), vi_set(C_FDPA_LEAST_OF_HALF + 1)));
  return vf_floor_where(counts, x);
}

/* Returns d of GD-FDPA for the v-th vector of columns. The deficit of E + 2 (`least`) is the least deficit of a group,
   or negative if c determines E. A group's sum is shifted by the difference between its own deficit and `least`. */
static inline __attribute__((always_inline)) vf c_fdpa_add_down(c_fdpa_shape s, const c_fdpa_words *w, vi top,
                                                                const vi *deficit, vf c, const unsigned char *a,
                                                                const unsigned char *b, int v) {
  const int groups = s.length / s.group;
  const vi products = groups == 2 ? vi_min(deficit[0], deficit[1]) : deficit[0];
  vi of_c = vi_and(vf_bits(c), w->exponents), least, lower, sum;
  vf unit;
  if (s.output == SMMA_F16) of_c = vi_max(of_c, vi_set(C_FDPA_LEAST_OF_HALF));
  least = vi_min(products, vi_subtract(top, of_c));
  unit = vi_as_float(vi_subtract(w->down, least));
  sum = c_fdpa_round_down(s, vf_multiply(c, vi_as_float(vi_add(w->up, least))), unit);
  lower = c_fdpa_more_bits(s.length, s.group, s.wide) ? vi_subtract(least, w->more) : least;
  UNROLL for (int g = 0; g < groups; g++) {
    const vi group = c_fdpa_group(s, w, g * s.group, deficit[g], a, b, v);
    sum = vi_add(sum, vi_shift_down_by(group, vi_shift_right(vi_subtract(deficit[g], lower), 23)));
  }
  return c_fdpa_round(s, w, sum, unit);
}

/* Does the same as c_fdpa_add_down for groups that are near each other. `deficit` is that of the greater exponent, in
   whose units all products are rounded down. */
static inline __attribute__((always_inline)) vf c_fdpa_add_near(c_fdpa_shape s, const c_fdpa_words *w, vi top,
                                                                vi deficit, vf c, const unsigned char *a,
                                                                const unsigned char *b, int v) {
  const vi of_products = vi_keep(vi_subtract(top, deficit));
  const vi exponent = vi_max(vi_and(vf_bits(c), w->exponents), of_products);
  const vi lower = c_fdpa_more_bits(s.length, s.group, s.wide) ? vi_subtract(of_products, w->more) : of_products;
  const vi by = vi_shift_right(vi_subtract(exponent, lower), 23);
  const vf unit = vi_as_float(vi_subtract(exponent, w->unit));
  vi sum = c_fdpa_round_down(s, vf_multiply(c, vi_as_float(vi_subtract(w->scale, exponent))), unit);
  UNROLL for (int first = 0; first < s.length; first += s.group) sum =
      vi_add(sum, vi_shift_down_by(c_fdpa_group(s, w, first, deficit, a, b, v), by));
  return c_fdpa_round(s, w, sum, unit);
}

/* Reports whether a row's exponents fit. Sets `*zeros` if all products of the row with some column may be zero; it is
   always false where such products need no care (see c_fdpa_are_calm). */
static inline __attribute__((always_inline)) bool c_fdpa_fits(c_fdpa_shape s, const c_fdpa_words *w,
                                                              const unsigned char *x, int base, int columns_most,
                                                              deficit_least least, bool *zeros) {
  const int of_row = deficit_row_base(s.length, x), bases = base + of_row;
  bool fits = bases >= TR_LEAST_BASE && bases <= TR_GREATEST_BASE;
  *zeros = (s.wide || s.opposing) &&
           (vb_any_less(w->certain, least.of[0]) || (s.length > s.group && vb_any_less(w->certain, least.of[1])));
  if (!s.wide) return true; /* bases are zero */
  if (*zeros) fits &= deficit_row_most(s.length, x) + columns_most <= DEFICIT_CERTAIN;
  /* A negative product must not vanish, because it is rounded down to -1 unit however small it is. */
  if (!s.opposing) fits &= deficit_row_most(s.length, x) + columns_most <= DEFICIT_VISIBLE;
  /* C-FDPA reads subnormals as zeros; numbers with certain deficits include no subnormals. */
  if (s.opposing)
    fits &= of_row >= C_FDPA_LEAST_NORMAL_BASE && base >= C_FDPA_LEAST_NORMAL_BASE &&
            deficit_row_most(s.length, x) <= DEFICIT_CERTAIN && columns_most <= DEFICIT_CERTAIN;
  return fits;
}

/* Returns d, or c in lanes in which all products are zero or c is infinite. In such a c, -0 becomes +0; so do
   subnormals in C-FDPA, except in FP16. */
static inline __attribute__((always_inline)) vf c_fdpa_keep(c_fdpa_shape s, const c_fdpa_words *w, vb least, int v,
                                                            vf c, vf d) {
  const vi exponent = vi_and(vf_bits(c), w->exponents);
  const vm zero = vi_has(vb_pick(vb_less(w->certain, least), v, w->picker[v]), vi_set(1 << 22));
  const vm special = vi_equal(exponent, w->exponents);
  if (s.opposing && s.output != SMMA_F16) c = vf_select(vi_equal(exponent, vi_set(0)), w->zero, c);
  return vf_add_where(vm_or(zero, special), c, w->zero, d);
}

/* Updates one row of accumulators. `keeps`: d may be c itself, or the groups may be far from each other. */
static inline __attribute__((always_inline)) void c_fdpa_row(c_fdpa_shape s, const c_fdpa_words *w, bool keeps,
                                                             const unsigned char *x, const unsigned char *b,
                                                             deficit_least least, float *c) {
  const vi field = vi_set(s.wide ? deficit_row_base_field(s.length, x) : 0), top = vi_add(w->top, field);
  const vb all = vb_min(least.of[0], least.of[1]), near = s.wide ? all : vb_min(all, w->certain);
  const bool are_near = !keeps && s.length > s.group;
  c_fdpa_words of_row = *w;
  vf d[4], row[2];
  if (s.wide) of_row.up = vi_subtract(w->up, field), of_row.down = vi_add(w->down, field);
  /* A group of zeros has no exponent; it can take any that is not above the other group's. */
  if (!s.opposing) least.of[0] = vb_min(least.of[0], w->certain), least.of[1] = vb_min(least.of[1], w->certain);
  UNROLL for (int k = 0; k < 2; k++) {
    row[k] = vi_as_float(vi_set((int32_t)*deficit_row_word(x, k)));
    if (s.wide) row[k] = vf_multiply(row[k], vi_as_float(vi_add(vi_set(w->bases), field)));
  }
  UNROLL for (int v = 0; v < 4; v++) {
    const vf start = vf_load(c + v * LANES);
    const vi deficit[2] = {vb_pick(least.of[0], v, w->picker[v]), vb_pick(least.of[1], v, w->picker[v])};
    if (s.opposing)
      d[v] = c_fdpa_add_opposing(s, w, top, deficit[0], start, row, b, v);
    else if (are_near)
      d[v] = c_fdpa_add_near(s, w, top, vb_pick(near, v, w->picker[v]), start, x, b, v);
    else
      d[v] = c_fdpa_add_down(s, &of_row, top, deficit, start, x, b, v);
    if (keeps) d[v] = c_fdpa_keep(s, w, all, v, start, d[v]);
  }
  UNROLL for (int v = 0; v < 4; v++) vf_store(c + v * LANES, d[v]);
}

/* The rows of a chunk that the first pass did not compute. */
typedef struct {
  deficit_chunk least;
  size_t count[2], row[2][DEFICIT_CHUNK]; /* [0]: rows whose exponents fit; [1]: rows whose exponents do not */
} c_fdpa_passes;

/* ---- Exponents of any size ---- */

/* Returns c in units of 2^(top - 24): for C-FDPA its truncated magnitude, for GD-FDPA c rounded down, or 0 if c is
   below one unit. `lead` is the exponent of c, from -126 to top + 2. */
static inline __attribute__((always_inline)) vi c_fdpa_exact_addend(c_fdpa_shape s, vf c, vi lead, vi top) {
  const vi bits = vf_bits(c), field = vi_shift_right(vi_shift_left(bits, 1), 24), zero = vi_set(0);
  const vi hidden = vi_shift_left(vi_min(field, vi_set(1)), 26), down = vi_add(vi_subtract(top, lead), vi_set(2));
  const vi units = vi_or(hidden, vi_shift_right(vi_shift_left(bits, 9), 6));
  if (s.opposing) return vi_shift_down_by(vi_select(vi_equal(field, zero), zero, units), down);
  return vi_select(vi_less(vi_set(26), down), zero,
                   vi_shift_down_by(vi_select(vi_less(bits, zero), vi_subtract(zero, units), units), down));
}

/* Returns the sum of the products of elements row + k * DEFICIT_CHUNK and column + k * PANEL in units of 2^(top - 24).
   In C-FDPA the sum is relative to the sign of c: it is positive if it has this sign. */
static inline __attribute__((always_inline)) vi c_fdpa_sum_exactly(c_fdpa_shape s, const tr_elements *a, size_t row,
                                                                   const tr_elements *b, size_t column, vi top, vf c) {
  vi sum = vi_set(0);
  for (int first = 0; first < s.length; first += s.group) {
    const vi greatest = s.opposing ? top
                                   : tr_greatest_exponent(s.group, a->exponent + row + first * DEFICIT_CHUNK,
                                                          b->exponent + column + first * PANEL);
    vi of_group = vi_set(0);
    for (int k = first; k < first + s.group; k++) {
      const vf x = vf_set(a->significand[row + (size_t)k * DEFICIT_CHUNK]);
      const vf product = vf_multiply(x, vf_load(b->significand + column + (size_t)k * PANEL));
      const vi below = vi_subtract(tr_product_exponent(a->exponent + row, b->exponent + column, k), greatest);
      const vi scale = vi_shift_left(vi_add(vi_max(below, vi_set(-100)), vi_set(127 + 24)), 23);
      const vi magnitude = vi_and(vf_bits(product), vi_set(INT32_MAX));
      const vi opposes = vi_subtract(vi_set(0), vi_shift_right(vi_xor(vf_bits(product), vf_bits(c)), 31));
      const vf terms = vf_multiply(s.opposing ? vi_as_float(magnitude) : product, vi_as_float(scale));
      of_group = vi_add(of_group, s.opposing ? vi_xor(vf_truncate(terms), opposes) : vf_floor(terms));
    }
    sum = vi_add(sum, s.opposing ? of_group : vi_shift_down_by(of_group, vi_subtract(top, greatest)));
  }
  return sum;
}

/* Returns sum * 2^unit, rounded once. C-FDPA flushes results that are below 2^-126 after rounding to 24 bits. */
static inline __attribute__((always_inline)) vf c_fdpa_round_exactly(c_fdpa_shape s, vi sum, vi unit) {
  const vi field = vi_shift_right(vi_shift_left(vf_bits(vi_to_float(sum)), 1), 24);
  const vf d = vf_add(
      vf_narrow(vd_multiply(vd_low_int(sum), vd_low_power(unit)), vd_multiply(vd_high_int(sum), vd_high_power(unit))),
      vf_set(0));
  vi bits = vf_bits(d);
  if (s.opposing) bits = vi_select(vi_less(vi_add(field, unit), vi_set(1)), vi_set(0), bits);
  return vi_as_float(s.output == SMMA_BF16 ? vi_and(bits, vi_set((int32_t)0xffff0000)) : bits);
}

/* Updates one row of accumulators, by the integer exponents of all products. An infinite c stays. */
static inline __attribute__((always_inline)) void c_fdpa_row_exactly(c_fdpa_shape s, const tr_elements *a, size_t row,
                                                                     const tr_elements *b, float *accumulator) {
  for (size_t v = 0; v < PANEL; v += LANES) {
    const vf c = vf_load(accumulator + v);
    const vi field = vi_shift_right(vi_shift_left(vf_bits(c), 1), 24);
    const vi lead = vi_subtract(vi_max(field, vi_set(1)), vi_set(127));
    const vi top =
        vi_max(tr_greatest_exponent(s.length, a->exponent + row, b->exponent + v), vi_subtract(lead, vi_set(2)));
    vi sum = vi_add(c_fdpa_sum_exactly(s, a, row, b, v, top, c), c_fdpa_exact_addend(s, c, lead, top));
    if (s.opposing) sum = vi_select(vi_less(vf_bits(c), vi_set(0)), vi_subtract(vi_set(0), sum), sum);
    vf_store(accumulator + v,
             vf_select(vi_equal(field, vi_set(255)), c, c_fdpa_round_exactly(s, sum, vi_subtract(top, vi_set(24)))));
  }
}

/* Decodes elements as tr_decode does; C-FDPA (`opposing`) reads subnormals as zeros. */
static void c_fdpa_decode(const smma_run *r, bool of_a, bool opposing, size_t first, size_t vectors, size_t block,
                          tr_elements *x) {
  const size_t count = vectors * (size_t)smma_block_of(&r->multiplier->operation);
  tr_decode(r, of_a, first, vectors, block, x);
  for (size_t i = 0; opposing && i < count; i++)
    if (fabsf(x->significand[i]) < 1) x->significand[i] *= 0, x->exponent[i] = TR_NONE;
}

/* Computes the rows of a chunk whose exponents do not fit. The chunk begins at row `first`. */
static inline __attribute__((always_inline)) void c_fdpa_rows_exactly(const smma_run *r, c_fdpa_shape s, size_t first,
                                                                      size_t block, const c_fdpa_passes *p) {
  tr_elements a, b;
  c_fdpa_decode(r, true, s.opposing, first, DEFICIT_CHUNK, block, &a);
  c_fdpa_decode(r, false, s.opposing, 0, PANEL, block, &b);
  for (size_t i = 0; i < p->count[1]; i++)
    c_fdpa_row_exactly(s, &a, p->row[1][i], &b, (float *)r->accumulator + (first + p->row[1][i]) * PANEL);
}

/* ---- Blocks ---- */

/* First pass: compares exponents, and computes the rows for which this comparison is enough. Stores the other rows in
   `p`. */
static inline __attribute__((always_inline)) void c_fdpa_begin(c_fdpa_shape s, const c_fdpa_words *w, int base,
                                                               const unsigned char *a, const unsigned char *b,
                                                               size_t rows, bool calm, c_fdpa_passes *p,
                                                               float *accumulator) {
  const int columns_most = deficit_column_bases(s.length, b)[PANEL + 2];
  vb column[4];
  UNROLL for (int k = 0; k < s.length; k++) column[k] = vb_load(b + (size_t)(s.length * 4 + k) * PANEL);
  p->count[0] = p->count[1] = 0;
  for (size_t row = 0; row < rows; row++) {
    const unsigned char *x = deficit_row(a, deficit_row_block((size_t)s.length), row);
    const deficit_least least = c_fdpa_compare(s, x, column);
    /* A group of zeros is near any other. */
    const bool near = s.length == s.group || !vb_any_apart(least.of[0], least.of[1], w->near, w->certain);
    bool zeros;
    const bool fits = c_fdpa_fits(s, w, x, base, columns_most, least, &zeros);
    if (fits && !zeros && calm && near) {
      c_fdpa_row(s, w, false, x, b, least, accumulator + row * PANEL);
      continue;
    }
    vb_store(p->least.of[0][row], least.of[0]);
    if (s.length > s.group) vb_store(p->least.of[1][row], least.of[1]);
    p->row[!fits][p->count[!fits]++] = row;
  }
}

/* Second pass: computes rows that may retain c, or whose groups are far apart. */
static inline __attribute__((always_inline)) void c_fdpa_rows(c_fdpa_shape s, const c_fdpa_words *w,
                                                              const unsigned char *a, const unsigned char *b,
                                                              const c_fdpa_passes *p, float *accumulator) {
  for (size_t i = 0; i < p->count[0]; i++) {
    const size_t row = p->row[0][i];
    const deficit_least least = {{vb_load(p->least.of[0][row]), vb_load(p->least.of[s.length > s.group][row])}};
    c_fdpa_row(s, w, true, deficit_row(a, deficit_row_block((size_t)s.length), row), b, least,
               accumulator + row * PANEL);
  }
}

static inline __attribute__((always_inline)) void c_fdpa_block(const smma_run *r, c_fdpa_shape s, size_t first,
                                                               size_t rows, size_t block, bool *calm) {
  const unsigned char *a =
      (const unsigned char *)r->a + (block * r->packed_rows + first) * deficit_row_block((size_t)s.length);
  const unsigned char *b = (const unsigned char *)r->b + block * PANEL * deficit_column_block((size_t)s.length);
  const int32_t *range = deficit_column_bases(s.length, b) + PANEL;
  /* The columns' base. If their bases differ, a value so low that no row fits. */
  const int base = range[0] == range[1] ? range[0] : TR_LEAST_BASE - 256;
  const c_fdpa_words w = c_fdpa_words_of(s, &r->multiplier->operation, base);
  float *accumulator = (float *)r->accumulator + first * PANEL;
  c_fdpa_passes p;
  c_fdpa_begin(s, &w, base, a, b, rows, *calm, &p, accumulator);
  c_fdpa_rows(s, &w, a, b, &p, accumulator);
  if (!s.wide || !p.count[1]) return;
  c_fdpa_rows_exactly(r, s, first, block, &p);
  *calm = false;
}

/* Reports whether no row of the run has to keep c: no accumulator becomes infinite, and zero products leave c as it is.
   The latter holds in GD-FDPA with fewer than 8 exponent bits if all accumulators are multiples of the least unit,
   2^(e - 24) with e = deficit_top - 62. All later ones are if the first ones are zero or at least 2^e. */
static bool c_fdpa_are_calm(const smma_operation *o, const float *accumulator, size_t count) {
  const vi least = vi_set((int32_t)((uint32_t)(127 + deficit_top(o) - DEFICIT_CERTAIN / 2) << 23));
  vi care = vi_set(0);
  if (o->d == SMMA_F16 || !tr_are_calm(accumulator, count)) return false;
  if (o->rule.algorithm != SMMA_GD_FDPA || deficit_is_wide(o)) return true;
  for (size_t i = 0; i < count; i += LANES) {
    const vi c = vi_and(vf_bits(vf_load(accumulator + i)), vi_set(INT32_MAX));
    care = vi_or(care, vi_and(vi_subtract(c, least), vi_subtract(vi_set(0), c)));
  }
  return !vi_any_negative(care);
}

static inline __attribute__((always_inline)) void c_fdpa_panel(const smma_run *r, c_fdpa_shape s) {
  const smma_operation *o = &r->multiplier->operation;
  const size_t blocks = deficit_blocks(o);
  for (size_t row = 0; row < r->rows; row += DEFICIT_CHUNK) {
    const size_t rows = r->rows - row < DEFICIT_CHUNK ? r->rows - row : DEFICIT_CHUNK;
    bool calm = c_fdpa_are_calm(o, (const float *)r->accumulator + row * PANEL, rows * PANEL);
    for (size_t block = r->first * blocks; block < r->last * blocks; block++)
      c_fdpa_block(r, s, row, rows, block, &calm);
  }
}

/* Packs rows. For C-FDPA values are relative to their base. For GD-FDPA they are scaled so that products with a deficit
   of 0 are in units of their group. */
static void c_fdpa_pack_rows(const smma_pack *pack) {
  const smma_operation *o = &pack->multiplier->operation;
  const int more = c_fdpa_more_bits(smma_block_of(o), o->rule.with.c_fdpa.group, deficit_is_wide(o));
  deficit_pack_rows(pack, o->rule.algorithm == SMMA_C_FDPA ? 1 : smma_power_of_two(24 + more - deficit_top(o)));
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

#endif
