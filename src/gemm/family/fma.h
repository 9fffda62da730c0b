/* Chains of fused multiply-adds in FP32, FP64, FP16 and BF16: a matrix product in native IEEE arithmetic, with blocks
   of D in registers, one accumulator per element, and k in order.

   Operands in FP16 and BF16 are packed as FP32, which is exact. If D is FP16 or BF16, too, a multiply-add is rounded to
   odd in FP32 and then to D's format, which equals a single rounding: FP32 has at least 13 bits more, also below the
   least normal number.

   Other rounding directions are floating-point modes of the machine.

   Machines differ in which NaN an operation returns, but not in whether it returns one. Accumulators therefore get
   the rule's NaN when they leave the registers, and infinite or NaN operands need no other treatment. In FP32, if the
   rule's NaN is an operand's, a NaN accumulator is retained here, and ftz.h handles NaN of A and B. In FP64 with the
   policy SMMA_NAN_B_SUM_A, the NaN of each NaN accumulator is found from the packed operands. */
#ifndef SMMA_GEMM_FAMILY_FMA_H
#define SMMA_GEMM_FAMILY_FMA_H

#include <math.h>

#include "gemm/family/words.h"
#include "gemm/interleave.h"

/* Size of the block of D that registers hold: its rows, and its vectors of columns. Rows are packed in groups of
   FMA_ROWS. */
enum { FMA_ROWS = REGISTERS < 32 ? 4 : 8, FMA_VECTORS = 2 };
enum { FMA_F32_COLUMNS = FMA_VECTORS * LANES, FMA_F64_COLUMNS = FMA_F32_COLUMNS / 2 };

static inline size_t fma_f32_bytes(const smma_operation *o) { return (size_t)o->k * sizeof(float); }
static inline size_t fma_f64_bytes(const smma_operation *o) { return (size_t)o->k * sizeof(double); }

/* Returns the NaN that an accumulator gets if it becomes NaN and was `before`: the rule's, or that of `before`. */
static inline vf fma_f32_nan(smma_nan_policy policy, vf before) {
  const vf made = vi_as_float(vi_set((int32_t)smma_nan_of(smma_encoding_of(SMMA_F32), policy)));
  if (policy != SMMA_NAN_OPERAND) return made;
  return vf_select(vf_equal(before, before), made, vi_as_float(vi_or(vf_bits(before), vi_set(1 << 22))));
}

/* Rounds to BF16, to nearest even. A NaN must have 16 last bits of zero. */
static inline vf fma_round_to_bf16(vf x) {
  const vi odd = vi_and(vi_shift_right(vf_bits(x), 16), vi_set(1));
  return vi_as_float(vi_and(vi_add(vf_bits(x), vi_add(odd, vi_set(0x7fff))), vi_set((int32_t)0xffff0000)));
}

/* Returns x * y + z, rounded once to the format of D, which is F32, F16 or BF16. */
static inline __attribute__((always_inline)) vf fma_in(smma_format format, vf x, vf y, vf z) {
  if (format == SMMA_F32) return vf_fma(x, y, z);
  return format == SMMA_F16 ? vf_round_to_half(vf_fma_odd(x, y, z)) : fma_round_to_bf16(vf_fma_odd(x, y, z));
}

/* Adds `count` products to each accumulator of the block d, which has FMA_ROWS x FMA_F32_COLUMNS elements. For each
   product, `a` has FMA_ROWS factors and `b` FMA_F32_COLUMNS. Prefetches the next block. `format` is that of D. */
static inline __attribute__((always_inline)) void fma_block(smma_format format, const float *a, const float *b,
                                                            size_t count, smma_nan_policy policy, float *d) {
  vf sum[FMA_ROWS * FMA_VECTORS];
  UNROLL for (int i = 0; i < FMA_ROWS * FMA_VECTORS; i++) {
    sum[i] = vf_load(d + i * LANES);
    __builtin_prefetch(d + (i + FMA_ROWS * FMA_VECTORS) * LANES);
  }
  for (; count > 0; count--, a += FMA_ROWS, b += FMA_F32_COLUMNS) {
    vf y[FMA_VECTORS];
    UNROLL for (int v = 0; v < FMA_VECTORS; v++) y[v] = vf_load(b + v * LANES);
    UNROLL for (int i = 0; i < FMA_ROWS * FMA_VECTORS; i++) sum[i] =
        fma_in(format, vf_set(a[i / FMA_VECTORS]), y[i % FMA_VECTORS], sum[i]);
  }
  UNROLL for (int i = 0; i < FMA_ROWS * FMA_VECTORS; i++) {
    vf nan = fma_f32_nan(policy, vf_load(d + i * LANES));
    vf_store(d + i * LANES, vf_replace_nan(sum[i], nan));
  }
}

