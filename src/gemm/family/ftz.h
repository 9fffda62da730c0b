/* FTZ-AddMul and FTZ-FMA: FP32 operations that flush subnormals, with native arithmetic. Infinities, NaN and overflow
   follow IEEE 754; accumulators get the rule's NaN when they leave the registers, as in fma.h (read it first).

   FTZ-AddMul flushes a result that is subnormal after rounding to FP32 with subnormals. Hardware may decide this before
   rounding, or after rounding to 24 bits with an unbounded exponent; here the results are the same. Sums of FP32
   numbers are multiples of 2^-149 and exact below 2^-126. Products have at most 22 significant bits, those of BF16 16.
   Below 2^-126 they are at most 2^-126 - 2^-142, which no rounding takes to 2^-126, and none lies between 0 and 2^-252.
   So hardware that flushes computes the rule.

   Packing turns operands that count as zero into +0. Products of FP16 are then exact, at least 2^-28 if not zero,
   and multiples of 2^-48; so are their sums. A sum with d, which is zero or normal, is never subnormal: it is 0, d,
   or a multiple of 2^-72. */
#ifndef SMMA_GEMM_FAMILY_FTZ_H
#define SMMA_GEMM_FAMILY_FTZ_H

#include "gemm/family/fma.h"

/* Size of the block of D that is computed at a time. Registers hold its accumulators, four vectors of B for each vector
   of columns, and four products. */
enum { FTZ_ROWS = 4, FTZ_VECTORS = REGISTERS < 32 ? 1 : 2, FTZ_COLUMNS = FTZ_VECTORS * LANES };

/* Returns the sum of a group of `pairwise` products (2 or 4). `exact`: products and their sums are exact. */
static inline __attribute__((always_inline)) vf ftz_addmul_sum(const float *a, const vf *b, int pairwise, bool exact) {
  vf s[2];
  for (int i = 0; i < pairwise / 2; i++) {
    vf p = vf_multiply(vf_set(a[2 * i * FTZ_ROWS]), b[2 * i]), x = vf_set(a[(2 * i + 1) * FTZ_ROWS]);
    if (exact)
      s[i] = vf_multiply_add(x, b[2 * i + 1], p);
    else
      s[i] = vf_flush(vf_add(vf_flush(p), vf_flush(vf_multiply(x, b[2 * i + 1]))));
  }
  if (pairwise == 2) return s[0];
  s[0] = vf_add(s[0], s[1]);
  return exact ? s[0] : vf_flush(s[0]);
}

/* Returns d as a step reads it: subnormals and -0 become +0. */
static inline vf ftz_addmul_start(vf d) { return vf_add(vf_flush(d), vf_set(0)); }

/* Updates the block d, of FTZ_ROWS x FTZ_COLUMNS elements, by `steps` steps of k products. Prefetches the next block.
   `exact` is true for FP16. Then only the first step must replace a d of -0 or a subnormal d, because no later d is one
   (d + s is -0 only if d = s = -0). */
static inline __attribute__((always_inline)) void ftz_addmul_block(const float *a, const float *b, size_t steps, int k,
                                                                   int pairwise, bool exact, vf nan, float *d) {
  enum { ALL = FTZ_ROWS * FTZ_VECTORS };
  vf sum[ALL];
  UNROLL for (int i = 0; i < ALL; i++) {
    sum[i] = ftz_addmul_start(vf_load(d + i * LANES));
    __builtin_prefetch(d + (i + ALL) * LANES);
  }
  for (size_t step = 0; step < steps; step++) {
    UNROLL for (int i = 0; i < ALL; i++) if (!exact) sum[i] = ftz_addmul_start(sum[i]);
    for (int group = 0; group < k; group += pairwise, a += pairwise * FTZ_ROWS, b += pairwise * FTZ_COLUMNS)
      UNROLL for (int v = 0; v < FTZ_VECTORS; v++) {
        vf y[4];
        UNROLL for (int j = 0; j < pairwise; j++) y[j] = vf_load(b + (j * FTZ_VECTORS + v) * LANES);
        UNROLL for (int i = v; i < ALL; i += FTZ_VECTORS) {
          sum[i] = vf_add(sum[i], ftz_addmul_sum(a + i / FTZ_VECTORS, y, pairwise, exact));
          if (!exact) sum[i] = vf_flush(sum[i]);
        }
      }
  }
  UNROLL for (int i = 0; i < ALL; i++) vf_store(d + i * LANES, vf_replace_nan(sum[i], nan));
}

