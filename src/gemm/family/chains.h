/* Sums in two chains (core/chains.h) with native arithmetic. The products with even k and those with odd k form a chain
   each. Both chains start from zero in each step. After the step their sum is added to d. Infinities and NaN follow
   IEEE 754; accumulators get the rule's NaN when they leave the registers, as in fma.h.

   Sums of FP32 numbers are multiples of 2^-149. Below 2^-126 they are exact, so that all hardware flushes them
   in the same way. Fused multiply-adds of BF16 are those of FTZ-FMA (ftz.h): if hardware flushes differently, the core
   computes steps with a result of 2^-126. Fused multiply-adds of FP16 are multiples of 2^-48, never subnormal.

   In AMX-FP8 the chains add pairs of products. A pair is computed as a product and a fused multiply-add. */
#ifndef SMMA_GEMM_FAMILY_CHAINS_H
#define SMMA_GEMM_FAMILY_CHAINS_H

#include "core/chains.h"
#include "gemm/family/pairs.h"

/* Size of the block of D that is computed at a time. */
enum { CHAINS_ROWS = 4, CHAINS_VECTORS = 2, CHAINS_COLUMNS = CHAINS_VECTORS * LANES };
enum {
  CHAINS_ALL = CHAINS_ROWS * CHAINS_VECTORS, /* vectors of the block */
  CHAINS_PER_PASS = REGISTERS < 32 ? 1 : 2   /* chains computed at a time: both need more than 16 registers */
};

/* Computes CHAINS_PER_PASS chains, from chain `first` on, for CHAINS_ROWS x CHAINS_COLUMNS elements. A chain starts
   from zero and adds `count` products. */
static inline __attribute__((always_inline)) void chains_add(const float *a, const float *b, size_t count, int first,
                                                             vf (*sum)[CHAINS_ALL]) {
  UNROLL for (int c = 0; c < CHAINS_PER_PASS; c++) UNROLL for (int i = 0; i < CHAINS_ALL; i++) sum[first + c][i] =
      vf_set(0);
  a += first * CHAINS_ROWS, b += first * CHAINS_COLUMNS;
  for (; count > 0; count--, a += 2 * CHAINS_ROWS, b += 2 * CHAINS_COLUMNS) {
    vf y[CHAINS_PER_PASS * CHAINS_VECTORS];
    UNROLL for (int v = 0; v < CHAINS_PER_PASS * CHAINS_VECTORS; v++) y[v] = vf_load(b + v * LANES);
    UNROLL for (int i = 0; i < CHAINS_ALL; i++) UNROLL for (int c = 0; c < CHAINS_PER_PASS; c++) sum[first + c][i] =
        vf_fma(vf_set(a[c * CHAINS_ROWS + i / CHAINS_VECTORS]), y[c * CHAINS_VECTORS + i % CHAINS_VECTORS],
               sum[first + c][i]);
  }
}

/* Updates a block d by `steps` steps, each of `pairs` products with even k and as many with odd k. Prefetches the next
   block. */
static void chains_block(const float *a, const float *b, size_t steps, size_t pairs, vf nan, float *d) {
  UNROLL for (int i = 0; i < CHAINS_ALL; i++) __builtin_prefetch(d + (i + CHAINS_ALL) * LANES);
  for (; steps > 0; steps--, a += 2 * pairs * CHAINS_ROWS, b += 2 * pairs * CHAINS_COLUMNS) {
    vf sum[2][CHAINS_ALL];
    UNROLL for (int first = 0; first < 2; first += CHAINS_PER_PASS) chains_add(a, b, pairs, first, sum);
    UNROLL for (int i = 0; i < CHAINS_ALL; i++)
        vf_store(d + i * LANES, vf_add(vf_load(d + i * LANES), vf_add(sum[0][i], sum[1][i])));
  }
  UNROLL for (int i = 0; i < CHAINS_ALL; i++) vf_store(d + i * LANES, vf_replace_nan(vf_load(d + i * LANES), nan));
}

/* Computes one row, LANES columns from `column` on, on hardware that does not flush as the rule does. */
static void chains_row(const smma_run *r, const float *a, const float *b, size_t row, size_t column, vf nan) {
  const size_t pairs = (size_t)r->multiplier->operation.k / 2;
  float *d = (float *)r->accumulator + row * CHAINS_COLUMNS + column;
  vf sum = ftz_fma_flush(vf_load(d));
  for (size_t step = r->first; step < r->last; step++) {
    const vf before = sum;
    vf chain[2] = {vf_set(0), vf_set(0)};
    vm rare = vi_less(vi_set(0), vi_set(0)); /* no lane is set */
    for (size_t pair = 0; pair < pairs; pair++, a += 2 * CHAINS_ROWS, b += 2 * CHAINS_COLUMNS)
      UNROLL for (int i = 0; i < 2; i++) {
        chain[i] = vf_fma(vf_set(a[i * CHAINS_ROWS]), vf_load(b + i * CHAINS_COLUMNS), chain[i]);
        rare = vm_or(rare, ftz_fma_is_least(chain[i]));
        chain[i] = ftz_fma_flush(chain[i]);
      }
    sum = ftz_fma_flush(vf_add(before, ftz_fma_flush(vf_add(chain[0], chain[1]))));
    if (vm_bits(rare)) {
      float start[LANES], result[LANES];
      vf_store(start, before);
      vf_store(result, sum);
      smma_compute_lanes(r, row, column, step, vm_bits(rare), start, result);
      sum = vf_load(result);
    }
  }
  vf_store(d, vf_replace_nan(sum, nan));
}

