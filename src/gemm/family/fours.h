/* Scaled sums of four products of FP8 or MXINT8 (ACE, docs/algorithms/chains.md): the exact sum, times two scale
   factors, is rounded to FP32; then it is added to the accumulator. Subnormal results and accumulators are zero.

   Scale factors are usual if their exponents are small enough (FOURS_MOST_SCALE). Packing multiplies numbers by usual
   scale factors. Then products are exact in binary32, and no result is subnormal or overflows. The exponent fields of a
   step's operands tell how to add the products:
   - FOURS_IN_F32: the sum of two products is exact in binary32. Adding both pairs then rounds the exact sum.
   - FOURS_IN_F64: the sum of all products is exact in binary64.
   - FOURS_OF_ANY: all other cases. The parts of unscaled products before and after the binary point are added apart in
     binary64, which is exact. The sum of both parts is rounded to odd.

   Packing replaces NaN and infinities by zero, as in deficits.h. */
#ifndef SMMA_GEMM_FAMILY_FOURS_H
#define SMMA_GEMM_FAMILY_FOURS_H

#include "gemm/family/aligned.h"
#include "gemm/family/deficits.h"
#include "gemm/family/fma.h"

/* Size of the block of D that registers hold. */
enum { FOURS_ROWS = 4, FOURS_VECTORS = REGISTERS < 32 ? 1 : 2, FOURS_COLUMNS = FOURS_VECTORS * LANES };
enum { FOURS_ALL = FOURS_ROWS * FOURS_VECTORS };

enum {
  FOURS = 4,               /* products of a step */
  FOURS_WORDS = FOURS + 2, /* words per packed line and step: numbers, scale factor, part of a fours_range */
  FOURS_BITS = 24,         /* bits of a binary32 significand */
  FOURS_F64_BITS = 53,     /* bits of a binary64 significand */
  FOURS_MOST_SCALE = 45,   /* the greatest magnitude of a usual exponent: unscaled sums are 0 or from 2^-32 to 2^34 */
  FOURS_NO_FIELD = 255     /* greater than all exponent fields */
};

/* The range of the exponent fields of nonzero numbers, and of the exponents of scale factors, in a step of all packed
   lines. */
typedef struct {
  int32_t least, most, least_scale, most_scale;
} fours_range;

static bool fours_reads(smma_format format) {
  return format == SMMA_E4M3 || format == SMMA_E5M2 || format == SMMA_OCP_INT8;
}

static bool fours_takes(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  smma_step rounded = p->step[1];
  if (o->rule.algorithm != SMMA_COMPOSITION || p->steps != 3 || !smma_has_one_nan(o->rule.nan) || !fours_reads(o->a) ||
      !fours_reads(o->b) || o->c != SMMA_F32 || o->d != SMMA_F32 || o->k != FOURS || o->scale_block != FOURS ||
      o->scale != SMMA_UE8M0)
    return false;
  if (rounded.narrow_bits != 23 || rounded.narrow_subnormals || rounded.narrow_rounding != SMMA_ROUND_NEAREST_EVEN ||
      !rounded.early_underflow)
    return false;
  rounded.narrow_bits = SMMA_NONE;
  rounded.early_underflow = 0;
  return aligned_has_plain_products(p) && p->subnormal_c == SMMA_SUBNORMALS_TO_SIGNED_ZERO && p->scaled_step == 1 &&
         aligned_is_sum(&p->step[0], FOURS, 0, SMMA_ROUND_TOWARD_ZERO) && p->step[0].term.bits == 32 &&
         p->step[0].output == SMMA_NO_FORMAT && smma_is_exact_step(&rounded, 1, SMMA_JOIN_APART) &&
         smma_is_flushed_f32(&rounded) && smma_is_exact_step(&p->step[2], 1, SMMA_JOIN_CHAIN) &&
         smma_is_flushed_f32(&p->step[2]) && p->step[2].start == SMMA_START_C;
}

/* ---- Packing ---- */

static size_t fours_bytes(const smma_operation *o) {
  (void)o;
  return FOURS_WORDS * sizeof(float);
}

static inline bool fours_are_usual(fours_range r) {
  return r.least_scale >= -FOURS_MOST_SCALE && r.most_scale <= FOURS_MOST_SCALE;
}

/* Decodes `count` numbers of MXINT8, which all have the same exponent: their exponent fields are 1, and 0 for zero. */
static inline void fours_decode_fixed_point(size_t count, const uint32_t *code, float *out, uint8_t *field) {
  for (size_t i = 0; i < count; i++) {
    const int32_t x = (int32_t)((code[i] & 0xff) ^ 0x80) - 0x80;
    out[i] = (float)x * 0x1p-6F;
    field[i] = x != 0;
  }
}

/* Packs one step of `f->vectors` lines: the numbers, k by k, scaled if all scale factors are usual; then exponents of
   scale factors; then the range. */
