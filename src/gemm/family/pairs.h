/* Sums of pairs (core/pairs.h) with native arithmetic: two products are added, then their sum and the accumulator.
   Infinities and NaN follow IEEE 754; accumulators get the rule's NaN when they leave the registers, as in fma.h.

   To nearest, FP32 and FP64: each operation is native.

   To nearest and fused: products of FP16 have 22 bits and are multiples of 2^-48, so they are exact. Products of BF16
   have 16 bits and are exact between 2^-126 and 2^128. If the least and greatest magnitudes of rows and columns allow
   other products, the sum of a pair is computed in binary64 and rounded to odd. It then rounds to binary32 as the exact
   sum does. For Power it is rounded to 24 bits with binary64's exponents, and c is added in binary64, too.

   To odd, with subnormals as zero: products of BF16 have 16 bits, and none below 2^-126 rounds up to it. So they are
   exact unless hardware that flushes makes them zero, as the rule does. Only additions are inexact; vf_add_odd
   rounds them to odd but does not handle overflow. If sums may reach 2^127, each is checked, and pairs with a greater
   one are computed by functions that return infinities. The greatest finite magnitudes of rows, columns and
   accumulators show whether sums may reach 2^127. Infinite or NaN operands and accumulators need no check.

   To nearest, with subnormals as zero: sums of FP32 numbers and products of BF16 that are below 2^-126 are exact, so
   that all hardware flushes them alike (ftz.h).

   One after the other, FP32: each product is rounded, then added to the accumulator. */
#ifndef SMMA_GEMM_FAMILY_PAIRS_H
#define SMMA_GEMM_FAMILY_PAIRS_H

#include <math.h>

#include "gemm/family/ftz.h"

/* Size of the block of D that is computed at a time. */
enum { PAIRS_ROWS = 4, PAIRS_VECTORS = REGISTERS < 32 ? 1 : 2, PAIRS_COLUMNS = PAIRS_VECTORS * LANES };
enum { PAIRS_F64_COLUMNS = PAIRS_COLUMNS / 2, PAIRS_ALL = PAIRS_ROWS * PAIRS_VECTORS };

/* Methods of adding a pair of products and the accumulator. */
typedef enum {
  PAIRS_ROUNDED, /* each operation to nearest */
  PAIRS_FUSED,   /* products are exact; sums to nearest */
  PAIRS_WIDE,    /* products and the pair's sum in binary64; sums to nearest in FP32 */
  PAIRS_RANGE,   /* as PAIRS_WIDE, but the pair's sum is rounded to 24 bits with binary64's exponent range */
  PAIRS_FLUSHED, /* each operation to nearest; subnormals are zero */
  PAIRS_APART,   /* each operation to nearest; products are added to the accumulator one after the other */
  PAIRS_ODD,     /* to odd; no sum reaches 2^127 */
  PAIRS_CHECKED  /* to odd; a sum may reach 2^127 */
} pairs_way;

/* ---- One sum ---- */

typedef struct {
  vd low, high;
} pairs_doubles;

/* Returns the sums of a pair of products for one row and LANES columns in binary64, rounded to odd. */
static inline pairs_doubles pairs_odd_sum(const float *a, const vf *b) {
  const vd x = vd_set((double)a[0]), y = vd_set((double)a[PAIRS_ROWS]);
  return (pairs_doubles){vd_add_odd(vd_multiply(x, vd_low(b[0])), vd_multiply(y, vd_low(b[1]))),
                         vd_add_odd(vd_multiply(x, vd_high(b[0])), vd_multiply(y, vd_high(b[1])))};
}

/* Returns the same sums, rounded to binary32. */
static inline vf pairs_wide_sum(const float *a, const vf *b) {
  const pairs_doubles sum = pairs_odd_sum(a, b);
  return vf_narrow(sum.low, sum.high);
}

/* Returns the sum of a pair and c by PAIRS_RANGE. Each of its two additions is rounded to binary64 first. If that is
   inexact, the two numbers are so far apart that the sum is not near a tie, so the second rounding is correct. For two
   products of 16 bits the tie is one of 24 bits. For the sum with c, which is a multiple of binary32's least subnormal,
   it is one of binary32. */