static void chains_run(const smma_run *r) {
  const size_t k = (size_t)r->multiplier->operation.k, packed = r->packed_steps * k, first = r->first * k;
  const vf nan = fma_f32_nan(r->multiplier->operation.rule.nan, vf_set(0));
  const float *b = (const float *)r->b + first * CHAINS_COLUMNS;
  for (size_t row = 0; row < r->rows; row += CHAINS_ROWS) {
    const float *a = (const float *)r->a + row * packed + first * CHAINS_ROWS;
    if (FLUSHES_AFTER_ROUNDING) {
      chains_block(a, b, r->last - r->first, k / 2, nan, (float *)r->accumulator + row * CHAINS_COLUMNS);
      continue;
    }
    for (size_t i = 0; i < CHAINS_ROWS; i++)
      for (size_t column = 0; column < CHAINS_COLUMNS; column += LANES)
        chains_row(r, a + i, b + column, row + i, column, nan);
  }
}

/* ---- AMX-FP8 ---- */

/* Does the same as chains_add with `count` pairs of products for each chain. */
static inline __attribute__((always_inline)) void chains_add_pairs(const float *a, const float *b, size_t count,
                                                                   int first, vf (*sum)[CHAINS_ALL]) {
  enum { PRODUCTS = 2 * CHAINS_PER_PASS };
  UNROLL for (int c = 0; c < CHAINS_PER_PASS; c++) UNROLL for (int i = 0; i < CHAINS_ALL; i++) sum[first + c][i] =
      vf_set(0);
  a += 2 * first * CHAINS_ROWS, b += 2 * first * CHAINS_COLUMNS;
  for (; count > 0; count--, a += 4 * CHAINS_ROWS, b += 4 * CHAINS_COLUMNS) {
    vf y[PRODUCTS * CHAINS_VECTORS];
    UNROLL for (int v = 0; v < PRODUCTS * CHAINS_VECTORS; v++) y[v] = vf_load(b + v * LANES);
    UNROLL for (int i = 0; i < CHAINS_ALL; i++) UNROLL for (int c = 0; c < CHAINS_PER_PASS; c++) {
      const float *of_a = a + 2 * c * CHAINS_ROWS + i / CHAINS_VECTORS;
      const vf *of_b = y + 2 * c * CHAINS_VECTORS + i % CHAINS_VECTORS;
      const vf product = vf_multiply(vf_set(of_a[0]), of_b[0]);
      sum[first + c][i] =
          vf_add(sum[first + c][i], vf_multiply_add(vf_set(of_a[CHAINS_ROWS]), of_b[CHAINS_VECTORS], product));
    }
  }
}

/* Updates a block d by `steps` steps of k products. Products of FP8 are exact and multiples of 2^-32. So no sum is
   subnormal, and only the first d can be. */
static void chains_fp8_block(const float *a, const float *b, size_t steps, size_t k, vf nan, float *d) {
  for (; steps > 0; steps--, a += k * CHAINS_ROWS, b += k * CHAINS_COLUMNS) {
    vf sum[2][CHAINS_ALL];
    UNROLL for (int first = 0; first < 2; first += CHAINS_PER_PASS) chains_add_pairs(a, b, k / 4, first, sum);
    UNROLL for (int i = 0; i < CHAINS_ALL; i++)
        vf_store(d + i * LANES, vf_add(ftz_fma_flush(vf_load(d + i * LANES)), vf_add(sum[0][i], sum[1][i])));
  }
  UNROLL for (int i = 0; i < CHAINS_ALL; i++) vf_store(d + i * LANES, vf_replace_nan(vf_load(d + i * LANES), nan));
}

static void chains_fp8_run(const smma_run *r) {
  const size_t k = (size_t)r->multiplier->operation.k, packed = r->packed_steps * k, first = r->first * k;
  const vf nan = fma_f32_nan(r->multiplier->operation.rule.nan, vf_set(0));
  for (size_t row = 0; row < r->rows; row += CHAINS_ROWS)
    chains_fp8_block((const float *)r->a + row * packed + first * CHAINS_ROWS,
                     (const float *)r->b + first * CHAINS_COLUMNS, r->last - r->first, k, nan,
                     (float *)r->accumulator + row * CHAINS_COLUMNS);
}