static inline __attribute__((always_inline)) void ftz_addmul_panel(const smma_run *r, int pairwise, bool exact) {
  const size_t k = (size_t)r->multiplier->operation.k, packed = r->packed_steps * k, first = r->first * k;
  const vf nan = fma_f32_nan(r->multiplier->operation.rule.nan, vf_set(0));
  for (size_t i = 0; i < r->rows; i += FTZ_ROWS)
    ftz_addmul_block((const float *)r->a + i * packed + first * FTZ_ROWS, (const float *)r->b + first * FTZ_COLUMNS,
                     r->last - r->first, (int)k, pairwise, exact, nan, (float *)r->accumulator + i * FTZ_COLUMNS);
}

static inline void ftz_addmul_run(const smma_run *r) {
  const smma_operation *o = &r->multiplier->operation;
  if (o->a == SMMA_F16)
    ftz_addmul_panel(r, 4, true);
  else if (o->rule.with.ftz_addmul.pairwise == 4)
    ftz_addmul_panel(r, 4, false);
  else
    ftz_addmul_panel(r, 2, false);
}

static inline bool ftz_addmul_takes(const smma_operation *o) {
  const int pairwise = o->rule.with.ftz_addmul.pairwise;
  if (o->rule.algorithm != SMMA_FTZ_ADDMUL || o->a != o->b || o->d != SMMA_F32 || o->k % pairwise) return false;
  return o->a == SMMA_F16 ? pairwise == 4 : o->a == SMMA_BF16;
}

/* Converts FP16 to binary32; subnormals and -0 become +0. ftz_from_bf16 does the same for BF16. */
static uint32_t ftz_from_f16(uint32_t code) {
  uint32_t sign = (code & 0x8000) << 16, fields = (code & 0x7fff) << 13, rebias = 112u << 23;
  uint32_t special = fields >= 31u << 23 ? rebias : 0;
  return fields < 1u << 23 ? 0 : sign | (fields + rebias + special);
}
static uint32_t ftz_from_bf16(uint32_t code) { return code & 0x7f80 ? code << 16 : 0; }

/* Converts BF16 to binary32; subnormals become zeros of the same sign. */
static uint32_t ftz_from_bf16_signed(uint32_t code) { return (code & 0x7f80 ? code : code & 0x8000) << 16; }

static inline void ftz_addmul_pack_rows(const smma_pack *pack) {
  if (pack->multiplier->operation.a == SMMA_F16)
    smma_interleave(pack, FTZ_ROWS, 2, 4, ftz_from_f16, 0);
  else
    smma_interleave(pack, FTZ_ROWS, 2, 4, ftz_from_bf16, 0);
}

static inline void ftz_addmul_pack_columns(const smma_pack *pack) {
  if (pack->multiplier->operation.a == SMMA_F16)
    smma_interleave(pack, FTZ_COLUMNS, 2, 4, ftz_from_f16, 0);
  else
    smma_interleave(pack, FTZ_COLUMNS, 2, 4, ftz_from_bf16, 0);
}

/* Flushes a result of FTZ-FMA. The rule judges underflow after rounding to 24 bits with an unbounded exponent.
   - If hardware does so, too, the rule is the chain of fma.h in the flushing mode, with the elements of a pair swapped.
   - Other hardware runs in a mode that does not flush, and this function flushes. Results below 2^-126 are then
     rounded to multiples of 2^-149. This makes a difference only for results that it rounds up to 2^-126, so the core
     computes steps with a result of 2^-126. */