static inline vf pairs_range_sum(const float *a, const vf *b, vf c) {
  const vd x = vd_set((double)a[0]), y = vd_set((double)a[PAIRS_ROWS]);
  const vd low = vd_multiply_add(y, vd_low(b[1]), vd_multiply(x, vd_low(b[0])));
  const vd high = vd_multiply_add(y, vd_high(b[1]), vd_multiply(x, vd_high(b[0])));
  return vf_narrow(vd_add(vd_round_to_float(low), vd_low(c)), vd_add(vd_round_to_float(high), vd_high(c)));
}

/* Returns the product of the i-th factors of a pair, flushed. */
static inline vf pairs_product(const float *a, int i, vf b) {
  return vf_flush(vf_multiply(vf_set(a[i * PAIRS_ROWS]), b));
}

static inline vf pairs_add_odd(vf x, vf y) { return vf_flush(vf_add_odd(x, y)); }

/* Returns the sum of a pair of products; `way` is none of PAIRS_APART and PAIRS_RANGE. */
static inline __attribute__((always_inline)) vf pairs_sum(const float *a, const vf *b, pairs_way way) {
  const vf x = vf_set(a[0]), y = vf_set(a[PAIRS_ROWS]);
  switch (way) {
    case PAIRS_ROUNDED: return vf_add(vf_multiply(x, b[0]), vf_multiply(y, b[1]));
    case PAIRS_FUSED: return vf_multiply_add(y, b[1], vf_multiply(x, b[0]));
    case PAIRS_WIDE: return pairs_wide_sum(a, b);
    case PAIRS_FLUSHED: return vf_flush(vf_add(pairs_product(a, 0, b[0]), pairs_product(a, 1, b[1])));
    case PAIRS_APART:
    case PAIRS_RANGE:
    case PAIRS_ODD:
    case PAIRS_CHECKED: break;
  }
  return pairs_add_odd(pairs_product(a, 0, b[0]), pairs_product(a, 1, b[1]));
}

/* ---- PAIRS_ROWS x PAIRS_COLUMNS elements ---- */

/* Adds `pairs` pairs to each accumulator of the block d, by a method other than PAIRS_CHECKED. */
static inline __attribute__((always_inline)) void pairs_block(const float *a, const float *b, size_t pairs,
                                                              pairs_way way, vf nan, float *d) {
  vf sum[PAIRS_ALL];
  UNROLL for (int i = 0; i < PAIRS_ALL; i++) {
    sum[i] = vf_load(d + i * LANES);
    if (way == PAIRS_ODD || way == PAIRS_FLUSHED) sum[i] = vf_flush(sum[i]);
    __builtin_prefetch(d + (i + PAIRS_ALL) * LANES);
  }
  for (; pairs > 0; pairs--, a += 2 * PAIRS_ROWS, b += 2 * PAIRS_COLUMNS)
    UNROLL for (int v = 0; v < PAIRS_VECTORS; v++) {
      const vf y[2] = {vf_load(b + v * LANES), vf_load(b + (PAIRS_VECTORS + v) * LANES)};
      UNROLL for (int i = v; i < PAIRS_ALL; i += PAIRS_VECTORS) {
        const float *of_a = a + i / PAIRS_VECTORS;
        if (way == PAIRS_RANGE)
          sum[i] = pairs_range_sum(of_a, y, sum[i]);
        else if (way == PAIRS_ODD)
          sum[i] = pairs_add_odd(sum[i], pairs_sum(of_a, y, way));
        else if (way == PAIRS_FLUSHED)
          sum[i] = vf_flush(vf_add(sum[i], pairs_sum(of_a, y, way)));
        else if (way == PAIRS_APART)
          sum[i] =
              vf_add(vf_add(sum[i], vf_multiply(vf_set(of_a[0]), y[0])), vf_multiply(vf_set(of_a[PAIRS_ROWS]), y[1]));
        else
          sum[i] = vf_add(sum[i], pairs_sum(of_a, y, way));
      }
    }
  UNROLL for (int i = 0; i < PAIRS_ALL; i++) vf_store(d + i * LANES, vf_replace_nan(sum[i], nan));
}