static void fours_pack_step(const smma_fetch *f, const smma_decoder *d, float *out, unsigned char *special) {
  const size_t count = FOURS * f->vectors;
  int32_t *scale = (int32_t *)(out + count);
  uint32_t code[FOURS * FOURS_COLUMNS];
  uint8_t field[FOURS * FOURS_COLUMNS];
  fours_range range = {FOURS_NO_FIELD, 0, INT16_MAX, INT16_MIN};
  smma_fetch_codes(f, code);
  if (f->view->format == SMMA_OCP_INT8)
    fours_decode_fixed_point(count, code, out, field);
  else
    smma_decode_codes(d, FOURS, f->vectors, code, out, field, special);
  memset(scale, 0, f->vectors * sizeof *scale);
  deficit_take_scales(f, scale, special);
  for (size_t i = 0; i < count; i++) {
    const int32_t least = field[i] ? field[i] : FOURS_NO_FIELD;
    range.least = least < range.least ? least : range.least;
    range.most = field[i] > range.most ? field[i] : range.most;
  }
  for (size_t v = 0; v < f->vectors; v++) {
    range.least_scale = scale[v] < range.least_scale ? scale[v] : range.least_scale;
    range.most_scale = scale[v] > range.most_scale ? scale[v] : range.most_scale;
  }
  for (size_t i = 0; fours_are_usual(range) && i < count; i += f->vectors)
    for (size_t v = 0; v < f->vectors; v++) out[i + v] *= smma_power_of_two(scale[v]);
  memcpy(scale + f->vectors, &range, sizeof range);
}

static inline void fours_pack(const smma_pack *pack, size_t width) {
  const smma_decoder d = smma_decoder_of(pack->view->format);
  float *out = pack->out;
  for (size_t first = 0; first < pack->count; first += width)
    for (size_t step = 0; step < pack->steps; step++, out += FOURS_WORDS * width) {
      const smma_fetch f = {pack->multiplier,  pack->view, pack->of_a, pack->first + first, width,
                            pack->step + step, 0,          FOURS};
      fours_pack_step(&f, &d, out, pack->special + first);
    }
}

static void fours_pack_rows(const smma_pack *pack) { fours_pack(pack, FOURS_ROWS); }
static void fours_pack_columns(const smma_pack *pack) { fours_pack(pack, FOURS_COLUMNS); }

/* ---- Sums ---- */

/* Returns the rounded sums of the products of one row and LANES columns (FOURS_IN_F32). The first product is added to
   +0, because a sum of zeros is +0. */
static inline __attribute__((always_inline)) vf fours_sum(const float *a, const vf *b) {
  const vf first = vf_multiply_add(vf_set(a[0]), b[0], vf_set(0));
  const vf even = vf_multiply_add(vf_set(a[FOURS_ROWS]), b[FOURS_VECTORS], first);
  const vf third = vf_multiply(vf_set(a[2 * FOURS_ROWS]), b[2 * FOURS_VECTORS]);
  return vf_add(even, vf_multiply_add(vf_set(a[3 * FOURS_ROWS]), b[3 * FOURS_VECTORS], third));
}

/* Does the same as fours_sum in binary64 (FOURS_IN_F64). */
static inline vf fours_sum_in_f64(const float *a, const vf *b) {
  vd low = vd_set(0), high = vd_set(0);
  UNROLL for (int k = 0; k < FOURS; k++) {
    const vd x = vd_set((double)a[k * FOURS_ROWS]);
    low = vd_multiply_add(x, vd_low(b[k * FOURS_VECTORS]), low);
    high = vd_multiply_add(x, vd_high(b[k * FOURS_VECTORS]), high);
  }
  return vf_narrow(low, high);
}

/* The parts of a sum before and after the binary point. */
typedef struct {
  vd whole, rest;
} fours_parts;

static inline fours_parts fours_add(fours_parts sum, vd product) {
  const vd units = vd_set(0x1.8p52), whole = vd_subtract(vd_add(product, units), units);
  return (fours_parts){vd_add(sum.whole, whole), vd_add(sum.rest, vd_subtract(product, whole))};
}

/* Does the same as fours_sum for any operands (FOURS_OF_ANY). `of_numbers` is the exponent of the factor by which
   packing has scaled the products, `scale` that of their whole scale factor. A result becomes zero if it is below
   2^-126 after rounding with an unbounded exponent. To detect this, 2^64 times the sum is rounded, too, which is then
   normal. */
static inline vf fours_sum_of_any(const float *a, const vf *b, vi of_numbers, vi scale) {
  const vf unscaled = vi_as_float(vi_shift_left(vi_subtract(vi_set(127), of_numbers), 23));
  const vd zero = vd_set(0), up = vd_set(0x1p64);
  fours_parts low = {zero, zero}, high = {zero, zero};
  vd low_sum, high_sum;
  vf sum, raised;
  for (int k = 0; k < FOURS; k++) {
    const vf product = vf_multiply(vf_multiply(vf_set(a[k * FOURS_ROWS]), b[k * FOURS_VECTORS]), unscaled);
    low = fours_add(low, vd_low(product)), high = fours_add(high, vd_high(product));
  }
  low_sum = vd_multiply(vd_add_odd(low.whole, low.rest), vd_low_power(scale));
  high_sum = vd_multiply(vd_add_odd(high.whole, high.rest), vd_high_power(scale));
  sum = vf_narrow(low_sum, high_sum);
  raised = vf_narrow(vd_multiply(low_sum, up), vd_multiply(high_sum, up));
  return vi_as_float(vi_select(vi_less(vi_and(vf_bits(raised), vi_set(INT32_MAX)), vi_set((127 - 126 + 64) << 23)),
                               vi_and(vf_bits(raised), vi_set(INT32_MIN)), vf_bits(sum)));
}