static void fma_f32_block(const float *a, const float *b, size_t count, smma_nan_policy policy, float *d) {
  fma_block(SMMA_F32, a, b, count, policy, d);
}

/* Returns the NaN x, made quiet. */
static inline double fma_f64_quieted(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits |= UINT64_C(1) << 51;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* A line of a chain's factors: x, whose NaN precede the sum's (the factors of B, or of A in a turned product), or y. */
typedef struct {
  const double *at;
  size_t step, count; /* distance between factors, and their number */
  size_t nan;         /* index of the last NaN of x, or of the first NaN of y; `count` if there is no NaN */
  double greatest;    /* the greatest magnitude of the factors that are not NaN; negative if not known yet */
} fma_f64_line;

/* Describes `lines` interleaved lines of factors, which are those that fma_f64_line calls x if `is_x`, and otherwise
   y. `lines` is a multiple of LANES / 2. */
static void fma_f64_describe(const double *x, size_t lines, size_t count, bool is_x, fma_f64_line *line) {
  double nan[LANES / 2];
  for (size_t i = 0; i < lines; i++) {
    if (i % (LANES / 2) == 0) {
      vd index = vd_set((double)count);
      for (size_t done = 0; done < count; done++) {
        const size_t k = is_x ? done : count - 1 - done;
        index = vd_where_nan(vd_load(x + k * lines + i), vd_set((double)k), index);
      }
      vd_store(nan, index);
    }
    line[i] = (fma_f64_line){x + i, lines, count, (size_t)nan[i % (LANES / 2)], -1};
  }
}

/* Returns the greatest magnitude of a line, which it computes in the first call. */
static double fma_f64_greatest(fma_f64_line *x) {
  double greatest = 0;
  if (x->greatest >= 0) return x->greatest;
  for (size_t k = 0; k < x->count; k++)
    greatest = fabs(x->at[k * x->step]) > greatest ? fabs(x->at[k * x->step]) : greatest; /* not for NaN */
  return x->greatest = greatest;
}

/* Returns the NaN of a chain that starts from `sum` and has a NaN result. Each multiply-add returns the first NaN among
   x, the sum and y, or `made` if none of them is NaN. So the last NaN of x decides. If x has no NaN, the first NaN of
   the sum remains: that is the first NaN of y, unless the sum becomes `made` before. The sum is computed again to find
   this out, except if it cannot overflow. */
static double fma_f64_nan_of_chain(fma_f64_line *x, fma_f64_line *y, double sum, double made) {
  if (x->nan < x->count) return fma_f64_quieted(x->at[x->nan * x->step]);
  if (isnan(sum)) return fma_f64_quieted(sum);
  if (y->nan == y->count) return made;
  if (!(fma_f64_greatest(x) * fma_f64_greatest(y) * (double)x->count + fabs(sum) < 0x1p1000))
    for (size_t k = 0; k < y->nan; k++) {
      sum = fma(x->at[k * x->step], y->at[k * y->step], sum);
      if (isnan(sum)) return made;
    }
  return fma_f64_quieted(y->at[y->nan * y->step]);
}

/* Copies the sums of a block to d, which holds the accumulators before the block. NaN sums get the NaN of
   SMMA_NAN_B_SUM_A. */
static void fma_f64_store_nan(const double *sum, fma_f64_line *rows, fma_f64_line *columns, bool turned, double *d) {
  const uint64_t bits = smma_nan_of(smma_encoding_of(SMMA_F64), SMMA_NAN_B_SUM_A);
  double made;
  memcpy(&made, &bits, sizeof made);
  for (size_t i = 0; i < FMA_ROWS * FMA_F64_COLUMNS; i++) {
    fma_f64_line *of_a = rows + i / FMA_F64_COLUMNS, *of_b = columns + i % FMA_F64_COLUMNS;
    if (!isnan(sum[i]))
      d[i] = sum[i];
    else
      d[i] = turned ? fma_f64_nan_of_chain(of_a, of_b, d[i], made) : fma_f64_nan_of_chain(of_b, of_a, d[i], made);
  }
}

/* Reports whether a lane of x is NaN. */
static bool fma_f64_any_nan(vd x) {
  double lane[LANES / 2];
  bool any = false;
  vd_store(lane, x);
  for (size_t i = 0; i < LANES / 2; i++) any |= isnan(lane[i]);
  return any;
}

/* The lines of a panel's columns, which are described (`known`) when they are first needed. */
typedef struct {
  bool known;
  fma_f64_line line[FMA_F64_COLUMNS];
} fma_f64_panel;

/* Does the same as fma_block in FP64; `nan` is the NaN of policies other than SMMA_NAN_B_SUM_A. */
static void fma_f64_block(const smma_multiplier *p, const double *a, const double *b, size_t count, vd nan,
                          fma_f64_panel *panel, double *d) {
  enum { DOUBLES = LANES / 2 };
  const double *const first_a = a, *const first_b = b;
  const size_t steps = count;
  vd sum[FMA_ROWS * FMA_VECTORS];
  UNROLL for (int i = 0; i < FMA_ROWS * FMA_VECTORS; i++) {
    sum[i] = vd_load(d + i * DOUBLES);
    __builtin_prefetch(d + (i + FMA_ROWS * FMA_VECTORS) * DOUBLES);
  }
  for (; count > 0; count--, a += FMA_ROWS, b += FMA_F64_COLUMNS) {
    vd y[FMA_VECTORS];
    UNROLL for (int v = 0; v < FMA_VECTORS; v++) y[v] = vd_load(b + v * DOUBLES);
    UNROLL for (int i = 0; i < FMA_ROWS * FMA_VECTORS; i++) sum[i] =
        vd_fma(vd_set(a[i / FMA_VECTORS]), y[i % FMA_VECTORS], sum[i]);
  }
  if (p->operation.rule.nan == SMMA_NAN_B_SUM_A) {
    vd zero[4] = {vd_set(0), vd_set(0), vd_set(0), vd_set(0)}; /* x - x is NaN if x is NaN or infinite */
    UNROLL for (int i = 0; i < FMA_ROWS * FMA_VECTORS; i++) zero[i % 4] =
        vd_add(zero[i % 4], vd_subtract(sum[i], sum[i]));
    if (!fma_f64_any_nan(vd_add(vd_add(zero[0], zero[1]), vd_add(zero[2], zero[3])))) {
      UNROLL for (int i = 0; i < FMA_ROWS * FMA_VECTORS; i++) vd_store(d + i * DOUBLES, sum[i]);
      return;
    }
    const bool turned = p->turned;
    double sums[FMA_ROWS * FMA_F64_COLUMNS];
    fma_f64_line rows[FMA_ROWS];
    UNROLL for (int i = 0; i < FMA_ROWS * FMA_VECTORS; i++) vd_store(sums + i * DOUBLES, sum[i]);
    if (!panel->known) fma_f64_describe(first_b, FMA_F64_COLUMNS, steps, !turned, panel->line);
    panel->known = true;
    fma_f64_describe(first_a, FMA_ROWS, steps, turned, rows);
    fma_f64_store_nan(sums, rows, panel->line, turned, d);
    return;
  }
  UNROLL for (int i = 0; i < FMA_ROWS * FMA_VECTORS; i++) vd_store(d + i * DOUBLES, vd_replace_nan(sum[i], nan));
}

static vd fma_f64_nan(const smma_multiplier *p) {
  uint64_t bits = smma_nan_of(smma_encoding_of(SMMA_F64), p->operation.rule.nan);
  double nan;
  memcpy(&nan, &bits, sizeof nan);
  return vd_set(nan);
}

static inline void fma_run(const smma_run *r, void (*block)(const float *a, const float *b, size_t count,
                                                            smma_nan_policy policy, float *d)) {
  size_t k = (size_t)r->multiplier->operation.k, packed = r->packed_steps * k, first = r->first * k;
  size_t count = (r->last - r->first) * k;
  for (size_t i = 0; i < r->rows; i += FMA_ROWS)
    block((const float *)r->a + i * packed + first * FMA_ROWS, (const float *)r->b + first * FMA_F32_COLUMNS, count,
          r->multiplier->operation.rule.nan, (float *)r->accumulator + i * FMA_F32_COLUMNS);
}

static inline void fma_f32_run(const smma_run *r) { fma_run(r, fma_f32_block); }

static inline void fma_f64_run(const smma_run *r) {
  size_t k = (size_t)r->multiplier->operation.k, packed = r->packed_steps * k, first = r->first * k;
  size_t count = (r->last - r->first) * k;
  vd nan = fma_f64_nan(r->multiplier);
  fma_f64_panel panel;
  panel.known = false;
  for (size_t i = 0; i < r->rows; i += FMA_ROWS)
    fma_f64_block(r->multiplier, (const double *)r->a + i * packed + first * FMA_ROWS,
                  (const double *)r->b + first * FMA_F64_COLUMNS, count, nan, &panel,
                  (double *)r->accumulator + i * FMA_F64_COLUMNS);
}

/* ---- Packing ---- */

static uint32_t fma_from_f16(uint32_t code) {
  const uint32_t sign = (code & 0x8000) << 16, fields = (code & 0x7fff) << 13, rebias = 112u << 23;
  const float subnormal = (float)(int32_t)(code & 0x3ff) * 0x1p-24f;
  uint32_t bits;
  memcpy(&bits, &subnormal, sizeof bits);
  if (fields >= 1u << 23) bits = fields + rebias + (fields >= 31u << 23 ? rebias : 0);
  return sign | bits;
}

static uint32_t fma_from_bf16(uint32_t code) { return code << 16; }

static inline __attribute__((always_inline)) void fma_f32_pack(const smma_pack *pack, size_t width) {
  if (pack->view->format == SMMA_F32)
    smma_interleave(pack, width, 4, 4, NULL, 0);
  else if (pack->view->format == SMMA_F16)
    smma_interleave(pack, width, 2, 4, fma_from_f16, 0);
  else
    smma_interleave(pack, width, 2, 4, fma_from_bf16, 0);
}

static inline void fma_f32_pack_rows(const smma_pack *pack) { fma_f32_pack(pack, FMA_ROWS); }
static inline void fma_f32_pack_columns(const smma_pack *pack) { fma_f32_pack(pack, FMA_F32_COLUMNS); }
static inline void fma_f64_pack_rows(const smma_pack *pack) { smma_interleave(pack, FMA_ROWS, 8, 8, NULL, 0); }
static inline void fma_f64_pack_columns(const smma_pack *pack) {
  smma_interleave(pack, FMA_F64_COLUMNS, 8, 8, NULL, 0);
}

static inline bool fma_is_f64(const smma_operation *o, smma_rounding direction) {
  return o->rule.algorithm == SMMA_FMA && o->rule.with.fma.rounding == direction && o->a == SMMA_F64 &&
         o->b == SMMA_F64 && o->d == SMMA_F64;
}

static inline bool fma_f32_reads(smma_format format) {
  return format == SMMA_F32 || format == SMMA_F16 || format == SMMA_BF16;
}

static inline bool fma_rounds_to_nearest(const smma_operation *o) {
  return o->rule.algorithm == SMMA_FMA && o->rule.with.fma.rounding == SMMA_ROUND_NEAREST_EVEN &&
         smma_has_one_nan(o->rule.nan);
}

static inline bool fma_f32_takes(const smma_operation *o) {
  return fma_rounds_to_nearest(o) && fma_f32_reads(o->a) && fma_f32_reads(o->b) && o->c == SMMA_F32 && o->d == SMMA_F32;
}

static inline bool fma_is_all(const smma_operation *o, smma_format format) {
  return fma_rounds_to_nearest(o) && o->a == format && o->b == format && o->c == format && o->d == format;
}

#endif