/* Returns the lanes that are at least 2^126 and finite. */
static inline vm pairs_is_great(vf x) {
  const vi magnitude = vi_and(vf_bits(x), vi_set(INT32_MAX));
  return vm_and(vi_less(vi_set(0x7e7fffff), magnitude), vi_less(magnitude, vi_set(0x7f800000)));
}

/* Returns x, with infinities in lanes whose exact result overflows. `scaled` is a fraction of the exact result; it is
   at least 2^most if the result overflows. */
static inline vf pairs_or_infinity(vf x, vf scaled, int most) {
  const vi bits = vf_bits(scaled), magnitude = vi_and(bits, vi_set(INT32_MAX)), infinity = vi_set(0x7f800000);
  const vm overflows = vm_and(vi_less(vi_set(((127 + most) << 23) - 1), magnitude), vi_less(magnitude, infinity));
  return vi_as_float(vi_select(overflows, vi_or(vi_and(bits, vi_set(INT32_MIN)), infinity), vf_bits(x)));
}

/* pairs_whole_product and pairs_whole_sum return what pairs_product and vf_add_odd do, with infinities for results that
   overflow. Numbers that vanish when scaled are far too small to overflow. */
static inline vf pairs_whole_product(const float *a, int i, vf b) {
  return pairs_or_infinity(pairs_product(a, i, b), vf_multiply(vf_set(a[i * PAIRS_ROWS] * 0x1p-64f), b), 64);
}

static inline vf pairs_whole_sum(vf x, vf y) {
  const vf quarter = vf_set(0.25f);
  return pairs_or_infinity(vf_add_odd(x, y), vf_add_odd(vf_multiply(x, quarter), vf_multiply(y, quarter)), 126);
}

/* Computes one row, LANES columns from `column` on. If a product or a sum is at least 2^126, computes the pair again
   with infinities, because an overflowing result is the greatest number in a mode that rounds down. The sum of two
   products below 2^126 does not overflow. */
static void pairs_check_row(const smma_run *r, const float *a, const float *b, size_t row, size_t column, vf nan) {
  float *d = (float *)r->accumulator + row * PAIRS_COLUMNS + column;
  vf sum = ftz_fma_flush(vf_load(d));
  for (size_t p = (r->last - r->first) * (size_t)r->multiplier->operation.k / 2; p > 0; p--) {
    const vf of_b[2] = {vf_load(b), vf_load(b + PAIRS_COLUMNS)};
    const vf x = pairs_product(a, 0, of_b[0]), y = pairs_product(a, 1, of_b[1]);
    const vf after = pairs_add_odd(sum, pairs_add_odd(x, y));
    const vm great = vm_or(vm_or(pairs_is_great(x), pairs_is_great(y)), pairs_is_great(after));
    if (vm_bits(great)) {
      const vf whole = pairs_whole_sum(pairs_whole_product(a, 0, of_b[0]), pairs_whole_product(a, 1, of_b[1]));
      sum = vf_flush(pairs_whole_sum(sum, vf_flush(whole)));
    } else {
      sum = after;
    }
    a += 2 * PAIRS_ROWS, b += 2 * PAIRS_COLUMNS;
  }
  vf_store(d, vf_replace_nan(sum, nan));
}

/* ---- Choosing how to add a pair ---- */

/* The least nonzero magnitude and the greatest one of some numbers. NaN and infinities are ignored, because all methods
   compute the same products and sums of them. */
typedef struct {
  double least, most;
} pairs_range;