static inline vf ftz_fma_flush(vf x) {
  vi bits = vf_bits(x), magnitude = vi_and(bits, vi_set(INT32_MAX));
  return vi_as_float(vi_select(vi_less(magnitude, vi_set(1 << 23)), vi_xor(bits, magnitude), bits));
}

/* Returns the lanes in which x is 2^-126 or -2^-126. */
static inline vm ftz_fma_is_least(vf x) { return vi_equal(vi_and(vf_bits(x), vi_set(INT32_MAX)), vi_set(1 << 23)); }

/* Computes one row, LANES columns from `column` on, on hardware that does not flush as the rule does. */
static void ftz_fma_row(const smma_run *r, const float *a, const float *b, size_t row, size_t column) {
  float *d = (float *)r->accumulator + row * FMA_F32_COLUMNS + column;
  vf sum = ftz_fma_flush(vf_load(d));
  for (size_t step = r->first; step < r->last; step++) {
    const float *x = a + step * 2 * FMA_ROWS, *y = b + step * 2 * FMA_F32_COLUMNS;
    vf odd = vf_fma(vf_set(x[0]), vf_load(y), sum);
    vf even = vf_fma(vf_set(x[FMA_ROWS]), vf_load(y + FMA_F32_COLUMNS), ftz_fma_flush(odd));
    vm rare = vm_or(ftz_fma_is_least(odd), ftz_fma_is_least(even));
    if (vm_bits(rare)) {
      float start[LANES], result[LANES];
      vf_store(start, sum);
      vf_store(result, even);
      smma_compute_lanes(r, row, column, step, vm_bits(rare), start, result);
      even = vf_load(result);
    }
    sum = ftz_fma_flush(even);
  }
  vf_store(d, vf_replace_nan(sum, fma_f32_nan(SMMA_NAN_OPERAND, vf_load(d))));
}

/* The last NaN of each of several interleaved vectors (rows of A or columns of B). */
typedef struct {
  int32_t at[FMA_F32_COLUMNS];  /* index of the last NaN; -1 if there is none */
  int32_t nan[FMA_F32_COLUMNS]; /* its encoding, made quiet */
} ftz_fma_last;

/* Finds the last NaN among the elements first..last - 1 of each of `width` vectors. Reads one or two SIMD vectors at a
   time. */
static inline __attribute__((always_inline)) void ftz_fma_find(const float *x, size_t width, size_t first, size_t last,
                                                               ftz_fma_last *found) {
  const size_t part = width < LANES ? LANES : width, elements = part / width;
  vi at[2] = {vi_set(-1), vi_set(-1)}, nan[2] = {vi_set(0), vi_set(0)};
  int32_t lane_at[2 * LANES], lane_nan[2 * LANES];
  for (size_t i = first / elements; i < last / elements; i++) UNROLL for (size_t v = 0; v < part / LANES; v++) {
      const vi bits = vf_bits(vf_load(x + i * part + v * LANES));
      const vm is_nan = vi_less(vi_set(0x7f800000), vi_and(bits, vi_set(INT32_MAX)));
      at[v] = vi_select(is_nan, vi_set((int32_t)i), at[v]);
      nan[v] = vi_select(is_nan, bits, nan[v]);
    }
  UNROLL for (size_t v = 0; v < 2; v++) {
    vi_store(lane_at + v * LANES, at[v]);
    vi_store(lane_nan + v * LANES, nan[v]);
  }
  for (size_t v = 0; v < width; v++) found->at[v] = -1, found->nan[v] = 0;
  for (size_t lane = 0; lane < part; lane++) {
    const int32_t element = lane_at[lane] < 0 ? -1 : (int32_t)((size_t)lane_at[lane] * elements + lane / width);
    if (element <= found->at[lane % width]) continue;
    found->at[lane % width] = element;
    found->nan[lane % width] = lane_nan[lane] | 1 << 22;
  }
}