/* Converts E5M2, whose encodings are the upper bytes of FP16 encodings. The second function flushes subnormals to zeros
   of the same sign. */
static uint32_t chains_from_e5m2(uint32_t code) { return fma_from_f16(code << 8); }
static uint32_t chains_from_e5m2_flushed(uint32_t code) {
  return fma_from_f16((code & 0x7c ? code : code & 0x80) << 8);
}

static uint32_t chains_from_e4m3(uint32_t code) {
  const uint32_t sign = (code & 0x80) << 24, fields = code & 0x7f;
  const float subnormal = (float)(int32_t)(code & 7) * 0x1p-9f;
  uint32_t bits;
  memcpy(&bits, &subnormal, sizeof bits);
  if (fields >= 8) bits = fields == 0x7f ? 0x7fc00000 : (fields << 20) + (120u << 23);
  return sign | bits;
}
static uint32_t chains_from_e4m3_flushed(uint32_t code) { return chains_from_e4m3(code & 0x78 ? code : code & 0x80); }

static void chains_fp8_pack(const smma_pack *pack, size_t width) {
  const smma_composition *p = &pack->multiplier->operation.rule.with.composition;
  const bool kept = (pack->of_a ? p->subnormal_a : p->subnormal_b) == SMMA_SUBNORMALS_KEPT;
  if (pack->view->format == SMMA_E5M2)
    smma_interleave(pack, width, 1, 4, kept ? chains_from_e5m2 : chains_from_e5m2_flushed, 0);
  else
    smma_interleave(pack, width, 1, 4, kept ? chains_from_e4m3 : chains_from_e4m3_flushed, 0);
}

static void chains_fp8_pack_rows(const smma_pack *pack) { chains_fp8_pack(pack, CHAINS_ROWS); }
static void chains_fp8_pack_columns(const smma_pack *pack) { chains_fp8_pack(pack, CHAINS_COLUMNS); }

static bool chains_is_fp8(smma_format format) { return format == SMMA_E5M2 || format == SMMA_E4M3; }

/* Reports whether subnormal factors are kept, or become zeros of the same sign. */
static bool chains_keep_sign(smma_subnormal_policy p) { return p != SMMA_SUBNORMALS_TO_POSITIVE_ZERO; }

/* Reports whether the operation adds pairs of products, rounds each pair, and adds the pairs in two chains. */
static bool chains_fp8_takes(const smma_operation *o) {
  const smma_composition *p = &o->rule.with.composition;
  smma_composition rest;
  smma_subnormal_policy of_factors;
  if (o->rule.algorithm != SMMA_COMPOSITION || p->steps != 4 || !smma_has_one_nan(o->rule.nan) || o->scale_block != 0 ||
      o->k % 4 != 0 || !chains_is_fp8(o->a) || !chains_is_fp8(o->b) || o->c != SMMA_F32 || o->d != SMMA_F32 ||
      !chains_keep_sign(p->subnormal_a) || !chains_keep_sign(p->subnormal_b))
    return false;
  rest = *p;
  rest.steps = 3;
  rest.subnormal_a = rest.subnormal_b = SMMA_SUBNORMALS_KEPT;
  for (int i = 0; i < 3; i++) rest.step[i] = p->step[i + 1];
  return smma_is_flushed_f32(&p->step[0]) && smma_is_exact_step(&p->step[0], 2, SMMA_JOIN_APART) &&
         smma_is_sum_of_chains(&rest, &of_factors);
}

/* ---- AMX-BF16, AMX-FP16 ---- */

static void chains_pack(const smma_pack *pack, size_t width) {
  const bool is_f16 = pack->multiplier->operation.a == SMMA_F16;
  smma_interleave(pack, width, 2, 4, is_f16 ? fma_from_f16 : ftz_from_bf16_signed, 0);
}

static void chains_pack_rows(const smma_pack *pack) { chains_pack(pack, CHAINS_ROWS); }
static void chains_pack_columns(const smma_pack *pack) { chains_pack(pack, CHAINS_COLUMNS); }

static bool chains_takes(const smma_operation *o) {
  const bool is_f16 = o->a == SMMA_F16;
  smma_subnormal_policy of_factors;
  return o->rule.algorithm == SMMA_COMPOSITION && smma_has_one_nan(o->rule.nan) && o->scale_block == 0 &&
         o->k % 2 == 0 && (is_f16 || o->a == SMMA_BF16) && o->b == o->a && o->c == SMMA_F32 && o->d == SMMA_F32 &&
         smma_is_sum_of_chains(&o->rule.with.composition, &of_factors) &&
         of_factors == (is_f16 ? SMMA_SUBNORMALS_KEPT : SMMA_SUBNORMALS_TO_SIGNED_ZERO);
}

#endif