static pairs_range pairs_range_of(const float *x, size_t count) {
  const vi infinity = vi_set(0x7f800000), greatest = vi_set(0x7f7fffff);
  vi most = vi_set(0), least = infinity;
  float all_most[LANES], all_least[LANES];
  pairs_range range = {HUGE_VAL, 0};
  for (size_t i = 0; i < count; i += LANES) {
    float rest[LANES] = {0};
    vi magnitude;
    if (count - i < LANES) memcpy(rest, x + i, (count - i) * sizeof *x);
    magnitude = vi_and(vf_bits(vf_load(count - i < LANES ? rest : x + i)), vi_set(INT32_MAX));
    magnitude = vi_select(vi_less(greatest, magnitude), vi_set(0), magnitude);
    most = vi_max(most, magnitude);
    least = vi_min(least, vi_select(vi_equal(magnitude, vi_set(0)), infinity, magnitude));
  }
  vf_store(all_most, vi_as_float(most));
  vf_store(all_least, vi_as_float(least));
  for (int i = 0; i < LANES; i++) {
    if (!((double)all_least[i] >= range.least)) range.least = (double)all_least[i];
    if (!((double)all_most[i] <= range.most)) range.most = (double)all_most[i];
  }
  return range;
}

static bool pairs_any_great(const float *d) {
  vm great = pairs_is_great(vf_load(d));
  for (size_t i = 1; i < PAIRS_ALL; i++) great = vm_or(great, pairs_is_great(vf_load(d + i * LANES)));
  return vm_bits(great) != 0;
}

static bool pairs_any_negative_zero(const float *d) {
  vm zero = vi_equal(vf_bits(vf_load(d)), vi_set(INT32_MIN));
  for (size_t i = 1; i < PAIRS_ALL; i++)
    zero = vm_or(zero, vi_equal(vf_bits(vf_load(d + i * LANES)), vi_set(INT32_MIN)));
  return vm_bits(zero) != 0;
}

/* Chooses the method for BF16 from the ranges of a row block's and the columns' magnitudes, which bound the products.
   PAIRS_FUSED is also correct if all pairs are below 2^-150: it rounds them to zeros, whose sign matters only to an
   accumulator of -0. Sums of `count` products of at most `most`, starting below 2^126, are below 2^127. */
static pairs_way pairs_way_of(const smma_operation *o, bool fused, pairs_range a, pairs_range b, size_t count,
                              const float *d) {
  const double most = a.most * b.most;
  const bool ranges = o->rule.with.composition.step[0].output == SMMA_F64;
  if (fused && most < 0x1p127 && a.least * b.least >= 0x1p-126) return PAIRS_FUSED;
  if (fused && ranges) return PAIRS_RANGE;
  if (fused) return most < 0x1p-152 && !pairs_any_negative_zero(d) ? PAIRS_FUSED : PAIRS_WIDE;
  return most * (double)count < 0x1p125 && !pairs_any_great(d) ? PAIRS_ODD : PAIRS_CHECKED;
}

/* Computes PAIRS_ROWS rows from `row` on, and checks each sum. */
static void pairs_check_rows(const smma_run *r, const float *a, const float *b, size_t row, vf nan) {
  for (size_t i = 0; i < PAIRS_ROWS; i++)
    for (size_t column = 0; column < PAIRS_COLUMNS; column += LANES)
      pairs_check_row(r, a + i, b + column, row + i, column, nan);
}

/* Reports whether each product is rounded and then added to the accumulator. */
static bool pairs_are_apart(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  return p->steps == 2 && p->step[0].take == 1;
}