/* Sets the NaN of the accumulators d. If a product has a NaN factor, the accumulator becomes the NaN of the last such
   product: that of A, if both factors are NaN. Other accumulators are unchanged. */
static void ftz_fma_choose_nan(const ftz_fma_last *a, const ftz_fma_last *b, float *d) {
  for (size_t row = 0; row < FMA_ROWS; row++, d += FMA_F32_COLUMNS)
    for (size_t column = 0; column < FMA_F32_COLUMNS; column += LANES) {
      const vi of_a = vi_set(a->at[row]), of_b = vi_load(b->at + column);
      const vi b_nan = vi_select(vi_less(of_b, vi_set(0)), vf_bits(vf_load(d + column)), vi_load(b->nan + column));
      const vi nan = a->at[row] < 0 ? b_nan : vi_select(vi_less(of_a, of_b), b_nan, vi_set(a->nan[row]));
      vf_store(d + column, vi_as_float(nan));
    }
}

/* Computes FMA_ROWS rows from `row` on. NaN from A and B may still be wrong. */
static void ftz_fma_rows(const smma_run *r, const float *a, size_t row) {
  const float *b = (const float *)r->b;
  float *d = (float *)r->accumulator + row * FMA_F32_COLUMNS;
  if (FLUSHES_AFTER_ROUNDING)
    fma_f32_block(a + r->first * 2 * FMA_ROWS, b + r->first * 2 * FMA_F32_COLUMNS, (r->last - r->first) * 2,
                  SMMA_NAN_OPERAND, d);
  else
    for (size_t i = 0; i < FMA_ROWS; i++)
      for (size_t column = 0; column < FMA_F32_COLUMNS; column += LANES)
        ftz_fma_row(r, a + i, b + column, row + i, column);
}

/* Reports whether any accumulator is NaN. */
static bool ftz_fma_any_nan(const float *d) {
  vi any = vi_set(0);
  for (size_t i = 0; i < FMA_ROWS * FMA_F32_COLUMNS; i += LANES)
    any = vi_or(any, vi_subtract(vi_set(0x7f800000), vi_and(vf_bits(vf_load(d + i)), vi_set(INT32_MAX))));
  return vi_any_negative(any);
}

static inline void ftz_fma_run(const smma_run *r) {
  const size_t packed = r->packed_steps * 2;
  ftz_fma_last of_b;
  bool found = false;
  for (size_t row = 0; row < r->rows; row += FMA_ROWS) {
    const float *a = (const float *)r->a + row * packed;
    float *d = (float *)r->accumulator + row * FMA_F32_COLUMNS;
    ftz_fma_last of_a;
    ftz_fma_rows(r, a, row);
    if (!ftz_fma_any_nan(d)) continue;
    if (!found) ftz_fma_find((const float *)r->b, FMA_F32_COLUMNS, 2 * r->first, 2 * r->last, &of_b);
    found = true;
    ftz_fma_find(a, FMA_ROWS, 2 * r->first, 2 * r->last, &of_a);
    ftz_fma_choose_nan(&of_a, &of_b, d);
  }
}

static inline bool ftz_fma_takes(const smma_operation *o) {
  return o->rule.algorithm == SMMA_FTZ_FMA && o->a == SMMA_BF16 && o->b == SMMA_BF16 && o->d == SMMA_F32 && o->k == 2;
}

static inline void ftz_fma_pack_rows(const smma_pack *pack) {
  smma_interleave(pack, FMA_ROWS, 2, 4, ftz_from_bf16_signed, 1);
}

static inline void ftz_fma_pack_columns(const smma_pack *pack) {
  smma_interleave(pack, FMA_F32_COLUMNS, 2, 4, ftz_from_bf16_signed, 1);
}

#endif