/* A method of adding a step's products: see the head of this file. */
typedef enum { FOURS_IN_F32, FOURS_IN_F64, FOURS_OF_ANY } fours_way;

/* Chooses the method. `bits` is the number of bits of a product's significand, plus one for the sum of two products. */
static inline fours_way fours_way_of(fours_range a, fours_range b, int bits) {
  const int apart = a.most - a.least + b.most - b.least;
  if (!fours_are_usual(a) || !fours_are_usual(b)) return FOURS_OF_ANY;
  if (apart + bits <= FOURS_BITS) return FOURS_IN_F32;
  return apart + bits + 1 <= FOURS_F64_BITS ? FOURS_IN_F64 : FOURS_OF_ANY;
}

/* Returns the exponents of the factors by which packing has scaled numbers: those of scale factors that are usual. */
static inline vi fours_scaled(fours_range r, vi scale) { return fours_are_usual(r) ? scale : vi_set(0); }

/* Updates the block d, of FOURS_ROWS x FOURS_COLUMNS elements, by `steps` steps. Prefetches the next block. `bits` is
   as in fours_way_of. */
static void fours_block(const float *a, const float *b, size_t steps, int bits, vf nan, float *d) {
  enum { A_STEP = FOURS_WORDS * FOURS_ROWS, B_STEP = FOURS_WORDS * FOURS_COLUMNS };
  vf sum[FOURS_ALL];
  UNROLL for (int i = 0; i < FOURS_ALL; i++) {
    sum[i] = vf_flush(vf_load(d + i * LANES));
    __builtin_prefetch(d + (i + FOURS_ALL) * LANES);
  }
  for (; steps > 0; steps--, a += A_STEP, b += B_STEP) {
    const int32_t *a_scale = (const int32_t *)(a + FOURS * FOURS_ROWS);
    const int32_t *b_scale = (const int32_t *)(b + FOURS * FOURS_COLUMNS);
    fours_range of_a, of_b;
    vf y[FOURS * FOURS_VECTORS];
    memcpy(&of_a, a_scale + FOURS_ROWS, sizeof of_a);
    memcpy(&of_b, b_scale + FOURS_COLUMNS, sizeof of_b);
    UNROLL for (int i = 0; i < FOURS * FOURS_VECTORS; i++) y[i] = vf_load(b + i * LANES);
    switch (fours_way_of(of_a, of_b, bits)) {
      case FOURS_IN_F32:
        UNROLL for (int i = 0; i < FOURS_ALL; i++) sum[i] =
            vf_flush(vf_add(sum[i], fours_sum(a + i / FOURS_VECTORS, y + i % FOURS_VECTORS)));
        break;
      case FOURS_IN_F64:
        UNROLL for (int i = 0; i < FOURS_ALL; i++) sum[i] =
            vf_flush(vf_add(sum[i], fours_sum_in_f64(a + i / FOURS_VECTORS, y + i % FOURS_VECTORS)));
        break;
      case FOURS_OF_ANY:
        UNROLL for (int i = 0; i < FOURS_ALL; i++) {
          const int row = i / FOURS_VECTORS, v = i % FOURS_VECTORS;
          const vi x = vi_set(a_scale[row]), z = vi_load(b_scale + v * LANES);
          const vi of_numbers = vi_add(fours_scaled(of_a, x), fours_scaled(of_b, z));
          sum[i] = vf_flush(vf_add(sum[i], fours_sum_of_any(a + row, y + v, of_numbers, vi_add(x, z))));
        }
        break;
    }
  }
  UNROLL for (int i = 0; i < FOURS_ALL; i++) vf_store(d + i * LANES, vf_replace_nan(sum[i], nan));
}

static void fours_run(const smma_run *r) {
  const smma_operation *o = &r->multiplier->operation;
  const int bits = smma_encoding_of(o->a).fraction_bits + smma_encoding_of(o->b).fraction_bits + 3;
  const size_t step = FOURS_WORDS * FOURS_ROWS;
  const float *b = (const float *)r->b + r->first * FOURS_WORDS * FOURS_COLUMNS;
  const vf nan = fma_f32_nan(o->rule.nan, vf_set(0));
  for (size_t row = 0; row < r->rows; row += FOURS_ROWS)
    fours_block((const float *)r->a + (row / FOURS_ROWS * r->packed_steps + r->first) * step, b, r->last - r->first,
                bits, nan, (float *)r->accumulator + row * FOURS_COLUMNS);
}

#endif