static inline void pairs_run(const smma_run *r) {
  const smma_operation *o = &r->multiplier->operation;
  const smma_composition *steps = &o->rule.with.composition;
  const bool rounded = steps->steps == 3, flushed = steps->subnormal_a != SMMA_SUBNORMALS_KEPT;
  const bool to_odd = steps->step[0].rounding == SMMA_ROUND_TO_ODD;
  const size_t k = (size_t)o->k, packed = r->packed_steps * k, count = (r->last - r->first) * k;
  const float *b = (const float *)r->b + r->first * k * PAIRS_COLUMNS;
  const vf nan = fma_f32_nan(o->rule.nan, vf_set(0));
  const pairs_range of_b = o->a == SMMA_BF16 ? pairs_range_of(b, count * PAIRS_COLUMNS) : (pairs_range){0, 0};
  for (size_t row = 0; row < r->rows; row += PAIRS_ROWS) {
    const float *a = (const float *)r->a + row * packed + r->first * k * PAIRS_ROWS;
    float *d = (float *)r->accumulator + row * PAIRS_COLUMNS;
    pairs_way way = rounded ? PAIRS_ROUNDED : PAIRS_FUSED;
    if (flushed && !to_odd)
      way = PAIRS_FLUSHED;
    else if (pairs_are_apart(o))
      way = PAIRS_APART;
    else if (o->a == SMMA_BF16)
      way = pairs_way_of(o, !rounded, pairs_range_of(a, count * PAIRS_ROWS), of_b, count, d);
    switch (way) {
      case PAIRS_ROUNDED: pairs_block(a, b, count / 2, PAIRS_ROUNDED, nan, d); break;
      case PAIRS_FUSED: pairs_block(a, b, count / 2, PAIRS_FUSED, nan, d); break;
      case PAIRS_WIDE: pairs_block(a, b, count / 2, PAIRS_WIDE, nan, d); break;
      case PAIRS_RANGE: pairs_block(a, b, count / 2, PAIRS_RANGE, nan, d); break;
      case PAIRS_FLUSHED: pairs_block(a, b, count / 2, PAIRS_FLUSHED, nan, d); break;
      case PAIRS_APART: pairs_block(a, b, count / 2, PAIRS_APART, nan, d); break;
      case PAIRS_ODD: pairs_block(a, b, count / 2, PAIRS_ODD, nan, d); break;
      case PAIRS_CHECKED: pairs_check_rows(r, a, b, row, nan); break;
    }
  }
}

/* ---- FP64 ---- */

static void pairs_f64_block(const double *a, const double *b, size_t pairs, vd nan, double *d) {
  enum { DOUBLES = LANES / 2 };
  vd sum[PAIRS_ALL];
  UNROLL for (int i = 0; i < PAIRS_ALL; i++) {
    sum[i] = vd_load(d + i * DOUBLES);
    __builtin_prefetch(d + (i + PAIRS_ALL) * DOUBLES);
  }
  for (; pairs > 0; pairs--, a += 2 * PAIRS_ROWS, b += 2 * PAIRS_F64_COLUMNS)
    UNROLL for (int v = 0; v < PAIRS_VECTORS; v++) {
      const vd x = vd_load(b + v * DOUBLES), y = vd_load(b + (PAIRS_VECTORS + v) * DOUBLES);
      UNROLL for (int i = v; i < PAIRS_ALL; i += PAIRS_VECTORS) {
        const double *of_a = a + i / PAIRS_VECTORS;
        sum[i] = vd_add(sum[i], vd_add(vd_multiply(vd_set(of_a[0]), x), vd_multiply(vd_set(of_a[PAIRS_ROWS]), y)));
      }
    }
  UNROLL for (int i = 0; i < PAIRS_ALL; i++) vd_store(d + i * DOUBLES, vd_replace_nan(sum[i], nan));
}

static inline void pairs_f64_run(const smma_run *r) {
  const size_t k = (size_t)r->multiplier->operation.k, packed = r->packed_steps * k, first = r->first * k;
  const vd nan = fma_f64_nan(r->multiplier);
  for (size_t i = 0; i < r->rows; i += PAIRS_ROWS)
    pairs_f64_block((const double *)r->a + i * packed + first * PAIRS_ROWS,
                    (const double *)r->b + first * PAIRS_F64_COLUMNS, (r->last - r->first) * k / 2, nan,
                    (double *)r->accumulator + i * PAIRS_F64_COLUMNS);
}

/* ---- Packing ---- */

static inline __attribute__((always_inline)) void pairs_pack(const smma_pack *pack, size_t width) {
  const smma_operation *o = &pack->multiplier->operation;
  if (o->a == SMMA_F32)
    smma_interleave(pack, width, 4, 4, NULL, 0);
  else if (o->a == SMMA_F16)
    smma_interleave(pack, width, 2, 4, fma_from_f16, 0);
  else if (o->rule.with.composition.subnormal_a == SMMA_SUBNORMALS_KEPT)
    smma_interleave(pack, width, 2, 4, fma_from_bf16, 0);
  else
    smma_interleave(pack, width, 2, 4, ftz_from_bf16_signed, 0);
}

static inline void pairs_pack_rows(const smma_pack *pack) { pairs_pack(pack, PAIRS_ROWS); }
static inline void pairs_pack_columns(const smma_pack *pack) { pairs_pack(pack, PAIRS_COLUMNS); }
static inline void pairs_f64_pack_rows(const smma_pack *pack) { smma_interleave(pack, PAIRS_ROWS, 8, 8, NULL, 0); }
static inline void pairs_f64_pack_columns(const smma_pack *pack) {
  smma_interleave(pack, PAIRS_F64_COLUMNS, 8, 8, NULL, 0);
}

/* ---- Which operations ---- */

/* Reports whether an operation is a sum of pairs (core/pairs.h) of these formats and with these properties. */
static bool pairs_are(const smma_operation *o, smma_format in, smma_format out, bool fused, smma_rounding rounding,
                      smma_subnormal_policy subnormals) {
  smma_pairs pairs;
  return o->rule.algorithm == SMMA_COMPOSITION && smma_has_one_nan(o->rule.nan) && o->scale_block == 0 &&
         o->k % 2 == 0 && o->a == in && o->b == in && o->d == out &&
         smma_is_sum_of_pairs(&o->rule.with.composition, &pairs) && pairs.fused == fused &&
         pairs.rounding == rounding && pairs.output == out && (pairs.range == out || in == SMMA_BF16) &&
         pairs.subnormals == subnormals;
}

/* Reports whether each product is rounded to FP32, and then its sum with the accumulator, to nearest even. */
static bool pairs_apart_takes(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  if (o->rule.algorithm != SMMA_COMPOSITION || !pairs_are_apart(o) || !smma_has_one_nan(o->rule.nan) || o->k % 2 != 0 ||
      o->a != SMMA_F32 || o->b != SMMA_F32 || o->c != SMMA_F32 || o->d != SMMA_F32 || o->scale_block != 0)
    return false;
  if (p->widen != SMMA_NO_FORMAT || p->product_limit != SMMA_NONE || p->product != SMMA_PRODUCT_MULTIPLIED ||
      !smma_has_whole_products(p) || p->subnormal_a != SMMA_SUBNORMALS_KEPT || p->subnormal_b != SMMA_SUBNORMALS_KEPT ||
      p->subnormal_c != SMMA_SUBNORMALS_KEPT)
    return false;
  for (int i = 0; i < 2; i++)
    if (p->step[i].output != SMMA_F32 || p->step[i].rounding != SMMA_ROUND_NEAREST_EVEN ||
        p->step[i].subnormal_outputs != SMMA_SUBNORMALS_KEPT)
      return false;
  return smma_is_exact_step(&p->step[0], 1, SMMA_JOIN_APART) && smma_is_exact_step(&p->step[1], 1, SMMA_JOIN_CHAIN) &&
         p->step[1].start == SMMA_START_C;
}

static inline bool pairs_odd_takes(const smma_operation *o) {
  return pairs_are(o, SMMA_BF16, SMMA_F32, false, SMMA_ROUND_TO_ODD, SMMA_SUBNORMALS_TO_SIGNED_ZERO);
}

static inline bool pairs_flushed_takes(const smma_operation *o) {
  return pairs_are(o, SMMA_BF16, SMMA_F32, false, SMMA_ROUND_NEAREST_EVEN, SMMA_SUBNORMALS_TO_SIGNED_ZERO);
}

static inline bool pairs_takes(const smma_operation *o) {
  return pairs_are(o, SMMA_BF16, SMMA_F32, true, SMMA_ROUND_NEAREST_EVEN, SMMA_SUBNORMALS_KEPT) ||
         pairs_are(o, SMMA_F16, SMMA_F32, true, SMMA_ROUND_NEAREST_EVEN, SMMA_SUBNORMALS_KEPT) ||
         pairs_are(o, SMMA_F32, SMMA_F32, false, SMMA_ROUND_NEAREST_EVEN, SMMA_SUBNORMALS_KEPT) || pairs_apart_takes(o);
}

static inline bool pairs_f64_takes(const smma_operation *o) {
  return pairs_are(o, SMMA_F64, SMMA_F64, false, SMMA_ROUND_NEAREST_EVEN, SMMA_SUBNORMALS_KEPT);
}

#endif
